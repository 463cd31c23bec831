// Shared code of the scripts in this folder: proofs by the real binary, and the content of an n8n before and after.
import { execFile } from 'node:child_process';
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
export { PORT };
