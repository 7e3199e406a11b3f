// What can be learnt from a board, and the corner of the API.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { EASY, HARDEST, open, says, useBrowser } from './browser.mjs';

useBrowser();

test('the distance of the present board is marked among all', async () => {
  const page = await open(`?board=${EASY}`);
  const marked = page.locator('#distribution [aria-current]');
  await marked.waitFor();
  assert.match(await marked.innerText(), /^2\s+1,698,840$/);
  await page.keyboard.press('a');
  await says(
    page,
    '#distribution-here',
    'This board is 1 move away, like one in 30,645 of all boards.',
  );
  assert.equal(await page.locator('#distribution tr').count(), 14);
});

test('both searches are run and plotted, and another board clears the plot', async () => {
  const page = await open(`?board=${HARDEST}`);
  await page.getByRole('button', { name: 'Search this board both ways' }).click();
  await page.locator('#comparison-plot svg').waitFor();
  assert.match(
    await page.locator('#comparison-words').innerText(),
    /^misplaced opened [\d,]{7,} boards .* pattern-database 14 boards in/,
  );
  assert.equal(await page.locator('.series-misplaced circle').count(), 9);
  assert.equal(await page.locator('.series-pattern-database rect').count(), 1);
  await page.getByText('The numbers').click();
  assert.equal(await page.locator('#comparison-rows tr').count(), 10);
  await page.keyboard.press('a');
  await page.locator('#comparison').waitFor({ state: 'hidden' });
});

test('the line for a shell works, and the page shows its answer', async () => {
  const page = await open(`?board=${EASY}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const line = await page.evaluate(() => navigator.clipboard.readText());
  const answer = execFileSync('sh', ['-c', line], { encoding: 'utf8' });
  assert.deepEqual(JSON.parse(answer), { moves: 'AC', length: 2, centre: 2 });
  await page.getByRole('button', { name: 'Run' }).click();
  await says(page, '#answer-body', answer);
  assert.match(await page.locator('#answer-headers').innerText(), /rotation-game; hit/);
});

test('the page leads to the reference, the document and the problems', async () => {
  const page = await open(`?board=${EASY}`);
  const links = await page.$$eval('#api a', (links) => links.map((link) => link.href));
  assert.ok(links.length > 10);
  for (const link of links) assert.ok((await page.request.get(link)).ok(), link);
});
