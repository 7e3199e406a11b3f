// Other boards: drawn at random, or pasted.

import { addressOf } from './address.mjs';
import { get } from './api.mjs';
import { attempt } from './attempt.mjs';
import { BOARDS, shareAt } from './census.mjs';
import { byId, copy, counted, html } from './dom.mjs';
import { faults, readBoards } from './rules.mjs';

/**
 * Draws boards at a distance; `onBoard` is called with each. Returns a function that draws another
 * way, for a callback that it is given.
 */
export function letDraw(onBoard) {
  const { distance, seed } = document.forms.random.elements;
  const tell = () => {
    const count = BOARDS[distance.value].toLocaleString('en');
    byId('distance-value').textContent = counted(Number(distance.value), 'move');
    byId('distance-share').textContent = `${count} boards, ${shareAt(distance.value)}`;
  };
  distance.addEventListener('input', tell);
  tell();

  const draw = (query, onDrawn) =>
    attempt('draw', async (signal) => {
      const drawn = await get(`boards/random?${new URLSearchParams(query)}`, signal);
      onDrawn(drawn.board);
      // The seed as it was given, if it was: numbers of JavaScript do not hold all seeds.
      showDraw({ seed: drawn.seed, ...query });
    });
  document.forms.random.addEventListener('submit', (event) => {
    event.preventDefault();
    const wanted = seed.value.trim();
    draw({ distance: distance.value, ...(wanted !== '' && { seed: wanted }) }, onBoard);
  });
  return draw;
}

function showDraw(query) {
  const link = html('button', { type: 'button', class: 'small' }, 'Copy link');
  link.addEventListener('click', () => copy(addressOf(query), link));
  byId('drawn').replaceChildren(
    html('span', {}, 'Drawn with seed ', html('code', {}, String(query.seed))),
    link,
  );
}

/**
 * Reads boards from a text; `onBoard` is called with the one that is chosen. Returns a function that
 * reads another text, for a callback that takes its first board.
 */
export function letPaste(onBoard) {
  const { text } = document.forms.paste.elements;
  const show = (boards, index, onChosen) => {
    const reasons = faults(boards[index] ?? []);
    byId('paste-faults').replaceChildren(...reasons.map((reason) => html('li', {}, reason)));
    [...byId('pasted').children].forEach((choice, other) => {
      choice.setAttribute('aria-pressed', String(other === index));
    });
    if (reasons.length === 0) onChosen(boards[index].join(''));
  };
  const read = (onFirst) => {
    const boards = readBoards(text.value);
    const choices = boards.map((_, index) => {
      const choice = html('button', { type: 'button', class: 'small' }, `Board ${index + 1}`);
      choice.addEventListener('click', () => show(boards, index, onBoard));
      return choice;
    });
    byId('pasted').replaceChildren(...(boards.length > 1 ? choices : []));
    show(boards, 0, onFirst);
  };
  document.forms.paste.addEventListener('submit', (event) => {
    event.preventDefault();
    read(onBoard);
  });
  return (pasted, onFirst) => {
    text.value = pasted;
    read(onFirst);
  };
}
