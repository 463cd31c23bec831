#!/usr/bin/env node
// What retry_execution, stop_execution and publish_workflow_version do on a real n8n: in a loop, with a fix in an earlier node, with a
// renamed node, when the answer is lost, stopped, with a large answer; exactly the proven version is published; and who may not.
//
// usage: like fidelity.mjs, node retries.mjs    with N8N_EMAIL and N8N_PASSWORD of the owner also with keys that lack a scope
// On n8n 1.x, which has no drafts, each change is published at once, the owner stops executions, and nothing is published or refused by scope.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { make, api, create, remove, workflow, webhook, node, code, eachCode, get } from '../../fixtures/scenarios/n8n.mjs';
import { all, call, client, copies, prove, proxy, run, PORT } from './n8n.mjs';

process.argv.splice(2);
const BASE = process.env.N8N_URL, wrong = [], made = [];
const check = (what, holds, said) => {
  if (!holds) wrong.push(what);
  console.log(holds ? '  ok ' : 'WRONG', what, '-', String(typeof said === 'string' ? said : JSON.stringify(said)).slice(0, holds ? 330 : 3000));
};
const isOld = (await fetch(`${BASE}/api/v1/discover`, { headers: { 'X-N8N-API-KEY': process.env.N8N_API_KEY } })).status === 404;
const stop = async (id) => (isOld ? { data: (await (await owner())('POST', `/executions/${id}/stop`)) } : run(['stop', id, '--json', '--locale', 'en']));
const retry = async (id, more = [], options = {}) => { const { data, error, seconds } = await run(['retry', String(id), '--json', '--locale', 'en', ...more], options); return { ...data, error, seconds }; };
const split = code('Split', 'return $input.first().json.body.map((json) => ({ json, pairedItem: 0 }));');
const price = eachCode('Price', 'if ($json.price === "x") throw new Error("no price"); return { json: $json };');
const busy = (seconds) => `const until = Date.now() + ${seconds * 1000}; while (Date.now() < until); return $input.all();`;
/** A workflow with a failed execution; `draft` saves a draft of it. */
async function failing(name, nodes, chain, links, body = [{ price: '1' }, { price: 'x' }, { price: '3' }], settings = {}) {
  const hook = `proof-retry-${made.length}`, one = workflow(`proof retry ${name}`, [webhook(hook), ...structuredClone(nodes)], ['Webhook', ...chain], links);
  Object.assign(one.settings, settings);
  made.push(one.name);
  const id = await create(structuredClone(one)), failed = await call(id, hook, body);
  const draft = async (change) => { change((name) => one.nodes.find((node) => node.name === name), one); await sleep(300); return (await api('PUT', `/workflows/${id}${isOld ? '' : '?publishIfActive=false'}`, one)).versionId; };
  return { id, hook, failed: failed.id, draft };
}
const fixed = (of) => { of('Price').parameters.jsCode = 'return { json: $json };'; };

