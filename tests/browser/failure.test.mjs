// Failures are told in words, and can be tried again.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { play } from '../../assets/rules.mjs';
import { EASY, open, says, shows, useBrowser } from './browser.mjs';

useBrowser();

const FAILED = { expected: /Failed to load resource/ };

const problem = (code, status, title, detail) => ({
  status,
  contentType: 'application/problem+json',
  body: JSON.stringify({ type: `/problems/${code}`, title, status, detail, code, instance: 'abc' }),
});

test('a problem is told with its title, its detail, and the request', async () => {
  const page = await open(`?board=${EASY}`, FAILED);
  await says(page, '#status', '2 moves to go, 0 made');
  const busy = problem(
    'overloaded',
    503,
    'The service is overloaded',
    'too many requests are queued',
  );
  await page.route('**/solutions?*', (route) => route.fulfill(busy));
  await page.getByRole('button', { name: 'Solve' }).click();
  const notice = page.getByRole('alert');
  await notice
    .getByText(
      'The service is overloaded: too many requests are queued. What that means (request abc).',
    )
    .waitFor();
  await page.unroute('**/solutions?*');
  await notice.getByRole('button', { name: 'Try again' }).click();
  await notice.waitFor({ state: 'hidden' });
  await says(page, '#solution-length', '2 moves');
});

test('an answer that is none of the service’s is told as that', async () => {
  const page = await open(`?board=${EASY}`, FAILED);
  await page.route('**/solve', (route) =>
    route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }),
  );
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('alert').getByText('something answered with status 502').waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('alert').waitFor({ state: 'hidden' });
});

test('a lost connection is told, lines still turn, and all that failed is tried again', async () => {
  const page = await open(`?board=${EASY}`, FAILED);
  await says(page, '#status', '2 moves to go, 0 made');
  await page.context().setOffline(true);
  await page.keyboard.press('a');
  const notice = page.getByRole('alert');
  await notice.getByText('The server cannot be reached.').waitFor();
  await shows(page, play(EASY, 'A'));
  await says(page, '#status', '1 made');
  await page.getByRole('button', { name: 'Solve' }).click();
  await notice.getByRole('button', { name: 'Try again' }).click();
  await notice.getByText('The server cannot be reached.').waitFor();
  await page.context().setOffline(false);
  await notice.getByRole('button', { name: 'Try again' }).click();
  await notice.waitFor({ state: 'hidden' });
  await says(page, '#status', '1 move to go, 1 made');
  await says(page, '#solution-length', '1 move');
});

test('an answer that comes too late changes nothing', async () => {
  const page = await open(`?board=${EASY}`);
  await says(page, '#status', '2 moves to go, 0 made');
  let answer;
  const held = new Promise((resolve) => {
    answer = resolve;
  });
  await page.route(`**/boards/${play(EASY, 'A')}`, async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  await page.keyboard.press('a');
  await page.keyboard.press('f');
  await says(page, '#status', '2 moves to go, 2 made');
  answer();
  await page.getByLabel('Show hints').check();
  await says(page, '#status', '2 moves to go, 2 made');
  assert.ok(await page.getByRole('alert').isHidden());
});
