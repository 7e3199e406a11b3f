// The page behind the gateway of scripts/test-gateway, which strips a prefix and asks for a password.

import { test } from 'node:test';

import { EASY, open, says, URL_OF_SERVER, useBrowser } from './browser.mjs';

useBrowser();

const GUEST = {
  ignoreHTTPSErrors: true,
  httpCredentials: { username: 'someone', password: 'secret' },
};

test('a board is solved below a prefix, and every page leads back to it', async () => {
  const page = await open(`?board=${EASY}`, { ...GUEST, expected: /status of 422/ });
  await page.getByRole('button', { name: 'Solve' }).click();
  await says(page, '#solution-length', '2 moves');
  await page.getByRole('button', { name: 'Run' }).click();
  await says(page, '#answer-body', '{"moves":"AC","length":2,"centre":2}');
  await page.getByText(`curl -s ${URL_OF_SERVER}/solve`).waitFor();

  await page.getByLabel('Seed').fill('x');
  await page.getByRole('button', { name: 'Draw' }).click();
  await page.getByRole('link', { name: 'What that means' }).click();
  await page.waitForURL(`${URL_OF_SERVER}/problems/invalid-request`);
  await page.getByRole('link', { name: 'All problems' }).click();
  await page.waitForURL(`${URL_OF_SERVER}/docs#problems`);
  await page.getByRole('link', { name: 'Play', exact: true }).click();
  await page.locator('#stage svg').waitFor();
});
