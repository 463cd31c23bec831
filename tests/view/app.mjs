// The page inside an MCP client: `VIEW_MCP=http://127.0.0.1:PORT/mcp node --test app.mjs`, with the variables of browser.mjs. The client is
// as strict as the specification of MCP Apps (2026-01-26) allows: a frame without its own origin, and the policy for pages that
// name no domains.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { AXE, NARROW, SHOTS, WIDE, check } from './browser.mjs';

const FAILING = '1001';
const URI = 'ui://n8n-lens/execution';
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'self'";

const HOST = `<!doctype html><html lang="en"><title>A client</title><body><script>
  const frame = document.createElement('iframe');
  frame.title = 'n8n-lens';
  frame.style = 'width: 100%; height: 720px; border: 0';
  frame.setAttribute('sandbox', 'allow-scripts');
  addEventListener('message', async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    for (const message of JSON.parse(await fromApp(JSON.stringify(data)))) source.postMessage(message, '*');
  });
  globalThis.tell = (method, params) => frame.contentWindow.postMessage({ jsonrpc: '2.0', method, params }, '*');
  appDocument().then((html) => { frame.srcdoc = html; document.body.append(frame); });
</script></body></html>`;

/** A request to the server, as sent by a client of 2026-07-28 that shows pages. */
async function rpc(method, params) {
  const meta = {
    ...params._meta,
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } },
  };
  const name = params.name ?? params.uri;
  const response = await fetch(process.env.VIEW_MCP, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
  const text = await response.text();
  const message = text.split('\n').map((line) => line.replace(/^data: /, '')).filter((line) => line.startsWith('{')).at(-1);
  return JSON.parse(message);
}

/** A test of the page inside a client that has called a tool; `host` records the page's requests to the client. */
function inside(name, { tool, given, context = {}, ...options }, run) {
  const host = { calls: [], asked: [], opened: [], modes: [], sizes: [] };
  const prepare = async (page) => {
    await page.route('http://client.test/', (route) => route.fulfill({ contentType: 'text/html', headers: { 'content-security-policy': POLICY }, body: HOST }));
    await page.exposeFunction('appDocument', async () => (await rpc('resources/read', { uri: URI })).result.contents[0].text);
    await page.exposeFunction('fromApp', async (text) => JSON.stringify(await answer(JSON.parse(text))));
  };
  const answer = async ({ id, method, params }) => {
    const result = (value) => [{ jsonrpc: '2.0', id, result: value }];
    const notify = (notification, content) => ({ jsonrpc: '2.0', method: notification, params: content });
    switch (method) {
      case 'ui/initialize': return result({ protocolVersion: '2026-01-26', hostInfo: { name: 'test', version: '0' }, hostCapabilities: { openLinks: {}, serverTools: {} }, hostContext: { theme: 'light', locale: 'en-GB', availableDisplayModes: ['inline', 'fullscreen'], ...context } });
      case 'ui/notifications/initialized': return [notify('ui/notifications/tool-input', { arguments: given }), notify('ui/notifications/tool-result', (await rpc('tools/call', { name: tool, arguments: given })).result)];
      case 'tools/call': host.calls.push(params.name); return [{ ...await rpc('tools/call', params), id }];
      case 'ui/message': host.asked.push(params); return result({});
      case 'ui/open-link': host.opened.push(params.url); return result({});
      case 'ui/request-display-mode': host.modes.push(params.mode); return result({ mode: params.mode });
      case 'ui/notifications/size-changed': host.sizes.push(params.height); return [];
      default: return [];
    }
  };
  check(name, '', async (page) => {
    const frame = page.frameLocator('iframe');
    await frame.locator(options.first ?? 'h1').waitFor();
    await frame.locator('.looking').waitFor({ state: 'detached', timeout: 60_000 });
    await run(frame, host, page);
  }, { prepare, ...options });
}