await make({ async retries() {
  { // in a loop
    const one = await failing('loop', [split, node('splitInBatches', 'Loop', { batchSize: 1, options: {} }), price, node('noOp', 'Done')], ['Split', 'Loop', 'Done'], [['Loop', 1, 'Price', 0], ['Price', 0, 'Loop', 0]]);
    const version = await one.draft(fixed), said = await retry(one.failed);
    const ran = await api('GET', `/executions/${said.id}?includeData=true`);
    check('in a loop: it goes on with the batch that failed', said.verdict === 'succeeded' && (isOld || said.versionId === version) && ran.data.resultData.runData.Price.length === 3 && ran.data.resultData.runData.Done?.length === 1, said);
    check('the original succeeded meanwhile: n8n keeps that', (await retry(said.id)).error.includes('succeeded'), (await retry(said.id)).error);
  }
  { // before the failed node
    const one = await failing('upstream', [split, price], ['Split', 'Price']);
    await one.draft((of) => { of('Split').parameters.jsCode = 'return [{ json: { price: "1" } }];'; });
    const said = await retry(one.failed);
    check('a fix before it: not exercised', said.verdict === 'stillFails' && said.fixNotExercised?.join() === 'Split', said);
    await one.draft((of, workflow) => { of('Price').name = 'Cost'; workflow.connections.Split.main[0][0].node = 'Cost'; });
    const refused = await retry(one.failed);
    check('renamed: refused before n8n answers 500', /renamed or removed in the draft/.test(refused.error), refused.error);
    check('renamed, with the original: it runs', (await retry(one.failed, ['--with', 'original'])).verdict === 'stillFails', 'stillFails');
  }
  { // the answer is lost
    const one = await failing('lost', [split, price], ['Split', 'Price']);
    await one.draft(fixed);
    const between = await proxy((method, { pathname }) => (pathname.endsWith('/retry') ? 'lost' : undefined));
    const before = (await all(`/executions?workflowId=${one.id}`)).length, said = await retry(one.failed, [], { env: between.env });
    between.close();
    check('the answer is lost: it is found, and was sent once', said.verdict === 'succeeded' && (await all(`/executions?workflowId=${one.id}`)).length === before + 1 && between.seen.filter(({ path }) => path.endsWith('/retry')).length === 1, said);
  }
  { // it takes longer than the call; stop
    const one = await failing('slow', [split, price, code('After', 'return $input.all();'), node('noOp', 'End')], ['Split', 'Price', 'After', 'End']);
    await one.draft((of) => { fixed(of); of('After').parameters.jsCode = busy(15); });
    const said = await retry(one.failed, ['--timeout', '5']);
    check('it takes longer: named, running', said.verdict === 'notEnded' && said.status === 'running' && said.id, said);
    if (isOld) check('stop: refused', /no way to stop/.test((await run(['stop', said.id, '--json', '--locale', 'en'])).error), 'no way to stop');
    const stopped = await stop(said.id);
    check('stop', stopped.data?.status === 'canceled', stopped.data ?? stopped.error);
    if (!isOld) check('stop again: refused', /Only running and waiting/.test((await run(['stop', said.id, '--json', '--locale', 'en'])).error), (await run(['stop', said.id, '--json', '--locale', 'en'])).error);
    await sleep(16000);
    const waiting = retry(one.failed);
    let running;
    for (let tries = 0; tries < 100 && !running; tries++) {
      await sleep(100);
      running = (await api('GET', `/executions?workflowId=${one.id}&status=running`)).data[0]?.id;
    }
    await stop(running);
    const ended = await waiting;
    check('stopped while retry_execution waits', ended.id === running && ended.status === 'canceled' && ended.verdict !== 'notEnded', ended);
    await sleep(16000);
  }
  { // it ends without an error of a node
    const one = await failing('timed out', [split, price, code('After', 'return $input.all();'), code('More', 'return $input.all();')], ['Split', 'Price', 'After', 'More']);
    await one.draft((of, workflow) => { fixed(of); of('After').parameters.jsCode = busy(6); workflow.settings.executionTimeout = 3; });
    const said = await retry(one.failed);
    check('n8n ends it: it says so', said.status && said.verdict !== 'notEnded' && said.verdict !== 'succeeded', said);
  }
  const peaks = [];
  for (const megabytes of [1, 30]) { // a large answer
    const load = { ...get('Load', ''), parameters: { url: `http://127.0.0.1:${PORT}/many?kb=${megabytes * 800}`, options: {} } };
    const one = await failing(`${megabytes} MB`, [load, code('Check', 'throw new Error("bad");')], ['Load', 'Check']);
    await one.draft((of) => { of('Check').parameters.jsCode = 'return [{ json: { n: $input.all().length } }];'; });
    let peak = 0, timer;
    const said = await retry(one.failed, [], { started: (child) => { timer = setInterval(() => { try { peak = Math.max(peak, Number(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1] ?? 0)); } catch { /* it has ended */ } }, 10); } });
    clearInterval(timer);
    peaks.push(peak);
    check(`an answer of ${megabytes} MB`, said.verdict === 'succeeded', { verdict: said.verdict, seconds: said.seconds, peakKB: peak });
  }
  check('its memory does not grow with the answer', peaks[1] - peaks[0] < 8192, `${peaks[0]} KB, ${peaks[1]} KB`);
  if (!isOld) { // exactly the proven version
    const one = await failing('publish', [split, price], ['Split', 'Price']);
    await one.draft(fixed);
    const proven = (await prove(one.failed)).data, version = proven.tested.versionId, newer = await one.draft((of) => { of('Price').notes = 'later'; });
    const published = await run(['publish', one.id, version, '--json', '--locale', 'en']), now = await api('GET', `/workflows/${one.id}`);
    check('exactly: the proven version is active, the newer draft stays', proven.verdict === 'fixed' && now.activeVersionId === version && now.versionId === newer && published.data?.draft === newer, published.data ?? published.error);
    const ids = [];
    for (const pause of [0, 1000]) { await sleep(pause); ids.push((await call(one.id, one.hook, [{ price: 'x' }])).id); }
    const ran = await api('GET', `/executions/${ids.at(-1)}`);
    check('a real call runs it', ran.workflowVersionId === version && ran.status === 'success', `${ran.id} ${ran.status} ${ran.workflowVersionId}`);
    const unknown = await run(['publish', one.id, '00000000-0000-4000-8000-00000000dead', '--json', '--locale', 'en']);
    check('an unknown version', /24 hours/.test(unknown.error) && (await api('GET', `/workflows/${one.id}`)).activeVersionId === version, unknown.error);
  }
  { // who may not
    const one = await failing('doors', [split, price], ['Split', 'Price']);
    await one.draft(fixed);
    const reading = await client(['--read-only']), tools = await reading.list();
    check('--read-only has none of the four', !tools.some((name) => /prove|retry_|stop_|publish/.test(name)), tools.join());
    check('--read-only refuses them', /--read-only/.test((await reading.ask('prove_fix', { id: one.failed })).text), (await reading.ask('prove_fix', { id: one.failed })).text);
    await reading.close();
    if (!isOld) {
      const between = await proxy((method, url) => { if (/\/executions\/\d+$/.test(url.pathname)) { url.searchParams.set('redactExecutionData', 'true'); return url; } return undefined; });
      const redacted = await run(['prove', one.failed, '--json', '--locale', 'en'], { env: between.env }), again = await retry(one.failed, [], { env: between.env });
      check('redacted: refused', /redacted/.test(redacted.error) && /redacted/.test(again.error) && !between.seen.some(({ method }) => method === 'POST'), `${redacted.error} / ${again.error}`);
      between.close();
    }
    check('--redact: refused', /--redact/.test((await run(['prove', one.failed, '--redact', '--json', '--locale', 'en'])).error), (await run(['prove', one.failed, '--redact', '--json', '--locale', 'en'])).error);
    if (process.env.N8N_EMAIL && !isOld) await scopes(one);
  }
  check('no copies left', (await copies()).length === 0, `${(await copies()).length}`);
  for (const name of made) await remove(name);
  console.log(wrong.length ? `WRONG: ${wrong.join('; ')}` : 'all as wanted');
  process.exitCode = wrong.length ? 1 : 0;
} });

