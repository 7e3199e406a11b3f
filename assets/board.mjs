// The board as it is seen: a drawing of 24 tiles, and a handle for each letter.

import { html, svg } from './dom.mjs';
import { CELLS, centreOf, LETTERS, LINES, shift, turnOf } from './rules.mjs';

/** The drawing is 9 by 9 units: 7 for the lines, and one all around for the handles. */
const UNIT = 100;
const SIZE = 9 * UNIT;
const TURN_MS = 220;
/** Where the rows begin and end among the cells. */
const ROWS = [0, 2, 4, 11, 13, 20, 22].map((from, index, all) => [from, all[index + 1]]);

const REDUCED_MOTION = matchMedia('(prefers-reduced-motion: reduce)');

/** The middle of the place of a line; the handles stand at -1 and 7. */
function placeOn(line, index) {
  const along = (index + 1.5) * UNIT;
  const across = (LINES.indexOf(line) % 2 === 0 ? 3.5 : 5.5) * UNIT;
  return line.axis === 'row' ? [along, across] : [across, along];
}

/** The line that crosses a cell in this direction, if one does. */
export function lineThrough(cell, axis) {
  return LINES.find((line) => line.axis === axis && line.cells.includes(cell));
}

function drawRail(line) {
  const [x, y] = placeOn(line, 0);
  const [right, bottom] = placeOn(line, 6);
  const half = UNIT / 2;
  return svg('rect', {
    class: 'rail',
    'data-letters': line.first + line.last,
    x: x - half,
    y: y - half,
    width: right - x + UNIT,
    height: bottom - y + UNIT,
    rx: 26,
  });
}

/** The three kinds of tiles: they differ by digit and outline as well as by colour. */
function drawKinds() {
  const shapes = {
    1: svg('rect', { x: -38, y: -38, width: 76, height: 76, rx: 10 }),
    2: svg('circle', { r: 39 }),
    3: svg('path', { d: 'M-19-38h38l19 19v38l-19 19h-38l-19-19v-38z' }),
  };
  const kinds = Object.entries(shapes).map(([value, shape]) =>
    svg('g', { id: `kind-${value}`, class: `kind kind-${value}` }, shape, svg('text', {}, value)),
  );
  return svg('defs', {}, ...kinds);
}

function drawTile() {
  return svg('g', { class: 'tile' }, svg('use'));
}

/** A board on a stage, an element that it fills. */
export class BoardView {
  #drawing;
  #tiles;
  /** What comes in at one end of a moving line while it goes out at the other. */
  #guest = drawTile();
  #count = svg('text', { class: 'count', x: 450, y: 438 });
  #unit = svg('text', { class: 'unit', x: 450, y: 478 });
  #board;
  #frame = 0;
  #held = null;

