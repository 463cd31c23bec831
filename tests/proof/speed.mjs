#!/usr/bin/env node
// How long a proof takes for an execution whose recorded items have this many megabytes (default: 36), compared with the execution itself.
//
// usage: like fidelity.mjs, node speed.mjs [megabytes]
import { make, create, remove, workflow, webhook, code, set, get } from '../../fixtures/scenarios/n8n.mjs';
import { call, copies, prove, PORT } from './n8n.mjs';

const megabytes = Number(process.argv[2] ?? 36);
process.argv.splice(2);
await make({ async speed() {
  const items = Math.round(megabytes * 1e6 / 1250), hook = `proof-speed-${megabytes}`;
  const load = { ...get('Load', ''), parameters: { url: `http://127.0.0.1:${PORT}/many?kb=${items}`, options: { timeout: 300000 } } };
  const nodes = [webhook(hook), load, set('Mark', [['marked', 'true']]), code('Check', "for (const { json } of $input.all()) if (json.id === 17) throw new Error('17 is bad'); return [];")];
  const made = workflow(`proof speed ${megabytes}`, nodes, ['Webhook', 'Load', 'Mark', 'Check']);
  const id = await create(made);
  const one = await call(id, hook);
  const took = (new Date(one.stoppedAt) - new Date(one.startedAt)) / 1000;
  for (const more of [['--check']]) {
    const { data, error, seconds } = await prove(one.id, '--timeout', '600', ...more);
    console.log(`${items} items: the execution ${one.id} took ${took.toFixed(1)} s, its proof ${seconds.toFixed(1)} s (${(seconds / took).toFixed(1)} times): ${data?.verdict ?? error}`, JSON.stringify(data?.differs ?? ''));
  }
  if (!process.env.KEEP) await remove(made.name);
  console.log(`copies left: ${(await copies()).length}`);
} });
