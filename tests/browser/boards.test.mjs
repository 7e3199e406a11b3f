// Other boards: random, painted, pasted.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { play } from '../../assets/rules.mjs';
import {
  EASY,
  eventually,
  HARDEST,
  open,
  SIX_WAYS,
  says,
  shows,
  URL_OF_SERVER,
  useBrowser,
} from './browser.mjs';

useBrowser();

const tab = (page, name) => page.getByRole('radio', { name, exact: true }).check();
const cell = (page, index) => page.locator(`[data-cell="${index}"]`);
const faults = (page) => page.locator('#paint-faults li').allInnerTexts();

test('a board is drawn at a distance, and its seed draws it again', async () => {
  const page = await open(`?board=${EASY}`);
  await page.getByRole('slider').fill('13');
  await says(page, '#distance-share', '192 boards, one in 49,299,540');
  await page.getByRole('button', { name: 'Draw' }).click();
  await says(page, '#status', '13 moves to go, 0 made');
  const drawn = page.url();
  const seed = await page.locator('#drawn code').innerText();
  await page.goto(`${URL_OF_SERVER}/?seed=${seed}&distance=13`);
  await eventually(() => page.url(), drawn);
});

test('a given seed is taken as it is, however great', async () => {
  const page = await open(`?board=${EASY}`);
  await page.getByRole('slider').fill('13');
  await page.getByLabel('Seed').fill('18446744073709551615');
  await page.keyboard.press('Enter');
  await shows(page, '312113233323112211223123');
  await says(page, '#drawn code', '18446744073709551615');
});

test('what is no seed is told in the words of the API', async () => {
  const page = await open(`?board=${EASY}`, { expected: /status of 422/ });
  await page.getByLabel('Seed').fill('x');
  await page.getByRole('button', { name: 'Draw' }).click();
  const notice = page.getByRole('alert');
  await notice.getByText('invalid digit found in string').waitFor();
  await notice.getByRole('link', { name: 'What that means' }).waitFor();
  await page.getByLabel('Seed').fill('1');
  await page.getByRole('button', { name: 'Draw' }).click();
  await notice.waitFor({ state: 'hidden' });
});

test('cells are painted, and what is illegal is said as the API says it', async () => {
  const page = await open(`?board=${EASY}`);
  await tab(page, 'Paint');
  await page.getByText('A legal board').waitFor();
  await cell(page, 4).click();
  assert.deepEqual(await page.locator('#count-1, #count-2, #count-3').allInnerTexts(), [
    '9 of 8',
    '8 of 8',
    '7 of 8',
  ]);
  const draft = `${EASY.slice(0, 4)}1${EASY.slice(5)}`;
  await shows(page, draft);
  const problem = await page.request.get(`${URL_OF_SERVER}/boards/${draft}`);
  assert.deepEqual(
    await faults(page),
    (await problem.json()).errors.map(({ detail }) => detail),
  );
  assert.ok(await page.getByRole('button', { name: 'Play this board' }).isDisabled());

  // The link shows the board in the making; lines cannot be turned until it is one.
  const link = `${URL_OF_SERVER}/?paint=${draft}`;
  await eventually(() => page.url(), link);
  await page.goto(link);
  await shows(page, draft);
  await page.keyboard.press('a');
  await shows(page, draft);

  await page.locator('.brushes').getByText('3', { exact: true }).click();
  await cell(page, 0).click();
  await page.getByRole('button', { name: 'Play this board' }).click();
  const painted = `3${draft.slice(1)}`;
  await eventually(() => page.url(), `${URL_OF_SERVER}/?board=${painted}`);
  await page.keyboard.press('a');
  await shows(page, play(painted, 'A'));
});

test('a stroke paints all cells that it passes', async () => {
  const page = await open(`?board=${SIX_WAYS}`);
  await tab(page, 'Paint');
  const [from, to] = [await cell(page, 13).boundingBox(), await cell(page, 15).boundingBox()];
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 20 });
  await page.mouse.up();
  await shows(page, '111111112222211133333333');
});

test('cells are painted with the keyboard', async () => {
  const page = await open(`?board=${SIX_WAYS}`);
  await tab(page, 'Paint');
  await cell(page, 0).focus();
  await page.keyboard.press('2');
  await page.keyboard.press('3');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await shows(page, '231111112222222233333333');
  assert.equal(
    await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
    'Cell 3: 1',
  );
});

test('who stops painting goes on with the board from before', async () => {
  const page = await open(`?board=${EASY}&moves=A`);
  await tab(page, 'Paint');
  await cell(page, 5).click();
  await tab(page, 'Random');
  await shows(page, play(EASY, 'A'));
  await eventually(() => page.url(), `${URL_OF_SERVER}/?board=${EASY}&moves=A`);
});

test('digits and the judge’s text are read', async () => {
  const page = await open(`?board=${EASY}`);
  await tab(page, 'Paste');
  const text = page.getByLabel('24 digits, or the judge’s text');
  await text.fill(HARDEST);
  await page.getByRole('button', { name: 'Read' }).click();
  await shows(page, HARDEST);
  await text.fill(`${[...EASY].join(' ')}\n${[...SIX_WAYS].join(' ')}\n0\n`);
  await page.getByRole('button', { name: 'Read' }).click();
  await shows(page, EASY);
  await page.getByRole('button', { name: 'Board 2' }).click();
  await shows(page, SIX_WAYS);
  await page.getByRole('button', { name: 'Undo' }).click();
  await shows(page, EASY);
});

test('a text that is no board is told with every reason', async () => {
  const page = await open(`?board=${EASY}`);
  await tab(page, 'Paste');
  const text = page.getByLabel('24 digits, or the judge’s text');
  await text.fill('1 2 x');
  await page.getByRole('button', { name: 'Read' }).click();
  const told = await page.locator('#paste-faults li').allInnerTexts();
  assert.deepEqual(told, ['a board has 24 cells, here are 3', "cell 2 is 'x', not 1, 2 or 3"]);
  await shows(page, EASY);
});

test('a link to what is no board says why', async () => {
  const page = await open('?board=1212');
  await page.getByText('a board has 24 cells, here are 4').waitFor();
});
