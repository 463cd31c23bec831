#!/usr/bin/env node
// However a proof ends, n8n has as much as before: workflows, executions, and, if N8N_DATABASE names its SQLite file, rows of every table but
// its statistics and its log of publications, which it clears itself. Proofs end well, badly, by time, by the client, and by a 403 at each step.
//
// usage: like fidelity.mjs, node endings.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { make, api, create, remove, workflow, webhook, eachCode } from '../../fixtures/scenarios/n8n.mjs';
import { call, client, content, copies, difference, prove, proxy, run } from './n8n.mjs';

process.argv.splice(2);
const slow = (seconds) => `const until = Date.now() + ${seconds * 1000}; while (Date.now() < until); return { json: $json };`;
await make({ async endings() {
  const name = 'proof ending', hook = 'proof-ending', one = workflow(name, [webhook(hook), eachCode('Price', 'throw new Error("no price");')], ['Webhook', 'Price']);
  const id = await create(structuredClone(one)), failed = (await call(id, hook)).id;
  const draft = async (jsCode) => { one.nodes[1].parameters.jsCode = jsCode; await api('PUT', `/workflows/${id}?publishIfActive=false`, one); await sleep(300); };
  const wrong = [];
  /** Does something after which nothing may be left, except, perhaps, copies that the answer names. */
  const ends = async (what, work, named = () => []) => {
    const before = await content(), said = await work();
    await sleep(1500);
    const left = await copies(), told = named(said), missing = left.filter(({ id }) => !told.includes(id));
    for (const { name } of left) await remove(name);
    const other = difference(before, await content());
    const problem = missing.length ? `${missing.length} copies left` : other.join(', ');
    if (problem) wrong.push(what);
    console.log(problem ? 'WRONG' : '  ok ', what, '-', problem || `nothing left${left.length ? ` but ${left.length} that the answer names` : ''}:`, said.slice(0, 260));
  };
  const verdict = async (...more) => { const { data, error } = await prove(failed, ...more); return data ? `${data.verdict} ${data.notProven?.join(' ') ?? ''}` : error; };
  await ends('only a check', () => verdict('--check'));
  await draft('return { json: $json };');
  await ends('fixed', () => verdict());
  await draft('throw new Error("no price"); // still');
  await ends('still fails', () => verdict());
  await draft(slow(40));
  await ends('out of time', () => verdict('--timeout', '5'));
  await draft(slow(3));
  for (const moment of [100, 300, 600, 1000, 1500, 2500]) {
    for (const way of ['cancel', 'close']) {
      await ends(`${way} after ${moment} ms`, async () => {
        const mcp = await client(), answer = mcp.ask('prove_fix', { id: failed });
        await sleep(moment);
        await mcp[way]();
        const said = way === 'cancel' ? (await Promise.race([answer, sleep(2000, { text: 'no answer' })])).text : 'gone';
        await mcp.close();
        return said;
      });
    }
  }
  await draft('return { json: $json };');
  // [method, path, how many requests are answered before, whether copies can then not be removed]
  for (const [method, path, passes = 0, stays = false] of [
    ['GET', /\/workflows$/], ['GET', /\/executions\/\d+$/], ['POST', /\/workflows$/], ['POST', /\/workflows$/, 1], ['POST', /\/activate$/], ['POST', /\/activate$/, 1],
    ['GET', /\/executions$/], ['GET', /\/executions\/\d+$/, 2], ['GET', /\/executions\/\d+$/, 3], ['POST', /\/deactivate$/, 0, true], ['DELETE', /./, 0, true],
  ]) {
    let times = 0;
    const between = await proxy((asked, { pathname }) => (asked === method && path.test(pathname) && ++times > passes ? 403 : undefined));
    await ends(`403 for ${method} ${path.source}${passes ? ` after ${passes}` : ''}`, async () => {
      const { data, error } = await run(['prove', failed, '--json', '--locale', 'en', '--good', '0'], { env: between.env });
      return data ? `${data.verdict} ${data.notProven?.join(' ') ?? ''}` : error;
    }, (said) => (stays ? said.match(/workflow ([^.]+)\./)?.[1].split(', ') ?? [] : []));
    between.close();
  }
  await remove(name);
  console.log(wrong.length ? `WRONG: ${wrong.join(', ')}` : 'all as wanted');
  process.exitCode = wrong.length ? 1 : 0;
} });
