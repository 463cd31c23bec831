#!/usr/bin/env node
// A proof that is killed, terminated or stopped at any moment leaves nothing behind: workflows, executions and webhooks of n8n are as
// before, at the latest after the next proof.
//
// usage: like endings.mjs, node leftovers.mjs [moments]    WAIT=610: seconds until copies count as left behind
import { setTimeout as sleep } from 'node:timers/promises';
import { make, create, remove, workflow, webhook, code, eachCode, set, get } from '../../fixtures/scenarios/n8n.mjs';
import { call, content, copies, difference, prove, run, PORT } from './n8n.mjs';

const most = Number(process.argv[2] ?? 20);
process.argv.splice(2);
await make({ async leftovers() {
  const made = [], failing = async (name, nodes, chain) => {
    const hook = `proof-left-${made.length}`, one = workflow(`proof left ${name}`, [webhook(hook), ...nodes], ['Webhook', ...chain]);
    made.push(one.name);
    const id = await create(one);
    return (await call(id, hook, [{ price: 'x' }])).id;
  };
  const small = await failing('small', [eachCode('Price', 'throw new Error("no price");')], ['Price']);
  const load = { ...get('Load', ''), parameters: { url: `http://127.0.0.1:${PORT}/many?kb=4500`, options: {} } };
  const large = await failing('large', [load, code('Price', 'throw new Error("no price");')], ['Load', 'Price']);
  const before = await content();
  for (const [what, id, span, moments] of [['small', small, 2200, most], ['large, with a webhook', large, 9000, Math.ceil(most / 3)]]) {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL']) {
      const earlier = (await copies()).length;
      let left = 0;
      for (let moment = 0; moment < moments; moment++) {
        await run(['prove', id, '--check', '--json'], { started: (child) => setTimeout(() => child.kill(signal), (span * (moment + 0.5)) / moments) });
        if (signal !== 'SIGKILL') left += (await copies()).length - earlier;
      }
      console.log(`${what}: ${signal} at ${moments} moments, copies left: ${signal === 'SIGKILL' ? (await copies()).length - earlier : left}`);
    }
  }
  // A leftover copy is removed when it is older than ten minutes.
  const wait = Number(process.env.WAIT ?? 610);
  console.log(`waiting ${wait} s`);
  await sleep(wait * 1000);
  const { data, error } = await prove(small, '--check');
  await sleep(1000);
  console.log(`after the next proof (${data?.verdict ?? error}): copies ${(await copies()).length}, ${difference(before, await content()).join(', ') || 'everything else as before'}`);
  for (const name of made) await remove(name);
} });
