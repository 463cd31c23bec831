// The file that redirects the browser to the page: VIEW_URL is its own address, file://….

import assert from 'node:assert/strict';
import { check, hash, ready } from './browser.mjs';

check('the file leads to the page, which is still there after a reload', '', async (page) => {
  assert.match(page.url(), /^http:\/\/127\.0\.0\.1:\d+\/view\/#\/1001\?node=Create\+invoices$/);
  await page.reload();
  await ready(page);
  assert.equal(await hash(page), '#/1001?node=Create invoices');
});
