// Where the player is, and has been: positions, with undo and redo.

import { play, turnOf } from './rules.mjs';

/** The API replays no more. */
export const MOST_MOVES = 1000;
/** After so many the present board becomes a new start, early enough to leave room for a solution. */
const FRESH_START = MOST_MOVES - 20;

/**
 * A position is a board to start from and the moves made on it. Whenever the present one changes,
 * the event `change` tells the one before.
 */
export class Game extends EventTarget {
  #positions;
  #present;

  /** Each of the moves is a step that can be undone. */
  constructor(start, moves = '') {
    super();
    this.#positions = [{ start, moves: '' }];
    for (let count = 1; count <= moves.length; count += 1) {
      this.#positions.push({ start, moves: moves.slice(0, count) });
    }
    this.#present = moves.length;
  }

  get position() {
    return this.#positions[this.#present];
  }

  get board() {
    return play(this.position.start, this.position.moves);
  }

  get canUndo() {
    return this.#present > 0;
  }

  get canRedo() {
    return this.#present + 1 < this.#positions.length;
  }

  undo() {
    if (this.canUndo) this.#move(this.#present - 1);
  }

  redo() {
    if (this.canRedo) this.#move(this.#present + 1);
  }

  /** Turns lines, letter by letter. */
  turn(letters) {
    const before = this.position;
    for (const letter of letters) {
      const { start, moves } = this.position;
      this.#visit(
        moves.length < FRESH_START
          ? { start, moves: moves + letter }
          : { start: this.board, moves: letter },
      );
    }
    this.#changed(before);
  }

  /** Goes to another position; to one that is a step away by that step. */
  go(start, moves = '') {
    const before = this.position;
    if (isSame(before, { start, moves })) return;
    this.#visit({ start, moves });
    this.#changed(before);
  }

  #visit(position) {
    const beside = [this.#present - 1, this.#present + 1];
    const known = beside.find((index) => isSame(this.#positions[index], position));
    if (known !== undefined) {
      this.#present = known;
      return;
    }
    this.#present += 1;
    this.#positions.splice(this.#present, Infinity, position);
  }

  #move(index) {
    const before = this.position;
    this.#present = index;
    this.#changed(before);
  }

  #changed(before) {
    this.dispatchEvent(new CustomEvent('change', { detail: { before } }));
  }
}

function isSame(a, b) {
  return a?.start === b.start && a.moves === b.moves;
}

/**
 * By which turn of one line a position becomes another, `{ line, steps }`, or null where it takes
 * more than that.
 */
export function turnBetween(before, after) {
  if (before.start !== after.start) return null;
  const isForward = after.moves.startsWith(before.moves);
  if (!isForward && !before.moves.startsWith(after.moves)) return null;
  const [shorter, longer] = isForward ? [before, after] : [after, before];
  const turns = [...longer.moves.slice(shorter.moves.length)].map(turnOf);
  if (turns.length === 0 || turns.some(({ line }) => line !== turns[0].line)) return null;
  const steps = turns.reduce((sum, turn) => sum + turn.steps, 0);
  return { line: turns[0].line, steps: isForward ? steps : -steps };
}