inside('a failing execution opens with the node that failed, and every link stays inside', { tool: 'get_execution', given: { id: FAILING } }, async (frame, host, page) => {
  assert.match(await frame.locator('.error-box').innerText(), /Create invoices: The service is receiving too many requests/);
  assert.match(await frame.locator('.node-view h2').innerText(), /Create invoices/);
  assert.deepEqual(host.sizes, [720]);
  await frame.getByRole('link', { name: 'Outliers' }).click();
  await frame.locator('.fields, table').first().waitFor();
  await frame.getByRole('button', { name: 'Back', exact: true }).click();
  await frame.locator('.tabs [aria-current]', { hasText: 'Timeline' }).first().waitFor();
  await frame.getByRole('link', { name: /Open in n8n/ }).click();
  assert.match(host.opened[0], /\/workflow\/.+\/executions\/1001$/);
  assert.equal(page.url(), 'http://client.test/');
  const tools = new Set(host.calls);
  assert.ok(tools.has('view_overview') && tools.has('view_node'), [...tools].join());
  const { tools: listed } = (await rpc('tools/list', {})).result;
  for (const tool of listed.filter(({ name }) => tools.has(name))) assert.equal(tool.annotations.readOnlyHint, true, tool.name);
  assert.equal(await frame.getByRole('button', { name: 'Copy link' }).count(), 0);
});

inside('the agent is asked about what is looked at', { tool: 'get_execution', given: { id: FAILING } }, async (frame, host) => {
  await frame.locator('.side[aria-label=Input] .items tbody a').nth(2).evaluate((link) => link.click());
  await frame.locator('.one').waitFor();
  await frame.getByRole('button', { name: 'Ask the agent about this' }).click();
  await frame.getByText('Asked', { exact: true }).waitFor();
  const [{ role, content: [{ text }] }] = host.asked;
  assert.equal(role, 'user');
  assert.equal(text, `Look at execution ${FAILING} of n8n, node "Create invoices", input item 2. What happened there, what caused it, and how can it be fixed?`);
  await frame.getByRole('button', { name: /Full window/ }).click();
  assert.deepEqual(host.modes, ['fullscreen']);
});

for (const [tool, given, view] of [['describe_execution', { id: FAILING }, 'As it ran'], ['compare_executions', { id: FAILING, with: '1000' }, 'Compare']]) {
  inside(`${tool} opens its view`, { tool, given }, async (frame) => {
    await frame.locator('.tabs [aria-current]', { hasText: view }).first().waitFor();
    if (given.with) assert.match(await frame.locator('.stage').innerText(), /#1000/);
  });
}

for (const [theme, ground] of [['light', 'rgb(246, 245, 242)'], ['dark', 'rgb(20, 22, 26)']]) {
  for (const viewport of [WIDE, NARROW]) {
    // The system has the other theme: the client's takes precedence.
    const colorScheme = theme === 'dark' ? 'light' : 'dark';
    inside(`${theme}, ${viewport.width} pixels: the client's theme, and no violations`, { tool: 'get_execution', given: { id: FAILING }, context: { theme }, viewport, colorScheme }, async (frame, host, page) => {
      const colour = () => frame.locator('html').evaluate((html) => getComputedStyle(html).backgroundColor);
      assert.equal(await colour(), ground);
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `app-${theme}-${viewport.width}.png`) });
      await page.frames()[1].addScriptTag({ path: AXE });
      const violations = await frame.locator('html').evaluate(async () => {
        const { violations: found } = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
        return found.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
      });
      assert.deepEqual(violations, []);
      assert.ok(await frame.locator('html').evaluate((html) => html.scrollWidth <= html.clientWidth), 'it fits');
      await page.evaluate(() => globalThis.tell('ui/notifications/host-context-changed', { theme: 'dark' }));
      await frame.locator('html').evaluate(() => new Promise((resolve) => { setTimeout(resolve, 50); }));
      assert.equal(await colour(), 'rgb(20, 22, 26)');
    });
  }
}

inside('the client\'s language and its numbers', { tool: 'get_execution', given: { id: FAILING }, context: { locale: 'ja-JP' }, locale: 'de-DE' }, async (frame) => {
  assert.match(await frame.locator('header').innerText(), /エージェントに質問/);
  assert.match(await frame.locator('.facts').innerText(), /\d,\d{3}/);
});

inside('an execution that is not there: what the tool said, in people\'s words', { tool: 'get_execution', given: { id: '9' }, first: '.notice.failed' }, async (frame) => {
  assert.match(await frame.locator('.notice.failed').innerText(), /9/);
});

inside('a call that names no execution: its error, and no list', { tool: 'get_execution', given: {}, first: '.notice.failed' }, async (frame, host) => {
  assert.match(await frame.locator('.notice.failed').innerText(), /\bid\b/);
  assert.deepEqual([await frame.locator('.list').count(), host.calls], [0, []]);
});
