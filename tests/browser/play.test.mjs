// Playing: handles, keys, drags, undo, hints, links.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LETTERS, play } from '../../assets/rules.mjs';
import {
  boardOf,
  EASY,
  eventually,
  HARDEST,
  IN_MOTION,
  open,
  SIX_WAYS,
  says,
  shows,
  URL_OF_SERVER,
  useBrowser,
} from './browser.mjs';

useBrowser();

/** Drags from the middle of a cell by so many cells. */
async function drag(page, cell, right, down) {
  const box = await page.locator(`[data-cell="${cell}"]`).boundingBox();
  const stage = await page.locator('#stage').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + (right * stage.width) / 9, y + (down * stage.width) / 9, { steps: 5 });
  return () => page.mouse.up();
}

test('each letter’s handle turns its line', async () => {
  const page = await open(`?board=${EASY}`, IN_MOTION);
  await shows(page, EASY);
  let moves = '';
  for (const letter of LETTERS) {
    await page.getByRole('button', { name: `${letter}: ` }).click();
    moves += letter;
    await shows(page, play(EASY, moves));
  }
  await eventually(() => page.url(), `${URL_OF_SERVER}/?board=${EASY}&moves=${moves}`);
});

test('keys turn lines, take moves back and make them again', async () => {
  const page = await open(`?board=${SIX_WAYS}`);
  await page.keyboard.press('d');
  await page.keyboard.press('Shift+H');
  await shows(page, play(SIX_WAYS, 'DH'));
  await page.keyboard.press('Control+z');
  await shows(page, play(SIX_WAYS, 'D'));
  await page.keyboard.press('Control+Shift+Z');
  await shows(page, play(SIX_WAYS, 'DH'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await shows(page, SIX_WAYS);
  assert.ok(await page.getByRole('button', { name: 'Undo' }).isDisabled());
  await page.getByRole('button', { name: 'Redo' }).click();
  await shows(page, play(SIX_WAYS, 'D'));
});

test('keyboards of any script turn lines', async () => {
  const page = await open(`?board=${EASY}`);
  const press = (key, code, options) =>
    page.evaluate(
      ([key, code, options]) =>
        dispatchEvent(new KeyboardEvent('keydown', { key, code, ...options })),
      [key, code, options],
    );
  // Russian, Greek, Arabic and Thai go by the place of the key.
  await press('ф', 'KeyA');
  await press('Β', 'KeyB');
  await press('ؤ', 'KeyC');
  await press('้', 'KeyH');
  await shows(page, play(EASY, 'ABCH'));
  await press('я', 'KeyZ', { ctrlKey: true });
  await shows(page, play(EASY, 'ABC'));
  // Dvorak goes by the letter; where it has other signs than letters, nothing turns.
  await press('e', 'KeyD');
  await press('j', 'KeyC');
  await press('.', 'KeyE');
  await press('ą', 'KeyA');
  await shows(page, play(EASY, 'ABCE'));
});

test('letters that are typed into a field turn nothing', async () => {
  const page = await open(`?board=${EASY}`);
  await page.getByLabel('Seed').pressSequentially('abc');
  await page.keyboard.press('Control+z');
  await shows(page, EASY);
});

test('a line follows the pointer and falls into place', async () => {
  const page = await open(`?board=${EASY}`, IN_MOTION);
  const drop = await drag(page, 5, 1.8, 0.1);
  await eventually(() => boardOf(page), play(EASY, 'CC'));
  await drop();
  await shows(page, play(EASY, 'CC'));
  await (await drag(page, 23, 0, -1.2))();
  await shows(page, play(EASY, 'CCB'));
  // A crossing goes the way that it is dragged.
  await (await drag(page, 6, 0, 1))();
  await shows(page, play(EASY, 'CCBF'));
  await (await drag(page, 6, -1, 0))();
  await shows(page, play(EASY, 'CCBFH'));
});

test('a drag of less than half a cell turns nothing, nor does one across the line', async () => {
  const page = await open(`?board=${EASY}`);
  await (await drag(page, 5, 0.4, 0))();
  await (await drag(page, 5, 0, 2))();
  await shows(page, EASY);
  assert.equal(page.url(), `${URL_OF_SERVER}/?board=${EASY}`);
});

test('lines can be dragged with a finger', async () => {
  const page = await open(`?board=${EASY}`, { ...IN_MOTION, hasTouch: true, isMobile: true });
  const box = await page.locator('[data-cell="0"]').boundingBox();
  const stage = await page.locator('#stage').boundingBox();
  const session = await page.context().newCDPSession(page);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = (type, points) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: points });
  await touch('touchStart', [{ x, y }]);
  for (const part of [0.3, 0.6, 1])
    await touch('touchMove', [{ x, y: y + (part * stage.width) / 9 }]);
  await touch('touchEnd', []);
  await shows(page, play(EASY, 'F'));
  await page.getByRole('button', { name: 'A: ' }).tap();
  await shows(page, EASY);
});

