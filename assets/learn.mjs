// What can be learnt from a board: how rare it is, and how two searches find its solution.

import { solve } from './api.mjs';
import { abandon, attempt } from './attempt.mjs';
import { BOARDS, shareAt } from './census.mjs';
import { byId, counted, html } from './dom.mjs';
import { plotBar, plotSearches } from './plots.mjs';

const HEURISTICS = ['misplaced', 'pattern-database'];

/** The table of all boards by distance; gives a function that marks one. */
export function showDistribution() {
  const most = Math.max(...BOARDS);
  const rows = BOARDS.map((count, distance) =>
    html(
      'tr',
      {},
      html('th', { scope: 'row' }, String(distance)),
      html('td', { class: 'bar-cell' }, plotBar(count / most)),
      html('td', { class: 'number' }, count.toLocaleString('en')),
    ),
  );
  byId('distribution').replaceChildren(...rows);
  return (distance) => {
    rows.forEach((row, index) => {
      row.classList.toggle('here', index === distance);
      if (index === distance) row.setAttribute('aria-current', 'true');
      else row.removeAttribute('aria-current');
    });
    byId('distribution-here').textContent =
      distance === null
        ? ''
        : `This board is ${counted(distance, 'move')} away, like ${shareAt(distance)} of all boards.`;
  };
}

/** Lets both heuristics solve the present board. */
export function letCompare(game) {
  const state = byId('compare-state');
  game.addEventListener('change', () => {
    abandon('compare');
    state.textContent = '';
    byId('comparison').hidden = true;
  });
  byId('compare').addEventListener('click', () =>
    attempt('compare', async (signal) => {
      const board = game.board;
      state.textContent = 'Both search…';
      try {
        const searches = [];
        for (const heuristic of HEURISTICS) {
          const { body } = await solve({ board, heuristic, explain: true }, signal);
          searches.push(body.search);
        }
        showSearches(searches);
      } finally {
        if (!signal.aborted) state.textContent = '';
      }
    }),
  );
}

function showSearches(searches) {
  byId('comparison').hidden = false;
  const [misplaced, exact] = searches;
  byId('comparison-words').textContent =
    `misplaced opened ${counted(misplaced.nodes, 'board')} in ${duration(misplaced)}, ` +
    `pattern-database ${counted(exact.nodes, 'board')} in ${duration(exact)}.`;
  const rows = searches.flatMap(({ heuristic, iterations }) =>
    iterations.map(({ bound, nodes }) =>
      html(
        'tr',
        {},
        html('td', {}, heuristic),
        html('td', { class: 'number' }, String(bound)),
        html('td', { class: 'number' }, nodes.toLocaleString('en')),
      ),
    ),
  );
  byId('comparison-rows').replaceChildren(...rows);
  plotSearches(byId('comparison-plot'), searches);
}

function duration({ elapsed_us: microseconds }) {
  if (microseconds < 1000) return `${microseconds} µs`;
  if (microseconds < 1_000_000) return `${(microseconds / 1000).toFixed(1)} ms`;
  return `${(microseconds / 1_000_000).toFixed(2)} s`;
}