/** Requests to n8n as its owner. */
async function owner() {
  const login = await fetch(`${BASE}/rest/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ emailOrLdapLoginId: process.env.N8N_EMAIL, password: process.env.N8N_PASSWORD }) });
  const cookie = login.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ');
  return async (method, path, body) => { const answer = await fetch(`${BASE}/rest${path}`, { method, headers: { cookie, 'content-type': 'application/json' }, body: body && JSON.stringify(body) }); return (await answer.json()).data; };
}

/** With keys that lack one scope: it is named, and nothing is created. */
async function scopes({ failed, id }) {
  const rest = await owner();
  const known = await rest('GET', '/api-keys/scopes'), needed = ['execution:read', 'execution:list', 'workflow:read', 'workflow:list', 'workflow:create', 'workflow:activate', 'workflow:deactivate', 'workflow:delete'];
  for (const [lacking, command] of [...needed.map((scope) => [scope, ['prove', failed]]), ['execution:retry', ['retry', failed]], ['execution:stop', ['stop', failed]], ['workflow:activate', ['publish', id, (await api('GET', `/workflows/${id}`)).versionId]]]) {
    const key = await rest('POST', '/api-keys', { label: `proof ${lacking} ${command[0]}`, expiresAt: null, scopes: known.filter((scope) => scope !== lacking) });
    const between = await proxy(), { N8N_API_KEY_FILE: _, ...env } = between.env;
    const { data, error } = await run([...command, '--json', '--locale', 'en'], { env: { ...env, N8N_API_KEY: key.rawApiKey } });
    const writes = between.seen.filter(({ method, status }) => method !== 'GET' && status < 400);
    check(`without ${lacking}: ${command[0]} names it, nothing is written`, error.includes(lacking) && writes.length === 0, error || data);
    between.close();
    await rest('DELETE', `/api-keys/${key.id}`);
  }
}
