// Measures n8n's own editor on an execution, to compare with figures.mjs: how long until its nodes show how they ended, and the memory of
// the browser's tab. N8N_URL, N8N_EMAIL and N8N_PASSWORD of a user, N8N_WORKFLOW and N8N_EXECUTION; VIEW_MODULES and CHROMIUM as in
// browser.mjs.

import { createRequire } from 'node:module';

const require = createRequire(process.env.VIEW_MODULES ? `${process.env.VIEW_MODULES}/` : import.meta.url);
const { chromium } = require('playwright-core');
const { N8N_URL, N8N_EMAIL, N8N_PASSWORD, N8N_WORKFLOW, N8N_EXECUTION } = process.env;
const PATIENCE = 300_000;
const ENDED = '[data-test-id^="canvas-node-status-"]';

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const login = await context.request.post(`${N8N_URL}/rest/login`, { data: { emailOrLdapLoginId: N8N_EMAIL, password: N8N_PASSWORD } });
if (!login.ok()) throw new Error(`login: ${login.status()}`);
const page = await context.newPage();
let crashed = false;
page.on('crash', () => { crashed = true; });
const start = performance.now();
await page.goto(`${N8N_URL}/workflow/${N8N_WORKFLOW}/executions/${N8N_EXECUTION}`);
let ended = false;
while (!ended && !crashed && performance.now() - start < PATIENCE) {
  for (const frame of page.frames()) {
    ended ||= await frame.locator(ENDED).count().catch(() => 0) > 0;
  }
  await new Promise((resolve) => { setTimeout(resolve, 50); });
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.log(crashed ? `the tab crashed after ${seconds} s` : ended ? `nodes with their status after ${seconds} s` : `nothing after ${seconds} s`);
if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/editor.png` }).catch(() => {});
if (ended) {
  const session = await context.newCDPSession(page);
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  console.log(`JavaScript heap: ${(usedSize / 1e6).toFixed(0)} MB`);
}
await browser.close();
