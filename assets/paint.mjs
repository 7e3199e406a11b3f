// Paint mode: cells are set one by one, and what is not legal yet is said as it is.

import { addressOf, showAddress } from './address.mjs';
import { byId, html } from './dom.mjs';
import { counts, faults, VALUES } from './rules.mjs';

/** While it is open, the view shows cells that need not be a legal board. */
export class Painter {
  #view;
  #cells = null;
  #isStroke = false;

  /** `onDone` is called with a board that is legal. */
  constructor(view, onDone) {
    this.#view = view;
    byId('paint-done').addEventListener('click', () => onDone(this.#cells));
    view.tiles.forEach((tile, cell) => {
      tile.addEventListener('keydown', (event) => this.#press(event, cell));
    });
    const { drawing } = view;
    drawing.addEventListener('pointerdown', (event) => {
      this.#isStroke = this.isOpen && event.button === 0;
      this.#touch(event);
    });
    drawing.addEventListener('pointermove', (event) => this.#touch(event));
    addEventListener('pointerup', () => {
      this.#isStroke = false;
    });
  }

  get isOpen() {
    return this.#cells !== null;
  }

  get #paint() {
    return document.forms.brush.elements.paint.value;
  }

  open(cells) {
    this.#cells = cells;
    this.#view.drawing.setAttribute('role', 'group');
    this.#view.drawing.classList.add('painting');
    this.#view.tiles.forEach((tile, cell) => {
      tile.setAttribute('role', 'button');
      // One stop of the tab key for all; arrows lead on from there.
      tile.setAttribute('tabindex', cell === 0 ? 0 : -1);
    });
    this.#render();
  }

  close() {
    this.#cells = null;
    this.#view.drawing.setAttribute('role', 'img');
    this.#view.drawing.classList.remove('painting');
    for (const tile of this.#view.tiles) {
      for (const name of ['role', 'tabindex', 'aria-label']) tile.removeAttribute(name);
    }
  }

  #touch(event) {
    if (!this.#isStroke || !this.isOpen) return;
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const tile = under?.closest('[data-cell]');
    if (tile) this.#set(Number(tile.dataset.cell), this.#paint);
  }

  #press(event, cell) {
    if (!this.isOpen) return;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (VALUES.includes(event.key)) {
      this.#set(cell, event.key);
      this.#focus(cell + 1);
    } else if (event.key === ' ' || event.key === 'Enter') {
      this.#set(cell, this.#paint);
    } else if (event.key in steps) {
      this.#focus(cell + steps[event.key]);
    } else {
      return;
    }
    event.preventDefault();
  }

  #focus(cell) {
    const { tiles } = this.#view;
    if (!(cell in tiles)) return;
    tiles.forEach((tile, index) => {
      tile.setAttribute('tabindex', index === cell ? 0 : -1);
    });
    tiles[cell].focus();
  }

  #set(cell, value) {
    if (this.#cells[cell] === value) return;
    this.#cells = this.#cells.slice(0, cell) + value + this.#cells.slice(cell + 1);
    this.#render();
  }

  #render() {
    this.#view.show(this.#cells);
    this.#view.tiles.forEach((tile, cell) => {
      tile.setAttribute('aria-label', `Cell ${cell}: ${this.#cells[cell]}`);
    });
    counts(this.#cells).forEach((count, index) => {
      byId(`count-${VALUES[index]}`).textContent = `${count} of 8`;
    });
    const reasons = faults(this.#cells).map((reason) => html('li', {}, reason));
    byId('paint-faults').replaceChildren(...reasons);
    byId('paint-legal').hidden = reasons.length > 0;
    byId('paint-done').disabled = reasons.length > 0;
    showAddress(addressOf({ paint: this.#cells }));
  }
}
