// A real Chromium for the tests of the page. VIEW_URL is its address, VIEW_COOKIE its cookie (`name=value`), CHROMIUM the browser,
// SHOTS a folder for pictures, VIEW_MODULES where playwright-core and axe-core are installed, ONLY a pattern of the checks that run.
//
// A console error or a report of the content security policy fails every test.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const modules = process.env.VIEW_MODULES ? `${process.env.VIEW_MODULES}/` : import.meta.url;
export const require = createRequire(modules);
const { chromium } = require('playwright-core');
export const AXE = require.resolve('axe-core/axe.min.js');
const AXE_SOURCE = readFileSync(AXE, 'utf8');

export const PAGE = process.env.VIEW_URL;
export const SHOTS = process.env.SHOTS;
const ONLY = process.env.ONLY && new RegExp(process.env.ONLY);
/** How long something is waited for, in ms: a limit for what never comes, not for how fast the page is. */
const PATIENCE = 90_000;
export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 400, height: 800 };

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
});
after(() => browser?.close());

/**
 * A test on a fresh page at an address; it fails if the page reports an error, but for those that `complaints` matches. `prepare` is
 * called before the page is opened, which is then only waited for if it `isReady`.
 */
export function check(name, address, run, options = {}) {
  if (ONLY && !ONLY.test(name)) return;
  test(name, { timeout: options.timeout ?? 300_000 }, async () => {
    const context = await browser.newContext({ viewport: WIDE, locale: 'en-GB', ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const complaints = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.stack));
    await page.exposeFunction('complain', (text) => complaints.push(text));
    await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) =>
      globalThis.complain(`${event.violatedDirective}: ${event.blockedURI}`)));
    // Registered before the page's own listener, and called in the same task: once it has the address, the page has it, too.
    await page.addInitScript(() => addEventListener('hashchange', () => { globalThis.arrivedAt = location.hash; }));
    try {
      await enter(context);
      if (options.prepare) await options.prepare(page);
      await page.goto(PAGE + address);
      if (!options.prepare || options.isReady) await ready(page);
      await run(page, context);
      assert.deepEqual(complaints.filter((text) => !options.complaints?.test(text)), []);
    } finally {
      // What a route still fetches would otherwise fail after its test: node then exits with 1 although every test passed.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    }
  });
}

/** Gives a browser the cookie of the page. */
async function enter(context) {
  if (!process.env.VIEW_COOKIE) return;
  const [name, value] = process.env.VIEW_COOKIE.split('=');
  await context.addCookies([{ name, value, url: PAGE }]);
}

/** Waits until the page shows the content of its address, and nothing is loading. */
export async function ready(page) {
  await page.waitForSelector('h1');
  await page.waitForFunction(() => {
    const list = document.querySelector('.list');
    return (globalThis.arrivedAt ?? location.hash) === location.hash
      && !document.querySelector('[aria-busy]') && !document.querySelector('td.wait') && (!list?.checkVisibility() || list.tBodies[0].rows.length > 0);
  });
}

/** Waits until everything that loads after the first picture is there, too. */
export async function settled(page) {
  await ready(page);
  await page.waitForSelector('.looking', { state: 'detached' });
}

/** The state in the address, readable. */
export const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash.replaceAll('+', ' ')));
/** The text of the page. */
export const text = (page) => page.locator('main').innerText();

/** Waits until the address matches and the page shows its content. */
export async function arrives(page, pattern) {
  await page.waitForFunction((source) => new RegExp(source).test(decodeURIComponent(location.hash.replaceAll('+', ' '))), pattern.source);
  await ready(page);
}

/** Lets the calls of a tool be answered with this response. */
export async function answers(page, tool, response) {
  await page.route('**/view/call', (route) => (route.request().postData().includes(`"${tool}"`)
    ? route.fulfill({ contentType: 'application/x-ndjson', ...response }) : route.fallback()));
}

/** Changes what a tool returns. */
export async function changes(page, tool, change) {
  await page.route('**/view/call', async (route) => {
    if (!route.request().postData().includes(`"${tool}"`)) return route.fallback();
    const lines = (await (await route.fetch()).text()).trim().split('\n');
    const { result } = JSON.parse(lines.at(-1));
    return route.fulfill({ contentType: 'application/x-ndjson', body: `${JSON.stringify({ result: change(result) })}\n` });
  });
}

/** Is accessible, and nothing sticks out, light and dark, wide and narrow; `name` names the pictures. */
export async function fitsAlways(page, name) {
  for (const [how, colorScheme, viewport] of [['light', 'light', WIDE], ['dark', 'dark', WIDE], ['narrow', 'light', NARROW]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await fits(page, `${name}-${how}`);
  }
}

async function fits(page, picture) {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${picture}.png`), fullPage: picture.endsWith('narrow') });
  // From the file into the page's world, since its policy allows no script.
  const violations = await page.evaluate(`${AXE_SOURCE}; axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target, failureSummary }) => target + ' ' + failureSummary).join('; ')))`);
  assert.deepEqual(violations, [], picture);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(beyond <= 0, `${picture}: ${beyond} pixels stick out`);
}
