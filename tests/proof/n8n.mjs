// Shared code of the scripts in this folder: proofs by the real binary, and the content of an n8n before and after.
import { execFile, execFileSync, spawn } from 'node:child_process';
import http from 'node:http';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { api, answers, reached, PORT } from '../../fixtures/scenarios/n8n.mjs';

const BINARY = process.env.TEST_BINARY || 'target/debug/n8n-lens';
const BASE = process.env.N8N_URL || 'http://127.0.0.1:5678';

// The services that the workflows call.
answers.set('/echo', (query) => ({ path: `echo ${query}`, i: Number(query.get('i')) || 0, even: Number(query.get('i')) % 2 === 0 }));
answers.set('/odd', { text: 'a\u0000\u001b\u2028"\\', half: 'x' });
answers.set('/numbers', [{ small: 1e-7, big: 12345678901234567000, zero: -0.5, many: 0.1 }, { small: 3, big: -1 }]);
answers.set('/wide', Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])));
answers.set('/keys', { z: 1, 7: 'seven', 3: { 1: 'one' } });
answers.set('/file', { some: 'file' });
answers.set('/large', (query) => ({ text: 'é"\\\n\u001b😀'.repeat(Number(query.get('kb')) * 90) }));
answers.set('/many', (query) => Array.from({ length: Number(query.get('kb')) }, (_, i) => ({ id: i, text: `order ${i} "quoted" é `.repeat(45) })));

/** Runs the binary; returns its answer, its standard error, its exit code and how long it took. */
export function run(command, options = {}) {
  const begun = Date.now(), env = { ...process.env, N8N_URL: BASE };
  return new Promise((resolve) => {
    const child = execFile(BINARY, command, { env, maxBuffer: 1 << 26, ...options }, (error, stdout, stderr) => {
      let answer;
      try { answer = JSON.parse(stdout); } catch { answer = undefined; }
      resolve({ answer, data: answer?.data, error: stderr.trim(), code: error?.code ?? 0, seconds: (Date.now() - begun) / 1000 });
    });
    options.started?.(child);
  });
}
export const prove = (id, ...more) => run(['prove', String(id), '--json', '--locale', 'en', ...more]);

/** Calls a webhook once n8n has registered it, and waits for the end of the execution. */
export async function call(id, hook, body = {}) {
  const before = Number((await newest(id))?.id ?? 0);
  for (let tries = 0; ; tries++) {
    const response = await fetch(`${BASE}/webhook/${hook}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status !== 404 || tries > 40 || !/not registered/.test(text)) break;
    await sleep(250);
  }
  for (let tries = 0; tries < 600; tries++) {
    const one = await newest(id);
    if (one && Number(one.id) > before && !['running', 'new', 'waiting'].includes(one.status)) return one;
    await sleep(100);
  }
  throw new Error(`${hook}: no execution`);
}
export const newest = async (id) => (await api('GET', `/executions?workflowId=${id}&limit=1`)).data[0];

/** All entries of a list. */
export async function all(url) {
  const entries = [];
  for (let cursor = ''; ;) {
    const page = await api('GET', `${url}${url.includes('?') ? '&' : '?'}limit=250${cursor && `&cursor=${cursor}`}`);
    entries.push(...page.data);
    if (!(cursor = page.nextCursor)) return entries;
  }
}
export const copies = async () => (await all('/workflows')).filter(({ name }) => name.startsWith('n8n-lens replay'));

/** How often the services were called while `work` ran. */
export async function calls(work) {
  const before = reached.times;
  const result = await work();
  return [result, reached.times - before];
}

/** How many rows each table of n8n's SQLite database has, if N8N_DATABASE names it. */
export function rows() {
  const file = process.env.N8N_DATABASE, ask = (sql) => execFileSync('sqlite3', ['-readonly', '-cmd', '.timeout 20000', file, sql]).toString().trim().split('\n');
  if (!file) return {};
  const names = ask("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'");
  return Object.fromEntries(ask(names.map((name) => `select '${name}', count(*) from "${name}"`).join(' union all ')).map((row) => row.split('|')));
}
/** What n8n has: workflows, executions, and the rows of its tables. */
export const content = async () => ({ workflows: (await all('/workflows')).length, executions: (await all('/executions')).length, ...rows() });
/** What differs between two contents, `name before > after`, except in what n8n keeps of every publication and production execution. */
export const difference = (before, after) => Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name] && !/statistics|insights|publication_outbox/.test(name)).map((name) => `${name} ${before[name]} > ${after[name]}`);

/** A proxy before n8n that notes each request. `fault` may return a status to answer with, `lost` to end the connection without the
 * answer, or another URL to pass on. */
export async function proxy(fault = () => undefined) {
  const seen = [], server = http.createServer((request, response) => {
    const url = new URL(request.url, BASE), own = fault(request.method, url), one = { method: request.method, path: url.pathname, begun: Date.now(), sent: 0, read: 0 };
    seen.push(one);
    request.on('data', (piece) => { one.sent += piece.length; });
    if (typeof own === 'number') {
      request.resume();
      response.writeHead(one.status = own, { 'content-type': 'application/json' }).end(JSON.stringify({ message: 'Forbidden' }));
      return;
    }
    const on = http.request(own instanceof URL ? own : url, { method: request.method, headers: request.headers, agent: false }, (back) => {
      one.status = back.statusCode; one.first = Date.now();
      if (own === 'lost') { back.resume(); request.socket.destroy(); return; }
      response.writeHead(back.statusCode, back.headers);
      back.on('data', (piece) => { one.read += piece.length; });
      back.on('end', () => { one.ended = Date.now(); });
      back.pipe(response);
    });
    on.on('error', () => response.destroy());
    response.on('close', () => on.destroy());
    request.pipe(on);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { seen, env: { ...process.env, N8N_URL: `http://127.0.0.1:${server.address().port}` }, close: () => { server.close(); server.closeAllConnections(); } };
}

/** A client over stdio: `ask` returns the answer of a tool, `cancel` cancels all calls, `close` ends the connection. */
export async function client(more = [], env = {}) {
  const child = spawn(BINARY, ['--toolsets', 'executions,workflows,proof', '--locale', 'en', ...more], { env: { ...process.env, N8N_URL: BASE, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const open = new Map(), write = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`), ended = new Promise((resolve) => child.once('exit', resolve));
  let last = 0;
  readline.createInterface({ input: child.stdout }).on('line', (line) => { const { id, ...answer } = JSON.parse(line); open.get(id)?.(answer); open.delete(id); });
  const send = (method, params) => new Promise((resolve) => { open.set(++last, resolve); write({ id: last, method, params }); });
  await send('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'proof', version: '1' } });
  write({ method: 'notifications/initialized' });
  return {
    list: async () => (await send('tools/list', {})).result.tools.map(({ name }) => name),
    ask: async (name, args) => { const { result, error } = await send('tools/call', { name, arguments: args }); return { text: error?.message ?? result.content[0].text, failed: Boolean(error ?? result.isError) }; },
    cancel: () => { for (const id of open.keys()) write({ method: 'notifications/cancelled', params: { requestId: id, reason: 'no longer needed' } }); },
    close: () => { child.stdin.end(); return ended; },
  };
}
export { PORT };
