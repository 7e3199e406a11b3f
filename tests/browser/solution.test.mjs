// Solutions: played back and leafed through.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { play } from '../../assets/rules.mjs';
import {
  eventually,
  HARDEST,
  IN_MOTION,
  open,
  SIX_WAYS,
  says,
  shows,
  useBrowser,
} from './browser.mjs';

useBrowser();

async function solved(board, options) {
  const page = await open(`?board=${board}`, options);
  await page.getByRole('button', { name: 'Solve' }).click();
  await page.locator('#solution').waitFor();
  return page;
}

const current = (page) => page.locator('#strip [aria-current]').allInnerTexts();
const strip = (page) => page.locator('#strip').innerText();
const button = (page, name) => page.getByRole('button', { name, exact: true });

test('a solution is played to its end, and once more from its start', async () => {
  const page = await solved(SIX_WAYS, IN_MOTION);
  assert.equal((await strip(page)).replaceAll(/\s/g, ''), 'DDHH');
  await page.getByLabel('Speed').selectOption('4');
  for (const _ of ['first', 'again']) {
    await button(page, 'Play').click();
    await button(page, 'Pause').waitFor();
    await button(page, 'Play').waitFor();
    await says(page, '#status', 'Solved: the ring holds only 2. 4 made.');
    await shows(page, play(SIX_WAYS, 'DDHH'));
    assert.deepEqual(await current(page), ['H']);
  }
});

test('a solution is stepped through, back and forth, and gone to anywhere', async () => {
  const page = await solved(SIX_WAYS);
  assert.deepEqual(await current(page), []);
  await button(page, 'Step').click();
  await button(page, 'Step').click();
  await shows(page, play(SIX_WAYS, 'DD'));
  await button(page, 'Back').click();
  await shows(page, play(SIX_WAYS, 'D'));
  assert.deepEqual(await current(page), ['D']);
  await button(page, 'Move 4: H').click();
  await shows(page, play(SIX_WAYS, 'DDHH'));
  assert.ok(await button(page, 'Step').isDisabled());
  // Undo goes the same way.
  await button(page, 'Undo').click();
  await shows(page, play(SIX_WAYS, 'D'));
  assert.deepEqual(await current(page), ['D']);
});

test('playing pauses where it is told to', async () => {
  const page = await solved(HARDEST);
  const made = async () =>
    Number((await page.locator('#status').innerText()).match(/(\d+) made/)[1]);
  await button(page, 'Play').click();
  await eventually(async () => (await made()) > 0, true);
  await button(page, 'Pause').click();
  await button(page, 'Play').waitFor();
  const count = (await made()) + 1;
  await button(page, 'Step').click();
  await shows(page, play(HARDEST, 'AAABGAHBDDDHB'.slice(0, count)));
});

test('whoever starts to paint stops playing', async () => {
  const page = await solved(HARDEST);
  await button(page, 'Play').click();
  await button(page, 'Pause').waitFor();
  await page.getByRole('radio', { name: 'Paint' }).check();
  await says(page, '#player-play', 'Play');
});

test('every shortest solution can be leafed through', async () => {
  const page = await solved(SIX_WAYS);
  await says(page, '#solution-total', '6');
  const seen = [await strip(page)];
  for (let index = 1; index < 6; index += 1) {
    await button(page, 'Next solution').click();
    await says(page, '#solution-length', '4 moves');
    seen.push(await strip(page));
  }
  assert.equal(new Set(seen).size, 6);
  for (const letters of seen) {
    assert.equal(play(SIX_WAYS, letters.replaceAll(/\s/g, '')).slice(6, 9), '222');
  }
  assert.ok(await button(page, 'Next solution').isDisabled());
  await button(page, 'Previous solution').click();
  assert.equal(await page.getByLabel('Solution number').inputValue(), '5');
});

test('a solution far back among many is fetched when it is asked for', async () => {
  const page = await solved(HARDEST);
  const total = Number((await page.locator('#solution-total').innerText()).replace(',', ''));
  assert.ok(total > 20);
  const first = await strip(page);
  await page.getByLabel('Solution number').fill(String(total));
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (first) => document.getElementById('strip').innerText !== first,
    first,
  );
  assert.ok(await button(page, 'Next solution').isDisabled());
});

test('a board that is left is told, and solved afresh when asked to', async () => {
  const page = await solved(SIX_WAYS);
  await page.keyboard.press('a');
  await page.getByText('no longer on the way').waitFor();
  assert.ok(await button(page, 'Play').isDisabled());
  await button(page, 'Solve').click();
  await page.getByText('no longer on the way').waitFor({ state: 'hidden' });
  assert.ok(await button(page, 'Play').isEnabled());
});

test('a board that is solved already needs no moves', async () => {
  const page = await solved('222222111221133111333333');
  await says(page, '#solution-length', 'No moves needed');
  assert.ok(await button(page, 'Play').isHidden());
});