  /** `onTurn` is called with the letter of a handle that is pressed. */
  constructor(stage, onTurn) {
    this.#tiles = Array.from({ length: CELLS }, (_, cell) => {
      const tile = drawTile();
      tile.dataset.cell = cell;
      return tile;
    });
    this.#drawing = svg(
      'svg',
      { viewBox: `0 0 ${SIZE} ${SIZE}`, role: 'img', class: 'board' },
      drawKinds(),
      ...LINES.map(drawRail),
      svg('rect', { class: 'ring', x: 300, y: 300, width: 300, height: 300, rx: 26 }),
      this.#count,
      this.#unit,
      ...this.#tiles,
      this.#guest,
    );
    this.handles = LETTERS.map((letter) => this.#makeHandle(letter, onTurn));
    stage.append(this.#drawing, ...this.handles);
  }

  get drawing() {
    return this.#drawing;
  }

  get tiles() {
    return this.#tiles;
  }

  /** How wide a cell is on the screen. */
  get pixelsPerCell() {
    return (this.#drawing.getBoundingClientRect().width / SIZE) * UNIT;
  }

  #makeHandle(letter, onTurn) {
    const { line, steps } = turnOf(letter);
    const [x, y] = placeOn(line, steps > 0 ? 7 : -1);
    const attributes = { type: 'button', class: 'handle', 'data-letter': letter };
    const handle = html('button', attributes, letter);
    handle.style.left = `${(x / SIZE) * 100}%`;
    handle.style.top = `${(y / SIZE) * 100}%`;
    handle.addEventListener('click', () => onTurn(letter));
    return handle;
  }

  /** Shows a board at rest. */
  show(board) {
    this.#stop();
    this.#board = board;
    this.#held = null;
    this.#draw();
    this.#describe();
  }

  /** Shows a board that a line has just been turned into, and lets it be seen. */
  turn(board, { line, steps }) {
    // A line that is held has been moved already, if not quite by whole cells.
    const from = this.#held?.line === line ? this.#held.offset - steps : -steps;
    this.show(board);
    this.#settle(line, from);
  }

  /** Shows a line moved by some part of a cell or by several. */
  hold(line, offset) {
    this.#stop();
    this.#held = { line, offset };
    this.#draw(line, offset);
  }

  /** Lets a line that is held fall back. */
  release() {
    if (this.#held === null) return;
    const { line, offset } = this.#held;
    this.#held = null;
    this.#settle(line, offset);
  }

  /** How many moves are left, in the middle of the ring. */
  setCount(count) {
    this.#count.textContent = count ?? '';
    this.#unit.textContent = count === null ? '' : 'to go';
  }

  /** Marks each handle with what its letter does to the distance; `null` takes the marks away. */
  setEffects(effects) {
    for (const handle of this.handles) {
      const { letter } = handle.dataset;
      const { line, steps } = turnOf(letter);
      const directions = line.axis === 'row' ? ['left', 'right'] : ['up', 'down'];
      const effect = effects?.[letter];
      const label = `${letter}: ${line.name} ${directions[steps > 0 ? 1 : 0]}`;
      handle.setAttribute('aria-label', effect ? `${label}, ${effect}` : label);
      if (effect) handle.dataset.effect = effect;
      else delete handle.dataset.effect;
    }
  }

  /** Eases a line from an offset to rest. */
  #settle(line, from) {
    if (REDUCED_MOTION.matches || from === 0) {
      this.#draw();
      return;
    }
    const started = performance.now();
    const draw = (now) => {
      const progress = Math.min(1, Math.max(0, now - started) / TURN_MS);
      this.#draw(line, from * (1 - progress) ** 3);
      if (progress < 1) this.#frame = requestAnimationFrame(draw);
      else this.#stop();
    };
    this.#drawing.classList.add('turning');
    draw(started);
  }

  #stop() {
    cancelAnimationFrame(this.#frame);
    this.#drawing.classList.remove('turning');
  }

  /** Draws the board, one of its lines moved. */
  #draw(moved = null, offset = 0) {
    const steps = Math.round(offset);
    const rest = offset - steps;
    const board = moved ? shift(this.#board, moved, steps) : this.#board;
    for (const line of LINES) {
      if (line === moved) continue;
      line.cells.forEach((cell, index) => {
        // A crossing belongs to the moved line.
        if (moved?.cells.includes(cell)) return;
        put(this.#tiles[cell], board[cell], placeOn(line, index), 1);
      });
    }
    put(this.#guest, '1', [0, 0], 0);
    if (moved === null) return;

    const last = moved.cells.length - 1;
    const leaving = rest > 0 ? last : 0;
    moved.cells.forEach((cell, index) => {
      const opacity = index === leaving ? 1 - Math.abs(rest) : 1;
      put(this.#tiles[cell], board[cell], placeOn(moved, index + rest), opacity);
    });
    const entry = rest > 0 ? -1 : last + 1;
    const guest = board[moved.cells[leaving]];
    put(this.#guest, guest, placeOn(moved, entry + rest), Math.abs(rest));
  }

  #describe() {
    const texts = ROWS.map(([from, to]) => [...this.#board.slice(from, to)].join(' '));
    const centre = centreOf(this.#board);
    const state = centre === null ? 'not solved' : `solved, the ring holds only ${centre}`;
    this.#drawing.setAttribute('aria-label', `Board, row by row: ${texts.join('; ')}. ${state}.`);
    this.#drawing.dataset.centre = centre ?? '';
  }
}

function put(tile, value, [x, y], opacity) {
  tile.firstChild.setAttribute('href', `#kind-${value}`);
  tile.dataset.value = value;
  tile.setAttribute('transform', `translate(${x} ${y})`);
  tile.setAttribute('opacity', opacity);
}
