// Pictures of the page for the README, into docs/images. Run by scripts/screenshots.

import { launch, URL_OF_SERVER } from './browser.mjs';

const IMAGES = new URL('../../docs/images/', import.meta.url).pathname;

const browser = await launch();
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ viewport: { width: 1240, height: 800 }, colorScheme });
  await page.goto(`${URL_OF_SERVER}/?board=232333213211321112223113`);
  await page.getByLabel('Show hints').check();
  await page.getByRole('button', { name: 'Solve' }).click();
  for (let step = 0; step < 3; step += 1) await page.getByRole('button', { name: 'Step' }).click();
  await page.getByText('None of your 3 moves').waitFor();
  await page.locator('#stage svg:not(.turning)').waitFor();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${IMAGES}page-${colorScheme}.png` });
}
await browser.close();
