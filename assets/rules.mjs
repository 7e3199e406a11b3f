// The game: its lines, its turns, and what makes a board legal. A board is a string of 24 digits.

export const CELLS = 24;
export const LETTERS = [...'ABCDEFGH'];
export const VALUES = ['1', '2', '3'];

/** The ring of eight cells that has to hold one value. */
export const CENTRE = [6, 7, 8, 11, 12, 15, 16, 17];

/**
 * The four lines: their cells in order, and the letters that turn them towards the first and the
 * last of them.
 */
export const LINES = [
  { name: 'left column', axis: 'column', cells: [0, 2, 6, 11, 15, 20, 22], first: 'A', last: 'F' },
  { name: 'right column', axis: 'column', cells: [1, 3, 8, 12, 17, 21, 23], first: 'B', last: 'E' },
  { name: 'upper row', axis: 'row', cells: [4, 5, 6, 7, 8, 9, 10], first: 'H', last: 'C' },
  { name: 'lower row', axis: 'row', cells: [13, 14, 15, 16, 17, 18, 19], first: 'G', last: 'D' },
];

/** The line that a letter turns, and by how many cells: 1 towards its last cell, -1 towards its first. */
export function turnOf(letter) {
  const line = LINES.find(({ first, last }) => letter === first || letter === last);
  return { line, steps: letter === line.last ? 1 : -1 };
}

/** The board after a line has moved by so many cells; what falls off comes back at the other end. */
export function shift(board, line, steps) {
  const cells = [...board];
  const length = line.cells.length;
  line.cells.forEach((cell, index) => {
    const target = (((index + steps) % length) + length) % length;
    cells[line.cells[target]] = board[cell];
  });
  return cells.join('');
}

/** The board after these letters. */
export function play(board, letters) {
  return [...letters].reduce((before, letter) => {
    const { line, steps } = turnOf(letter);
    return shift(before, line, steps);
  }, board);
}

/** The value that fills the centre, or null where there are several. */
export function centreOf(board) {
  const value = board[CENTRE[0]];
  return CENTRE.every((cell) => board[cell] === value) ? value : null;
}

/** On how many cells each value stands. */
export function counts(cells) {
  return VALUES.map((value) => [...cells].filter((cell) => cell === value).length);
}

/**
 * Every reason why these cells, as strings, are not a legal board; in the words of the API, and like
 * it without counts that missing or bad cells explain.
 */
export function faults(cells) {
  const reasons = [];
  if (cells.length !== CELLS) {
    reasons.push(`a board has ${CELLS} cells, here are ${cells.length}`);
  }
  const first = [...cells].slice(0, CELLS);
  first.forEach((cell, index) => {
    if (!VALUES.includes(cell)) {
      const found = /^-?\d+$/.test(cell) ? cell : `'${cell}'`;
      reasons.push(`cell ${index} is ${found}, not 1, 2 or 3`);
    }
  });
  const isComplete = reasons.length === 0;
  counts(first).forEach((found, index) => {
    if ((found > 8 && cells.length <= CELLS) || (isComplete && found < 8)) {
      reasons.push(`value ${VALUES[index]} stands on ${found} cells, not on 8`);
    }
  });
  return reasons;
}

/**
 * Reads the boards of a text, each a list of cells. A text of 24 digits is one board, however it is
 * spaced. Else words of many digits are boards, and single numbers follow each other as in the
 * judge's format, which a board that starts with 0 ends.
 */
export function readBoards(text) {
  const digits = text.replace(/[\s,]/g, '');
  if (digits.length === CELLS) return [[...digits]];
  const boards = [];
  let cells = [];
  for (const word of text.split(/[\s,[\]"']+/).filter(Boolean)) {
    if (word.length > 3) {
      boards.push([...word]);
    } else if (word === '0' && cells.length === 0) {
      return boards;
    } else if (cells.push(word) === CELLS) {
      boards.push(cells);
      cells = [];
    }
  }
  return cells.length > 0 ? [...boards, cells] : boards;
}
