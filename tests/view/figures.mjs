// Measures the page in a real Chromium: `VIEW_URL=http://127.0.0.1:PORT/view/ VIEW_ID=1234 node figures.mjs`.
// VIEW_MODULES, VIEW_COOKIE and CHROMIUM as in page.mjs. Each time is the median of RUNS fresh pages.

import { createRequire } from 'node:module';

const require = createRequire(process.env.VIEW_MODULES ? `${process.env.VIEW_MODULES}/` : import.meta.url);
const { chromium } = require('playwright-core');
const PAGE = process.env.VIEW_URL;
const ADDRESS = `${PAGE}#/${process.env.VIEW_ID}`;
const RUNS = 5;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
await enter(context);

async function enter(browser) {
  if (!process.env.VIEW_COOKIE) return;
  const [name, value] = process.env.VIEW_COOKIE.split('=');
  await browser.addCookies([{ name, value, url: PAGE }]);
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const show = (what, value) => console.log(`${what.padEnd(52)} ${value}`);

/** A new page with the first useful picture: head, nodes and waterfall; and the milliseconds until then. */
async function open() {
  const page = await context.newPage();
  const start = performance.now();
  await page.goto(ADDRESS, { waitUntil: 'commit' });
  await page.waitForFunction(() => document.querySelector('.head') && document.querySelector('.nodes tbody tr') && document.querySelector('.overlay canvas')?.width > 300);
  return { page, ms: performance.now() - start };
}

const [pictures, rows] = [[], []];
for (let i = 0; i < RUNS; i += 1) {
  const { page, ms } = await open();
  pictures.push(ms);
  const largest = page.locator('.nodes tbody tr').nth(await page.locator('.nodes tbody tr').count() > 1 ? 1 : 0).locator('a.cover');
  const start = performance.now();
  await largest.click();
  await page.waitForFunction(() => document.querySelector('.items tbody td:not(.wait)'));
  rows.push(performance.now() - start);
  await page.close();
}
show('address to first useful picture, ms', median(pictures).toFixed(0));
show('click on the second node to its first rows, ms', median(rows).toFixed(0));

const { page } = await open();
const heap = async () => {
  const session = await context.newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return `${(usedSize / 1e6).toFixed(1)}`;
};
show('JavaScript heap after the first picture, MB', await heap());
const nodes = await page.locator('.nodes tbody tr').count();
for (let i = 0; i < nodes; i += 1) {
  await page.keyboard.press('j');
  await page.waitForTimeout(50);
  await page.waitForFunction(() => !document.querySelector('[aria-busy]'), null, { timeout: 120_000 });
}
show(`JavaScript heap after walking through ${nodes} nodes, MB`, await heap());

await page.keyboard.press('Escape');
const rate = await page.evaluate(() => new Promise((done) => {
  const canvas = document.querySelector('.overlay canvas');
  const { left, top } = canvas.getBoundingClientRect();
  const times = [];
  const frame = (time) => {
    times.push(time);
    const pan = times.length % 120 >= 60;
    canvas.dispatchEvent(new WheelEvent('wheel', {
      deltaY: pan ? 0 : times.length % 60 < 30 ? -60 : 60, deltaX: pan ? (times.length % 60 < 30 ? 40 : -40) : 0,
      ctrlKey: !pan, clientX: left + 200, clientY: top + 60, bubbles: true, cancelable: true,
    }));
    if (times.length < 360) requestAnimationFrame(frame);
    else done((1000 * (times.length - 1)) / (times.at(-1) - times[0]));
  };
  requestAnimationFrame(frame);
}));
show('zoom and pan of the waterfall, frames a second', rate.toFixed(1));
await browser.close();
