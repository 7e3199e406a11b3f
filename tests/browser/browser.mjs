// A real browser on the real server, whose URL is in the environment as URL.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before } from 'node:test';

const tools = createRequire(new URL('../../target/tools/', import.meta.url));
const { chromium } = tools('playwright-core');

export const URL_OF_SERVER = process.env.URL;
export const AXE = readFileSync(tools.resolve('axe-core'), 'utf8');

/** Two moves away, by AC alone. */
export const EASY = '111132323132231222312133';
/** Four moves away, in six ways. */
export const SIX_WAYS = '111111112222222233333333';
/** As far away as a board can be. */
export const HARDEST = '112323233232111211122333';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser;
let contexts = [];
/** What the consoles of all pages of a test have complained about. */
let faults = [];

/** Starts the browser; Playwright makes a new directory for the user's data each time. */
export function launch() {
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

/** To be called once in each file of tests. */
export function useBrowser() {
  before(async () => {
    assert.ok(URL_OF_SERVER, 'URL is not set: see scripts/test');
    browser = await launch();
  });
  after(() => browser.close());
  afterEach(async () => {
    const found = faults;
    await Promise.all(contexts.map((context) => context.close()));
    contexts = [];
    faults = [];
    assert.deepEqual(found, [], 'the console is silent');
  });
}

/** Without waiting for lines that glide, unless a test is about them. */
const DEFAULTS = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' };
export const IN_MOTION = { reducedMotion: 'no-preference' };

/** A page in a context of its own; `expected` is what its console may say. */
export async function newPage({ expected = null, ...options } = {}) {
  const context = await browser.newContext({ ...DEFAULTS, ...options });
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on('console', (message) => {
    const isFault = ['error', 'warning'].includes(message.type());
    if (isFault && !expected?.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  return page;
}

/** Opens the page at this query, and waits until the board's distance is known. */
export async function open(query = '', options = {}) {
  const page = await newPage(options);
  await page.goto(`${URL_OF_SERVER}/${query}`);
  await page.locator('#stage svg').waitFor();
  return page;
}

/** The board that is seen, in cell order. */
export function boardOf(page) {
  return page.$$eval('#stage [data-cell]', (tiles) =>
    tiles
      .sort((a, b) => a.dataset.cell - b.dataset.cell)
      .map((tile) => tile.dataset.value)
      .join(''),
  );
}

/** Waits until this board is seen, at rest. */
export async function shows(page, board) {
  await page.locator('#stage svg:not(.turning)').waitFor();
  await eventually(() => boardOf(page), board);
}

/** Waits until a value is as expected, and fails telling what it was. */
export async function eventually(read, expected) {
  const end = Date.now() + 10_000;
  let value = await read();
  while (value !== expected && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    value = await read();
  }
  assert.equal(value, expected);
}

/** Waits until an element has this text. */
export function says(page, selector, text) {
  return eventually(() => page.locator(selector).innerText(), text);
}
