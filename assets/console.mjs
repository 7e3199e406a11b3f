// The API, tried on the present board.

import { solve } from './api.mjs';
import { abandon, attempt } from './attempt.mjs';
import { byId, copy, html } from './dom.mjs';

/** Keeps the line for a shell up to date, and runs its request when asked to. */
export function showConsole(game) {
  const request = () => ({ board: game.board });
  const show = () => {
    abandon('console');
    byId('answer').hidden = true;
    byId('curl').textContent = [
      `curl -s ${new URL('solve', location)} \\`,
      "  -H 'Content-Type: application/json' \\",
      `  -d '${JSON.stringify(request())}'`,
    ].join('\n');
  };
  game.addEventListener('change', show);
  show();
  byId('copy-curl').addEventListener('click', ({ currentTarget }) => {
    copy(byId('curl').textContent, currentTarget);
  });
  byId('run-curl').addEventListener('click', () =>
    attempt('console', async (signal) => {
      const { text, headers } = await solve(request(), signal);
      byId('answer').hidden = false;
      byId('answer-body').textContent = text;
      const shown = ['Cache-Status', 'Server-Timing', 'X-Request-Id'].flatMap((name) => [
        html('dt', {}, name),
        html('dd', {}, headers.get(name)),
      ]);
      byId('answer-headers').replaceChildren(...shown);
    }),
  );
}
