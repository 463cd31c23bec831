// The page inside a second MCP client, made of ext-apps' own host code (`AppBridge`) and the TypeScript SDK, as in host.mjs:
// `VIEW_MCP=http://127.0.0.1:PORT/mcp node --test bridge.mjs`, with the variables of browser.mjs. Unlike in app.mjs, a sandbox of another
// origin stands between the client and the page, and writes the page into a frame that shares its origin.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { SHOTS, check, require } from './browser.mjs';

const FAILING = '1001';
/** How the SDK negotiates the revision of the protocol, and the revision that results. */
const REVISIONS = { legacy: '2025-11-25', auto: '2026-07-28' };
const CLIENT = new URL(process.env.VIEW_URL).origin;
const SANDBOX = 'https://sandbox.test';
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'";

const { outputFiles: [{ text: HOST }] } = require('esbuild').buildSync({
  entryPoints: [join(import.meta.dirname, 'host.mjs')],
  nodePaths: require.resolve.paths('esbuild'),
  bundle: true,
  format: 'esm',
  write: false,
});

const CLIENT_PAGE = `<!doctype html><html lang="en"><title>A client</title><link rel="icon" href="data:,"><body style="margin: 0">
  <iframe title="A page" sandbox="allow-scripts allow-same-origin" style="width: 100%; border: 0"></iframe>
  <script type="module" src="/host.js"></script></body></html>`;

const SANDBOX_PAGE = `<!doctype html><html lang="en"><title>A sandbox</title><body style="margin: 0">
  <iframe title="n8n-lens" sandbox="allow-scripts allow-same-origin" style="width: 100%; height: 100vh; border: 0; display: block"></iframe><script>
  const inner = document.querySelector('iframe');
  const load = ({ html, permissions }) => {
    if (permissions?.clipboardWrite) inner.allow = 'clipboard-write';
    inner.contentDocument.open();
    inner.contentDocument.write(html);
    inner.contentDocument.close();
  };
  addEventListener('message', ({ source, origin, data }) => {
    if (source === inner.contentWindow) parent.postMessage(data, '${CLIENT}');
    else if (source !== parent || origin !== '${CLIENT}') return;
    else if (data.method === 'ui/notifications/sandbox-resource-ready') load(data.params);
    else inner.contentWindow.postMessage(data, '*');
  });
  parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '${CLIENT}');
</script></body></html>`;

/** What Chromium says about the two permissions of a sandbox that MCP Apps demands. */
const DEMANDED = /both allow-scripts and allow-same-origin/;

/** A test with the client in a browser; `sent` records its requests to the server. */
function withClient(name, options, run) {
  const sent = [];
  const prepare = async (page) => {
    const serve = (url, contentType, body, headers) => page.route(url, (route) => route.fulfill({ contentType, body, headers }));
    await serve(`${CLIENT}/`, 'text/html', CLIENT_PAGE);
    await serve(`${CLIENT}/host.js`, 'text/javascript', HOST);
    await serve(`${SANDBOX}/`, 'text/html', SANDBOX_PAGE, { 'content-security-policy': POLICY });
    await page.route(`${CLIENT}/mcp`, async (route) => {
      const request = route.request();
      // The stream for what the server says unasked: it stays silent.
      if (request.method() === 'GET') return;
      sent.push({ headers: request.headers(), ...request.postDataJSON() });
      const { origin, ...headers } = request.headers();
      return route.fulfill({ response: await route.fetch({ url: process.env.VIEW_MCP, headers }) });
    });
  };
  check(name, '', (page) => run(page, sent), { prepare, complaints: DEMANDED, ...options });
}

/** A test of the page inside the client that has called a tool. */
function inside(name, { tool, given, mode = 'auto', context = {}, ...options }, run) {
  withClient(name, options, async (page, sent) => {
    const hostContext = { theme: 'light', locale: 'en-GB', displayMode: 'inline', availableDisplayModes: ['inline', 'fullscreen'], ...context };
    await page.evaluate((call) => globalThis.show(call), { tool, given, mode, sandbox: `${SANDBOX}/`, context: hostContext });
    const frame = page.frameLocator('iframe').frameLocator('iframe');
    await frame.locator('h1').waitFor();
    await frame.locator('.looking').waitFor({ state: 'detached' });
    const asked = () => page.evaluate(() => globalThis.asked);
    await run(frame, { page, sent, asked });
  });
}

