// What the table of exact distances tells the player: how far, which way, and what was in vain.

import { get } from './api.mjs';
import { abandon, attempt } from './attempt.mjs';
import { byId, counted, html } from './dom.mjs';
import { centreOf } from './rules.mjs';

/** Keeps the distance shown, and hints where they are wanted. */
export class Coach extends EventTarget {
  #game;
  #view;
  /** What is known of the present board, or null. */
  #rating = null;

  /** The event `rated` tells that the distance of the present board is known, or no longer. */
  constructor(game, view) {
    super();
    this.#game = game;
    this.#view = view;
    byId('hints').addEventListener('change', () => {
      this.#render();
      this.#judge();
    });
    game.addEventListener('change', () => this.look());
  }

  get distance() {
    return this.#rating?.distance ?? null;
  }

  /** Asks about the present board. */
  async look() {
    const board = this.#game.board;
    this.#rating = null;
    this.#judge();
    await attempt('rating', async (signal) => {
      // Until then the marks of the board before stay, for less than the eye sees.
      this.#rating = await get(`boards/${board}`, signal);
      this.#render();
    });
    const hasFailed = this.#rating === null && this.#game.board === board;
    if (hasFailed) this.#render();
  }

  /** Forgets everything, while there is no board to ask about. */
  rest() {
    abandon('rating');
    abandon('replay');
    this.#rating = null;
    this.#render();
    byId('status').textContent = 'Painting';
  }

  #render() {
    const rating = this.#rating;
    const isHinting = byId('hints').checked;
    this.#view.setCount(rating?.distance ?? null);
    byId('status').textContent = this.#status();
    byId('hint-details').hidden = !isHinting;
    if (rating === null || !isHinting) {
      this.#view.setEffects(null);
    } else {
      const effects = rating.moves.map(({ move, effect }) => [move, effect]);
      this.#view.setEffects(Object.fromEntries(effects));
      this.#renderMoves(rating);
      this.#renderDistances(rating);
    }
    this.dispatchEvent(new Event('rated'));
  }

  #status() {
    const made = `${this.#game.position.moves.length} made`;
    const centre = centreOf(this.#game.board);
    if (centre !== null) return `Solved: the ring holds only ${centre}. ${made}.`;
    if (this.#rating === null) return made;
    return `${counted(this.#rating.distance, 'move')} to go, ${made}`;
  }

  #renderMoves({ moves }) {
    const meanings = { closer: 'one move closer', same: 'no closer', farther: 'one move farther' };
    const rows = Object.entries(meanings).map(([effect, meaning]) => {
      const letters = moves.filter((move) => move.effect === effect).map(({ move }) => move);
      return html(
        'div',
        { 'data-effect': effect },
        html('dt', {}, meaning),
        html('dd', {}, letters.join(' ') || 'none'),
      );
    });
    byId('hint-moves').replaceChildren(...rows);
  }

  #renderDistances({ distances, distance }) {
    const rows = Object.entries(distances).map(([value, moves]) =>
      html(
        'div',
        { class: moves === distance ? 'nearest' : '' },
        html('dt', {}, html('span', { class: `chip chip-${value}` }, value)),
        html('dd', {}, counted(moves, 'move')),
      ),
    );
    byId('hint-distances').replaceChildren(...rows);
  }

  /** Tells which of the moves made were in vain. */
  #judge() {
    const { start, moves } = this.#game.position;
    byId('replay').hidden = moves === '' || !byId('hints').checked;
    if (byId('replay').hidden) {
      abandon('replay');
      return;
    }
    attempt('replay', async (signal) => {
      const replay = await get(`boards/${start}/replay/${moves}`, signal);
      const wasted = replay.steps.map(({ effect }) => ({ closer: 0, same: 1, farther: 2 })[effect]);
      const sum = wasted.reduce((total, moves) => total + moves, 0);
      byId('replay-verdict').textContent = verdict(moves.length, sum, replay);
      const letters = replay.steps.map(({ move, effect }, index) =>
        html('li', { 'data-effect': effect, title: `move ${index + 1}: ${effect}` }, move),
      );
      byId('replay-steps').replaceChildren(...letters);
    });
  }
}

/** A move that leads nowhere wastes itself, one that leads away also the move that makes up for it. */
function verdict(made, wasted, { solved, distance }) {
  if (wasted === 0) return `None of your ${counted(made, 'move')} was wasted.`;
  const total = made + distance - wasted;
  const way = solved ? 'You needed' : 'You will need';
  return (
    `${counted(wasted, 'move')} wasted. ${way} ${made + distance} where ${total} would do: ` +
    'a move that leads away costs two.'
  );
}