test('a solved board says so', async () => {
  const page = await open(`?board=${EASY}&moves=A`);
  await says(page, '#status', '1 move to go, 1 made');
  await page.keyboard.press('c');
  await says(page, '#status', 'Solved: the ring holds only 2. 2 made.');
  const label = await page.locator('#stage svg').getAttribute('aria-label');
  assert.match(label, /solved, the ring holds only 2/);
});

test('hints rate the handles, tell the distances, and what was wasted where', async () => {
  const page = await open(`?board=${EASY}`);
  await page.getByLabel('Show hints').check();
  const closer = page.locator('.handle[data-effect="closer"]');
  await closer.first().waitFor();
  assert.deepEqual(await closer.allInnerTexts(), ['A']);
  assert.equal(await page.locator('.handle[data-effect]').count(), 8);
  await page.getByRole('button', { name: 'A: left column up, closer' }).waitFor();
  assert.match(await page.locator('#hint-distances .nearest').innerText(), /2\s+2 moves/);

  // B leads away and E back: two moves in vain.
  for (const key of 'bea') await page.keyboard.press(key);
  const effects = () =>
    page.$$eval('#replay-steps li', (steps) => steps.map((step) => step.dataset.effect).join(' '));
  await eventually(effects, 'farther closer closer');
  await says(
    page,
    '#replay-verdict',
    '2 moves wasted. You will need 4 where 2 would do: a move that leads away costs two.',
  );
  await page.getByLabel('Show hints').uncheck();
  assert.equal(await page.locator('.handle[data-effect]').count(), 0);
});

test('a link shows what it was taken from, and its moves can be taken back', async () => {
  const page = await open(`?board=${HARDEST}&moves=AAB`);
  await shows(page, play(HARDEST, 'AAB'));
  await page.keyboard.press('Control+z');
  const link = `${URL_OF_SERVER}/?board=${HARDEST}&moves=AA`;
  await eventually(() => page.url(), link);
  await page.goto(link);
  await shows(page, play(HARDEST, 'AA'));
});

test('a link with bad moves shows the board, and says what is wrong', async () => {
  const page = await open(`?board=${EASY}&moves=AXC`, { expected: /status of 422/ });
  await shows(page, EASY);
  const notice = page.getByRole('alert');
  await notice.getByText("move 1 is 'X', not a letter from A to H").waitFor();
  assert.equal(await notice.getByRole('button', { name: 'Try again' }).count(), 0);
});

test('the whole game can be played with the keyboard', async () => {
  const page = await open(`?board=${SIX_WAYS}`);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the board');
  await page.keyboard.press('Enter');
  const focus = () => page.evaluate(() => document.activeElement.textContent);
  for (const letter of LETTERS) {
    await page.keyboard.press('Tab');
    assert.equal(await focus(), letter);
  }
  await page.keyboard.press('Enter');
  await shows(page, play(SIX_WAYS, 'H'));
  const tabTo = async (text) => {
    for (let stops = 0; (await focus()) !== text; stops += 1) {
      assert.ok(stops < 40, `${text} is out of reach`);
      await page.keyboard.press('Tab');
    }
  };
  await tabTo('Solve');
  await page.keyboard.press('Enter');
  await page.locator('#strip button').first().waitFor();
  await tabTo('Step');
  for (const _ of 'DDH') await page.keyboard.press('Space');
  await says(page, '#status', 'Solved: the ring holds only 2. 4 made.');
});
