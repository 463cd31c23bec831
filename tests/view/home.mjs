// The home of the page in front of n8n's own store: `VIEW_URL=http://127.0.0.1:PORT/view/ node --test home.mjs`, with the variables of
// browser.mjs. The test in main.rs describes the content of the store.

import assert from 'node:assert/strict';
import { PAGE, arrives, changes, check, fitsAlways, ready, text } from './browser.mjs';

const VIEWS = { home: '#/', found: '#/?q=order+4711', trend: '#/?workflow=orders&period=1h' };

check('failures in groups: how many, first, last, last good, and the edit between', '#/', async (page) => {
  const groups = page.locator('.groups > li');
  assert.equal(await groups.count(), 2);
  const first = await groups.first().innerText();
  assert.match(first, /12 ×\s+Ship: The service was not able to process your request NodeApiError 500 · 12 variants/);
  assert.match(first, /first #\d+ .*\nlast #\d+ .*\nlast good run before #\d+ .*\nworkflow edited in between\nno good run since/);
  await groups.first().getByRole('link', { name: 'workflow edited in between' }).click();
  await arrives(page, /view=compare&with=\d+/);
  await page.goBack();
  await ready(page);
  await groups.nth(1).getByRole('link', { name: 'Invoices' }).click();
  await arrives(page, /workflow=invoices/);
  assert.equal(await groups.count(), 1);
});

check('what is running and waiting, until when, and what ends', '#/', async (page) => {
  const now = page.locator('.now');
  assert.match(await now.innerText(), /Running Invoices #\d+ running for \d/);
  assert.match(await now.innerText(), /Waiting Invoices #\d+ waits until \d+ \w+ 2099/);
  const link = await now.locator('a').first().elementHandle();
  const before = await now.innerText();
  await page.waitForFunction((text) => document.querySelector('.now').innerText !== text, before, { timeout: 5000 });
  assert.ok(await link.evaluate((element) => element.isConnected), 'a click or a selection is not lost');
});

check('what is new replaces the list once it is there', '#/', async (page) => {
  const rows = page.locator('.list tbody tr');
  const before = await rows.count();
  await page.evaluate(() => {
    globalThis.least = Infinity;
    const body = document.querySelector('.list tbody');
    new MutationObserver(() => { globalThis.least = Math.min(globalThis.least, body.rows.length); }).observe(body, { childList: true });
  });
  await rows.nth(3).locator('a.cover').focus();
  const href = await page.evaluate(() => document.activeElement.getAttribute('href'));
  const again = page.waitForResponse((response) => response.request().postData()?.includes('"limit":50'));
  await page.getByRole('button', { name: 'Refresh' }).evaluate((button) => button.click());
  await again;
  await page.waitForFunction(() => globalThis.least < Infinity);
  assert.equal(await page.evaluate(() => globalThis.least), before);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), href);
});

check('a search over all executions, from the slash to the item', '#/', async (page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('order 4711');
  await page.keyboard.press('Enter');
  await arrives(page, /q=order 4711/);
  assert.match(await page.locator('.found-all').innerText(), /Found in 1 of 203 executions .*nothing is left to search/s);
  assert.equal(await page.locator('.groups').isVisible(), false);
  await page.locator('.found-all tbody a').click();
  await arrives(page, /view=search&q=order 4711/);
  assert.match(await page.locator('.hits').innerText(), /the customer asks about order 4711/);
  await page.goBack();
  await ready(page);
  await page.keyboard.press('Escape');
  await arrives(page, /^#\/$/);
  assert.equal(await page.locator('.groups').isVisible(), true);
});

check('nothing was found, and how many were searched', '#/?q=no+such+text', async (page) => {
  assert.match(await page.locator('.found-all').innerText(), /Found in 0 of \d+ executions/);
});

check('the trend of a workflow: what moved, and eight periods as lines', '#/', async (page) => {
  await page.locator('.trends').getByRole('link', { name: 'Orders' }).click();
  await arrives(page, /workflow=orders/);
  await page.locator('.trends').getByRole('link', { name: '1 hour' }).click();
  await arrives(page, /period=1h/);
  const said = await page.locator('.trends').innerText();
  assert.match(said, /Price is slower: 900ms · before 300ms · since #\d+/);
  assert.match(said, /Whole workflow/);
  assert.equal(await page.locator('.trends tbody tr').count(), 4);
  assert.ok(await page.locator('.trends .line').count() >= 10);
});

check('a node that stopped: how often it ran, and when for the last time', '#/?workflow=orders&period=1h', async (page) => {
  assert.match(await page.locator('.trends .found').innerText(), /^Price no longer runs · before 210 runs · last in #120 /);
}, {
  prepare: (page) => changes(page, 'view_trend', (answer) => ({
    ...answer, moved: [{ node: 'Price', what: 'stopped', before: { runs: 210 }, after: { runs: 0 }, since: { id: '120', at: '2026-11-20T10:00:00.000Z' } }],
  })),
  isReady: true,
});

check('failures until a day: those of the days before', '#/?before=2026-11-15', async (page) => {
  await page.locator('.failures', { hasText: /No failures · 7 days before 1[56] Nov/ }).waitFor();
}, { prepare: () => {} });

check('Japanese', '#/', async (page) => {
  assert.match(await text(page), /失敗[\s\S]*その間に編集あり/);
}, { locale: 'ja-JP' });

for (const [name, address] of Object.entries(VIEWS)) {
  check(`${name}, light and dark, wide and narrow: accessible, and nothing sticks out`, address, async (page) => {
    await fitsAlways(page, name);
    await page.reload();
    await ready(page);
  });
}
