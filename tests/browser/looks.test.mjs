// For all eyes and screens: sizes, colours, motion, weight, accessibility.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { play } from '../../assets/rules.mjs';
import {
  AXE,
  EASY,
  IN_MOTION,
  newPage,
  open,
  says,
  shows,
  URL_OF_SERVER,
  useBrowser,
} from './browser.mjs';

useBrowser();

/** With everything open that can be. */
async function openAll(options) {
  const page = await open(`?board=${EASY}&moves=BE`, options);
  await page.getByLabel('Show hints').check();
  await page.getByRole('button', { name: 'Solve' }).click();
  await page.getByRole('button', { name: 'Step' }).click();
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('button', { name: 'Search this board both ways' }).click();
  await page.locator('#comparison-plot svg').waitFor();
  await page.getByText('The numbers').click();
  await page.locator('#answer').waitFor();
  return page;
}

/**
 * Fails on whatever axe finds in light colours, and on weak contrasts in dark ones. The page's own
 * policy lets no script in, so it goes in by the debugger.
 */
async function isAccessible(page, part = 'body') {
  await page.evaluate(AXE);
  for (const [colorScheme, rules] of [
    ['light', undefined],
    ['dark', ['color-contrast']],
  ]) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate(
      ([part, rules]) => window.axe.run(part, rules && { runOnly: rules }),
      [part, rules],
    );
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    assert.deepEqual(found, [], colorScheme);
  }
}

test('everybody can use the page, with all of it open', async () => {
  const page = await openAll();
  await isAccessible(page);
  await page.getByRole('radio', { name: 'Paste' }).check();
  await isAccessible(page, '.side');
  await page.getByRole('radio', { name: 'Paint' }).check();
  await page.locator('[data-cell="4"]').click();
  await isAccessible(page, '.play');
});

for (const path of ['/docs', '/problems/invalid-board']) {
  test(`everybody can read ${path}`, async () => {
    const page = await newPage();
    await page.goto(URL_OF_SERVER + path);
    await isAccessible(page);
  });
}

test('colours are dark where they are wanted so', async () => {
  const brightness = async (colorScheme) => {
    const page = await open(`?board=${EASY}`, { colorScheme });
    const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    return Math.max(...colour.match(/\d+/g).map(Number));
  };
  assert.ok((await brightness('light')) > 200);
  assert.ok((await brightness('dark')) < 60);
});

test('nothing is wider than a phone of 360 pixels', async () => {
  const viewport = { width: 360, height: 740 };
  const page = await openAll({ viewport, hasTouch: true, isMobile: true });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(await width(), 360);
  for (const name of ['Paint', 'Paste']) {
    await page.getByRole('radio', { name }).check();
    assert.equal(await width(), 360);
  }
  const sizes = await page.$$eval('.handle', (handles) =>
    handles.map((handle) => handle.offsetWidth),
  );
  assert.ok(Math.min(...sizes) >= 24, `${sizes} pixels are too small for a finger`);
  for (const path of ['/docs', '/problems/invalid-board']) {
    await page.goto(URL_OF_SERVER + path);
    assert.equal(await width(), 360, path);
  }
});

test('the page works without what the oldest browsers lack', async () => {
  const page = await newPage();
  await page.addInitScript(() => {
    delete AbortSignal.any;
  });
  await page.goto(`${URL_OF_SERVER}/?board=${EASY}`);
  await says(page, '#status', '2 moves to go, 0 made');
  await page.getByRole('button', { name: 'Solve' }).click();
  await says(page, '#solution-length', '2 moves');
});

/** Whether a line is ever seen between two places while it turns. */
async function isAnimated(options = {}) {
  const page = await open(`?board=${EASY}`, options);
  await page.evaluate(() => {
    window.places = new Set();
    const note = ([{ target }]) => window.places.add(target.getAttribute('transform'));
    const tile = document.querySelector('[data-cell="4"]');
    new MutationObserver(note).observe(tile, { attributeFilter: ['transform'] });
  });
  await page.keyboard.press('c');
  await shows(page, play(EASY, 'C'));
  return (await page.evaluate(() => window.places.size)) > 1;
}

test('lines glide, but not for those who want less motion', async () => {
  assert.equal(await isAnimated(IN_MOTION), true);
  assert.equal(await isAnimated(), false);
});

test('the first view weighs less than 100 KB and comes from one place', async () => {
  const page = await newPage();
  const requests = [];
  page.on('requestfinished', (request) => requests.push(request));
  await page.goto(URL_OF_SERVER, { waitUntil: 'networkidle' });
  assert.ok(requests.length > 10);
  let total = 0;
  for (const request of requests) {
    assert.equal(new URL(request.url()).origin, URL_OF_SERVER);
    const sizes = await request.sizes();
    total += sizes.responseHeadersSize + sizes.responseBodySize;
  }
  assert.ok(total < 100_000, `${total} bytes`);
});

test('a second visit fetches no asset again', async () => {
  const page = await open(`?board=${EASY}`);
  await page.goto(`${URL_OF_SERVER}/?board=${EASY}&moves=A`, { waitUntil: 'networkidle' });
  const fetched = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes('/assets/'))
      .map(({ transferSize }) => transferSize),
  );
  assert.ok(fetched.length > 10);
  assert.ok(
    fetched.every((size) => size === 0),
    `${fetched} bytes`,
  );
});
