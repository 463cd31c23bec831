// The page of a saved execution, 1001.json of bodies.mjs, with the variables of browser.mjs.

import assert from 'node:assert/strict';
import { PAGE, arrives, check, ready, text } from './browser.mjs';

check('it opens with its execution, and offers no list and no comparison', '', async (page) => {
  await arrives(page, /^#\/0\?node=Create invoices$/);
  assert.match(await page.locator('.error-box').innerText(), /Create invoices: The service is receiving too many requests/);
  assert.equal(await page.locator('header a.brand').count(), 0);
  assert.doesNotMatch(await text(page), /Compare/);
  assert.match(await page.locator('.facts').innerText(), /#1001/);
  assert.doesNotMatch(`${await page.locator('body').innerText()} ${await page.title()}`, /#0/);
});

check('items, search, fields and trace come from the file', '#/0?node=Get+orders&item=40000', async (page) => {
  assert.match(await page.locator('.one').innerText(), /ORD-140000/);
  await page.goto(`${PAGE}#/0?view=search&q=ORD-131337`);
  await ready(page);
  assert.match(await text(page), /ORD-131337/);
  await page.goto(`${PAGE}#/0?node=Add+VAT&tab=fields`);
  await ready(page);
  assert.match(await text(page), /missing/i);
  await page.goto(`${PAGE}#/0?node=Add+VAT&item=17&tab=trace`);
  await ready(page);
  assert.match(await text(page), /Get orders/);
});
