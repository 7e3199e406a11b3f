// Solutions: all the shortest ones of a board, leafed through and played back.

import { get } from './api.mjs';
import { abandon, attempt } from './attempt.mjs';
import { byId, counted, html } from './dom.mjs';
import { play } from './rules.mjs';

const PAGE = 20;
/** How long a board is to be seen at speed 1. */
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
    on('player-play', () => (this.#timer === null ? this.#start() : this.pause()));
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
    this.pause();
    const origin = this.#game.position;
    const board = this.#game.board;
    return attempt('solve', async (signal) => {
      const page = await get(`boards/${board}/solutions?limit=${PAGE}`, signal);
      this.#origin = origin;
      this.#solutions.clear();
      this.#index = 0;
      this.#keep(page);
      this.#render();
    });
  }

  #keep({ total, offset, solutions }) {
    this.#total = total;
    solutions.forEach((solution, index) => {
      this.#solutions.set(offset + index, solution);
    });
  }

  /** Shows another solution, from its start or from as far as it is the same. */
  #leaf(index) {
    this.pause();
    const origin = this.#origin;
    return attempt('solve', async (signal) => {
      if (!this.#solutions.has(index)) {
        const board = play(origin.start, origin.moves);
        const offset = index - (index % PAGE);
        const path = `boards/${board}/solutions?limit=${PAGE}&offset=${offset}`;
        this.#keep(await get(path, signal));
      }
      this.#index = index;
      if (this.#played < 0) this.#game.go(origin.start, origin.moves);
      this.#render();
    });
  }

  #goTo(count) {
    this.pause();
    this.#show(count);
  }

  #show(count) {
    this.#game.go(this.#origin.start, this.#origin.moves + this.#moves.slice(0, count));
  }

  /** Plays on from here, or once more from the start. */
  #start() {
    const isAtEnd = this.#played === this.#moves.length;
    if (isAtEnd) this.#show(0);
    this.#timer = setTimeout(() => this.#advance(), isAtEnd ? this.#pauseMs : 0);
    this.#render();
  }

  #advance() {
    this.#show(this.#played + 1);
    if (this.#played === this.#moves.length) this.pause();
    else this.#timer = setTimeout(() => this.#advance(), this.#pauseMs);
  }

  get #pauseMs() {
    return PAUSE_MS / Number(byId('player-speed').value);
  }

  pause() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#render();
  }

  #changed() {
    if (this.#played < 0) {
      abandon('solve');
      this.pause();
    } else {
      this.#render();
    }
  }

  #render() {
    const isKnown = this.#origin !== null;
    byId('solution').hidden = !isKnown;
    if (!isKnown) return;

    const played = this.#played;
    const isLeft = played < 0;
    const length = this.#moves.length;
    const isPlaying = this.#timer !== null;
    byId('solve').classList.toggle('primary', isLeft);
    byId('solution').classList.toggle('left', isLeft);
    byId('solution-left').hidden = !isLeft;
    byId('solution-length').textContent =
      length === 0 ? 'No moves needed' : counted(length, 'move');
    byId('solution-note').hidden = this.#index > 0;
    byId('solution-number').value = this.#index + 1;
    byId('solution-number').max = this.#total;
    byId('solution-total').textContent = this.#total.toLocaleString('en');
    byId('solution-previous').disabled = this.#index === 0;
    byId('solution-next').disabled = this.#index + 1 === this.#total;
    byId('player').hidden = length === 0;
    byId('player-back').disabled = played <= 0;
    byId('player-step').disabled = isLeft || played === length;
    byId('player-play').disabled = isLeft;
    byId('player-play').textContent = isPlaying ? 'Pause' : 'Play';
    this.#renderStrip(played);
  }

  #renderStrip(played) {
    const strip = byId('strip');
    if (strip.dataset.moves !== this.#moves) {
      strip.dataset.moves = this.#moves;
      strip.replaceChildren(
        ...[...this.#moves].map((letter, index) => this.#chip(letter, index + 1)),
      );
    }
    [...strip.children].forEach(({ firstChild: chip }, index) => {
      chip.classList.toggle('played', index < played);
      if (index + 1 === played) chip.setAttribute('aria-current', 'step');
      else chip.removeAttribute('aria-current');
    });
  }

  /** A letter of the strip, which goes to the board after it. */
  #chip(letter, count) {
    const label = `Move ${count}: ${letter}`;
    const chip = html('button', { type: 'button', 'aria-label': label }, letter);
    chip.addEventListener('click', () => this.#goTo(count));
    return html('li', {}, chip);
  }
}
