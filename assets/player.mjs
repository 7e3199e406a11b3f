// Solutions: all the shortest ones of a board, leafed through and played back.

import { get } from './api.mjs';
import { abandon, attempt } from './attempt.mjs';
import { byId, counted, html } from './dom.mjs';
import { play } from './rules.mjs';

const PAGE = 20;
/** Between two letters, at speed 1. */
const PAUSE_MS = 800;

/**
 * The player has no place of its own: how far a solution has been played is told by the game's
 * position, so that undo, a handle and the player's own buttons never contradict each other.
 */
export class Player {
  #game;
  /** The position that the solutions are of, or null. */
  #origin = null;
  #total = 0;
  #index = 0;
  /** The solutions known so far, by index. */
  #solutions = new Map();
  #timer = null;

  constructor(game) {
    this.#game = game;
    const on = (id, action) => byId(id).addEventListener('click', action);
    on('solve', () => this.#solve());
    on('solution-previous', () => this.#leaf(this.#index - 1));
    on('solution-next', () => this.#leaf(this.#index + 1));
    on('player-back', () => this.#goTo(this.#played - 1));
    on('player-step', () => this.#goTo(this.#played + 1));
    on('player-play', () => (this.#timer === null ? this.#play() : this.#pause()));
    byId('solution-number').addEventListener('change', ({ target }) => {
      this.#leaf(Math.min(this.#total, Math.max(1, Math.trunc(target.value) || 1)) - 1);
    });
    game.addEventListener('change', () => this.#changed());
    this.#render();
  }

  get #moves() {
    return this.#solutions.get(this.#index)?.moves ?? '';
  }

  /** How many letters have been played, or -1 where the player has left the solution. */
  get #played() {
    const { start, moves } = this.#game.position;
    if (this.#origin?.start !== start || !moves.startsWith(this.#origin.moves)) return -1;
    const played = moves.slice(this.#origin.moves.length);
    return this.#moves.startsWith(played) ? played.length : -1;
  }

  #solve() {
    this.#pause();
    const origin = this.#game.position;
    const board = this.#game.board;
    return attempt('solve', async (signal) => {
      const page = await get(`/boards/${board}/solutions?limit=${PAGE}`, signal);
      this.#origin = origin;
      this.#solutions.clear();
      this.#index = 0;
      this.#keep(page);
      this.#render();
    });
  }

  #keep({ total, offset, solutions }) {
    this.#total = total;
    solutions.forEach((solution, index) => this.#solutions.set(offset + index, solution));
  }

  /** Shows another solution, from its start or from as far as it is the same. */
  #leaf(index) {
    this.#pause();
    const origin = this.#origin;
    return attempt('solve', async (signal) => {
      if (!this.#solutions.has(index)) {
        const board = play(origin.start, origin.moves);
        const offset = index - (index % PAGE);
        const path = `/boards/${board}/solutions?limit=${PAGE}&offset=${offset}`;
        this.#keep(await get(path, signal));
      }
      this.#index = index;
      if (this.#played < 0) this.#game.go(origin.start, origin.moves);
      this.#render();
    });
  }

  #goTo(count) {
    this.#pause();
    this.#show(count);
  }

  #show(count) {
    this.#game.go(this.#origin.start, this.#origin.moves + this.#moves.slice(0, count));
  }

  #play() {
    const isAtEnd = this.#played === this.#moves.length;
    const advance = () => {
      this.#show(this.#played + 1);
      if (this.#played === this.#moves.length) this.#pause();
      else this.#timer = setTimeout(advance, PAUSE_MS / Number(byId('player-speed').value));
    };
    if (isAtEnd) this.#show(0);
    this.#timer = setTimeout(advance, isAtEnd ? PAUSE_MS : 0);
    this.#render();
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#render();
  }

  #changed() {
    if (this.#played < 0) {
      abandon('solve');
      this.#pause();
    }
    this.#render();
  }

  #render() {
    const played = this.#played;
    const isKnown = this.#origin !== null;
    const isFollowed = isKnown && played >= 0;
    byId('solve').textContent = isKnown ? 'Solve this board' : 'Solve';
    byId('solve').hidden = isFollowed;
    byId('solution').hidden = !isKnown;
    byId('solution').classList.toggle('left', !isFollowed);
    byId('solution-left').hidden = isFollowed || !isKnown;
    if (!isKnown) return;

    const length = this.#moves.length;
    byId('solution-length').textContent = length === 0 ? 'No moves needed' : counted(length, 'move');
    byId('solution-note').textContent =
      this.#index === 0 ? 'the smallest in letter order, the judge’s answer' : '';
    byId('solution-number').value = this.#index + 1;
    byId('solution-number').max = this.#total;
    byId('solution-total').textContent = this.#total.toLocaleString('en');
    byId('solution-previous').disabled = this.#index === 0;
    byId('solution-next').disabled = this.#index + 1 === this.#total;
    byId('player').hidden = length === 0;
    byId('player-back').disabled = played <= 0;
    byId('player-step').disabled = played < 0 || played === length;
    byId('player-play').disabled = played < 0;
    const isPlaying = this.#timer !== null;
    byId('player-play').textContent = isPlaying ? 'Pause' : 'Play';
    byId('player-play').classList.toggle('playing', isPlaying);
    this.#renderStrip(played);
  }

  #renderStrip(played) {
    const letters = [...this.#moves].map((letter, index) => {
      const count = index + 1;
      const button = html(
        'button',
        {
          type: 'button',
          class: count <= played ? 'played' : null,
          'aria-label': `Move ${count}: ${letter}`,
          'aria-current': count === played ? 'step' : null,
        },
        letter,
      );
      button.addEventListener('click', () => this.#goTo(count));
      return html('li', {}, button);
    });
    byId('strip').replaceChildren(...letters);
  }
}