for (const [mode, revision] of Object.entries(REVISIONS)) {
  inside(`${revision}: a failing execution opens with its cause, and a click calls a tool through the client`, { tool: 'get_execution', given: { id: FAILING }, mode }, async (frame, { sent, asked }) => {
    const called = () => sent.filter(({ method }) => method === 'tools/call').map(({ params }) => params);
    assert.match(await frame.locator('.error-box').innerText(), /Create invoices: The service is receiving too many requests/);
    assert.match(await frame.locator('.node-view h2').innerText(), /Create invoices/);
    assert.equal(sent.at(-1).headers['mcp-protocol-version'], revision);
    const before = called().length;
    await frame.getByRole('link', { name: 'Add VAT' }).first().click();
    await frame.locator('.node-view h2', { hasText: 'Add VAT' }).waitFor();
    await frame.locator('.side[aria-label=Output] .items tbody tr').first().waitFor();
    const [{ name, _meta: meta }] = called().slice(before);
    assert.equal(name, 'view_node');
    assert.equal(meta['n8n-lens/reader'], 'page');
    assert.deepEqual((await asked()).heights, [720], 'the same height is not requested again');
  });
}

for (const [tool, given, view, shown] of [
  ['describe_execution', { id: FAILING }, 'As it ran', /Create invoices/],
  ['compare_executions', { id: FAILING, with: '1000' }, 'Compare', /#1000/],
]) {
  inside(`${tool} opens its view`, { tool, given }, async (frame) => {
    await frame.locator('.tabs [aria-current]', { hasText: view }).first().waitFor();
    assert.match(await frame.locator('.stage').innerText(), shown);
  });
}

for (const [theme, ground, other, otherGround] of [['light', 'rgb(246, 245, 242)', 'dark', 'rgb(20, 22, 26)'], ['dark', 'rgb(20, 22, 26)', 'light', 'rgb(246, 245, 242)']]) {
  // The system has the other theme: the client's takes precedence.
  inside(`${theme}: the client's theme, also after it changed`, { tool: 'get_execution', given: { id: FAILING }, context: { theme }, colorScheme: other }, async (frame, { page }) => {
    const has = (colour) => frame.locator('html').evaluate((html, wanted) => new Promise((resolve) => {
      const look = () => (getComputedStyle(html).backgroundColor === wanted ? resolve() : setTimeout(look, 10));
      look();
    }), colour);
    await has(ground);
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `bridge-${theme}.png`) });
    await page.evaluate((changed) => globalThis.change({ theme: changed }), other);
    await has(otherGround);
  });
}

inside('what the page asks of the client', { tool: 'get_execution', given: { id: FAILING } }, async (frame, { page, asked }) => {
  await frame.getByRole('button', { name: 'Ask the agent about this' }).click();
  await frame.getByText('Asked', { exact: true }).waitFor();
  await frame.getByRole('link', { name: /Open in n8n/ }).click();
  await frame.getByRole('button', { name: /Full window/ }).click();
  const { messages: [{ role, content: [{ text }] }], links: [link] } = await asked();
  assert.equal(role, 'user');
  assert.match(text, new RegExp(`^Look at execution ${FAILING} of n8n, node "Create invoices"`));
  assert.match(link, /\/workflow\/.+\/executions\/1001$/);
  assert.deepEqual(await page.evaluate(() => globalThis.leave()), {});
});

for (const [mode, revision] of Object.entries(REVISIONS)) {
  withClient(`${revision}: a client that shows no pages is offered the agent's tools, and none of them names a page`, {}, async (page) => {
    const [shown, plain] = await page.evaluate(async (negotiation) => {
      const tools = async (...capabilities) => (await (await globalThis.connect(negotiation, ...capabilities)).listTools()).tools;
      return [await tools(), await tools({})];
    }, mode);
    const names = (tools) => tools.map(({ name }) => name);
    assert.deepEqual(names(plain), names(shown.filter(({ _meta: meta }) => meta?.ui?.visibility?.[0] !== 'app')));
    assert.ok(plain.length < shown.length);
    assert.deepEqual(plain.filter(({ _meta: meta }) => Object.keys(meta ?? {}).some((key) => key.startsWith('ui'))), []);
  });
}
