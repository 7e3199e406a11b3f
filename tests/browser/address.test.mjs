// The address bar, links that are copied, and the browser's own history.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { play } from '../../assets/rules.mjs';
import {
  EASY,
  eventually,
  HARDEST,
  open,
  SIX_WAYS,
  shows,
  URL_OF_SERVER,
  useBrowser,
} from './browser.mjs';

useBrowser();

const addressOf = (board, moves) =>
  `${URL_OF_SERVER}/?board=${board}${moves === '' ? '' : `&moves=${moves}`}`;
const isAt = (page, address) => eventually(() => page.url(), address);

/** Presses keys faster than a person can. */
const hammer = (page, keys) =>
  page.evaluate(async (keys) => {
    for (const key of keys) {
      dispatchEvent(new KeyboardEvent('keydown', { key }));
      await new Promise((resolve) => setTimeout(resolve));
    }
  }, keys);

async function paste(page, board) {
  await page.getByRole('radio', { name: 'Paste' }).check();
  await page.getByLabel('24 digits, or the judge’s text').fill(board);
  await page.getByRole('button', { name: 'Read' }).click();
  await shows(page, board);
}

test('hundreds of quick moves reach the address and the copied link', async () => {
  const page = await open(`?board=${EASY}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  // As in Safari, which takes 100 in 30 s.
  await page.evaluate(() => {
    const replaceState = history.replaceState.bind(history);
    window.writes = 0;
    history.replaceState = (...args) => {
      window.writes += 1;
      if (window.writes <= 100) replaceState(...args);
    };
  });
  const moves = 'ABCDEFGH'.repeat(40);
  const started = Date.now();
  await hammer(page, moves);
  await page.getByRole('button', { name: 'Copy link' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, addressOf(EASY, moves));
  await isAt(page, copied);
  const writes = await page.evaluate(() => window.writes);
  const seconds = (Date.now() - started) / 1000;
  assert.ok(writes <= 3 * seconds + 1, `${writes} writes in ${seconds} s`);
});

test('the copied link of a board in the making shows it', async () => {
  const page = await open(`?board=${EASY}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('radio', { name: 'Paint' }).check();
  await page.locator('[data-cell="4"]').click();
  await page.getByRole('button', { name: 'Copy link' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, `${URL_OF_SERVER}/?paint=${EASY.slice(0, 4)}1${EASY.slice(5)}`);
});

test('Back and Forward across a link within the page show what the address says', async () => {
  const page = await open(`?board=${EASY}`);
  await hammer(page, 'AB');
  await page.getByRole('link', { name: 'Learn' }).click();
  await shows(page, play(EASY, 'AB'));
  await isAt(page, `${addressOf(EASY, 'AB')}#learn`);
  await page.keyboard.press('c');
  await isAt(page, `${addressOf(EASY, 'ABC')}#learn`);
  await page.goBack();
  await shows(page, play(EASY, 'AB'));
  await isAt(page, addressOf(EASY, 'AB'));
  await page.goForward();
  await shows(page, play(EASY, 'ABC'));
  await isAt(page, `${addressOf(EASY, 'ABC')}#learn`);
});

test('Back and Forward lead into painting and out of it', async () => {
  const page = await open(`?board=${EASY}`);
  await page.getByRole('link', { name: 'Learn' }).click();
  await page.getByRole('radio', { name: 'Paint' }).check();
  await page.locator('[data-cell="4"]').click();
  const draft = `${EASY.slice(0, 4)}1${EASY.slice(5)}`;
  await isAt(page, `${URL_OF_SERVER}/?paint=${draft}#learn`);
  await page.goBack();
  await shows(page, EASY);
  await isAt(page, addressOf(EASY, ''));
  await page.keyboard.press('a');
  await shows(page, play(EASY, 'A'));
  await page.goForward();
  await shows(page, draft);
  await isAt(page, `${URL_OF_SERVER}/?paint=${draft}#learn`);
});

test('Back after another board was drawn, pasted or painted returns to the one before', async () => {
  const page = await open(`?board=${EASY}`);
  await hammer(page, 'AB');
  await paste(page, SIX_WAYS);
  await isAt(page, addressOf(SIX_WAYS, ''));
  await page.keyboard.press('d');
  await page.getByRole('radio', { name: 'Random' }).check();
  await page.getByRole('slider').fill('13');
  await page.getByLabel('Seed').fill('18446744073709551615');
  await page.keyboard.press('Enter');
  const drawn = '312113233323112211223123';
  await shows(page, drawn);
  await page.getByRole('radio', { name: 'Paint' }).check();
  const painted = `13${drawn.slice(2)}`;
  await page.locator('[data-cell="0"]').click();
  await page.locator('.brushes').getByText('3', { exact: true }).click();
  await page.locator('[data-cell="1"]').click();
  await page.getByRole('button', { name: 'Play this board' }).click();
  await isAt(page, addressOf(painted, ''));
  for (const [board, moves] of [
    [drawn, ''],
    [SIX_WAYS, 'D'],
    [EASY, 'AB'],
  ]) {
    await page.goBack();
    await shows(page, play(board, moves));
    await isAt(page, addressOf(board, moves));
  }
});

for (const [query, board] of [
  ['seed=18446744073709551615&distance=13', '312113233323112211223123'],
  [`board=${[...EASY].join(',')}`, EASY],
]) {
  test(`a link to ${query} adds no entry to the history`, async () => {
    const page = await open(`?board=${HARDEST}`);
    const before = await page.evaluate(() => history.length);
    await page.goto(`${URL_OF_SERVER}/?${query}`);
    await isAt(page, addressOf(board, ''));
    assert.equal(await page.evaluate(() => history.length), before + 1);
  });
}

test('moves just before the page is left are there on return', async () => {
  const page = await open(`?board=${HARDEST}`);
  await hammer(page, 'ABC');
  await page.evaluate(() => {
    location.href = 'docs';
  });
  await page.waitForURL(`${URL_OF_SERVER}/docs`);
  await page.goBack();
  await isAt(page, addressOf(HARDEST, 'ABC'));
  await shows(page, play(HARDEST, 'ABC'));
});
