#!/usr/bin/env node
// How long proofs take for executions whose recorded items have these megabytes (default: none to speak of, 1 and 36), compared with the
// execution itself, what n8n spends the time on, and how much memory the proofs need.
//
// usage: like fidelity.mjs, node speed.mjs [megabytes ...]    N8N_STORE: n8n's folder, from which executions are then read
import fs from 'node:fs';
import { make, api, create, remove, workflow, webhook, code, set, get } from '../../fixtures/scenarios/n8n.mjs';
import { call, copies, proxy, run, PORT } from './n8n.mjs';

const asked = process.argv.splice(2).map(Number), store = process.env.N8N_STORE ? ['--store', process.env.N8N_STORE] : [];
const seconds = (ms) => (ms / 1000).toFixed(1);
/** What the requests of a proof were for, and how long n8n took for them; two copies run at once. */
function spent(seen, id, took) {
  const kinds = new Map(), add = (kind, from, to) => kinds.set(kind, [...(kinds.get(kind) ?? []), [from, to]]);
  for (const { method, path, begun, ended = begun } of seen) {
    if (path.endsWith(`/executions/${id}`)) add('reading the execution', begun, ended);
    else if (method === 'GET' && /\/executions\/\d+$/.test(path)) add('reading the copies', begun, ended);
    else if (path.startsWith('/webhook/') || (method === 'GET' && path.endsWith('/executions'))) add('running them', begun, ended);
    else add('the rest', begun, ended);
  }
  // The time in which a copy runs is that from its first poll to its last.
  const sum = (kind, spans) => (kind === 'running them' ? Math.max(...spans.map(([, to]) => to)) - Math.min(...spans.map(([from]) => from)) : spans.reduce((all, [from, to]) => all + to - from, 0));
  return [...kinds].map(([kind, spans]) => `${kind} ${seconds(sum(kind, spans))} s${kind.startsWith('reading') ? ` (${spans.length})` : ''}`).join(', ') + `, of ${took.toFixed(1)} s`;
}

await make({ async speed() {
  for (const megabytes of asked.length ? asked : [0, 1, 36]) {
    const items = Math.max(10, Math.round(megabytes * 1e6 / 1250)), hook = `proof-speed-${megabytes}`;
    const load = { ...get('Load', ''), parameters: { url: `http://127.0.0.1:${PORT}/many?kb=${items}`, options: { timeout: 300000 } } };
    const check = code('Check', "for (const { json } of $input.all()) if (json.id === 7) throw new Error('7 is bad'); return [];");
    const made = workflow(`proof speed ${megabytes}`, [webhook(hook), load, set('Mark', [['marked', 'true']]), check], ['Webhook', 'Load', 'Mark', 'Check']);
    const id = await create(structuredClone(made)), begun = Date.now(), one = await call(id, hook), listed = (Date.now() - begun) / 1000;
    const took = (new Date(one.stoppedAt) - new Date(one.startedAt)) / 1000;
    console.log(`${megabytes} MB, ${items} items: the execution ${one.id} took ${took.toFixed(1)} s, and ${listed.toFixed(1)} s until n8n had saved it`);
    check.parameters.jsCode = 'return [{ json: { items: $input.all().length } }];';
    await api('PUT', `/workflows/${id}?publishIfActive=false`, made);
    for (const more of [['--check', ...store], ['--good', '0', ...store]]) {
      const between = await proxy();
      let peak = 0, timer;
      const started = (child) => { timer = setInterval(() => { try { peak = Math.max(peak, Number(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1] ?? 0)); } catch { /* it has ended */ } }, 5); };
      const proof = await run(['prove', one.id, '--json', '--locale', 'en', '--timeout', '600', ...more], { env: between.env, started });
      clearInterval(timer); between.close();
      console.log(`  ${more[0] === '--check' ? 'one copy' : 'control and change'}: ${proof.data?.verdict ?? proof.error}, ${proof.seconds.toFixed(1)} s (${(proof.seconds / took).toFixed(1)} times the execution, ${(proof.seconds / listed).toFixed(1)} times until it was saved), peak ${peak} KB\n    ${spent(between.seen, one.id, proof.seconds)}`);
    }
    await remove(made.name);
  }
  console.log(`copies left: ${(await copies()).length}`);
} });
