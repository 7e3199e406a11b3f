// Dragging lines, with a mouse, a pen or a finger.

import { lineThrough } from './board.mjs';

/** From how many pixels on a drag has a direction. */
const THRESHOLD = 6;
/** Beyond a whole turn a drag says nothing new. */
const MOST_CELLS = 6;

/**
 * Lets lines be dragged while `isEnabled`; `onDrag` is called with the letters that a drag amounts
 * to.
 */
export function letDrag(view, isEnabled, onDrag) {
  const { drawing } = view;
  let drag = null;

  // A finger on a tile does not scroll; touch-action is no help, since parts of drawings have none
  // in some browsers.
  const keepStill = (event) => {
    if (event.target.closest('[data-cell]')) event.preventDefault();
  };
  drawing.addEventListener('touchstart', keepStill, { passive: false });

  drawing.addEventListener('pointerdown', (event) => {
    const tile = event.target.closest('[data-cell]');
    if (!isEnabled() || drag || tile === null || event.button !== 0) return;
    const { pointerId, clientX, clientY } = event;
    drag = { pointerId, clientX, clientY, cell: Number(tile.dataset.cell), line: null, offset: 0 };
    drawing.setPointerCapture(pointerId);
  });

  drawing.addEventListener('pointermove', (event) => {
    if (event.pointerId !== drag?.pointerId) return;
    const x = event.clientX - drag.clientX;
    const y = event.clientY - drag.clientY;
    if (drag.line === null) {
      if (Math.hypot(x, y) < THRESHOLD) return;
      drag.line = lineThrough(drag.cell, Math.abs(x) > Math.abs(y) ? 'row' : 'column') ?? null;
      if (drag.line === null) {
        drag = null;
        return;
      }
      drawing.classList.add('dragging');
    }
    const cells = (drag.line.axis === 'row' ? x : y) / view.pixelsPerCell;
    drag.offset = Math.max(-MOST_CELLS, Math.min(MOST_CELLS, cells));
    view.hold(drag.line, drag.offset);
  });

  const end = (event) => {
    if (event.pointerId !== drag?.pointerId) return;
    const { line, offset } = drag;
    drag = null;
    drawing.classList.remove('dragging');
    if (line === null) return;
    const steps = event.type === 'pointerup' ? Math.round(offset) : 0;
    if (steps === 0) view.release();
    else onDrag((steps > 0 ? line.last : line.first).repeat(Math.abs(steps)));
  };
  drawing.addEventListener('pointerup', end);
  // The browser has taken the pointer, to scroll for example.
  drawing.addEventListener('pointercancel', end);
}
