#!/usr/bin/env node
// Runs workflows of every kind on a real n8n, and then replays each execution unchanged: every difference must be named.
//
// usage: N8N_URL=http://127.0.0.1:5678 N8N_API_KEY=key N8N_API_KEY_FILE=key.txt TEST_BINARY=target/debug/n8n-lens node fidelity.mjs [--all] [--random N] [name ...]
//        --all: also the two newest executions of every other workflow of this n8n
import { make, api, create, remove, workflow, webhook } from '../../fixtures/scenarios/n8n.mjs';
import { all, call, calls, copies, prove } from './n8n.mjs';
import { chance, children, workflows } from './workflows.mjs';

const asked = process.argv.slice(2), option = (name) => { const at = asked.indexOf(name); return at < 0 ? undefined : asked.splice(at, name === '--all' ? 1 : 2)[1] ?? true; };
const everything = option('--all'), randoms = Number(option('--random') ?? (asked.length ? 0 : 12));
const wanted = (name) => asked.length === 0 || asked.includes(name);
process.argv.splice(2);
const made = new Map(), removed = [];

await make({ async fidelity() {
  const ids = {};
  for (const [name, [nodes, chain]] of Object.entries(children)) ids[name] = await create(workflow(`proof child ${name}`, nodes, chain));
  const list = Object.entries(workflows(ids)).filter(([name]) => wanted(name));
  for (let n = 0; n < randoms; n++) list.push([`random ${n}`, chance()]);
  let at = 0;
  for (const [name, [nodes, chain, links = [], more = {}]] of list) {
    const hook = `proof-${++at}`, made_ = workflow(`proof ${name}`, [webhook(hook), ...nodes], ['Webhook', ...chain], links);
    const id = await create({ ...made_, settings: { ...made_.settings, ...more.settings } });
    if (more.twice) await call(id, hook, more.body);
    made.set((await call(id, hook, more.body)).id, { name, ...more });
    removed.push(made_.name);
  }
  const others = Object.values(Object.groupBy(everything ? (await all('/executions')).filter(({ id }) => !made.has(id)) : [], ({ workflowId }) => workflowId));
  const executions = others.flatMap((list) => list.slice(0, 2));
  const chosen = [...made].map(([id, more]) => ({ id, ...more })).concat(executions.map(({ id, workflowId, status, mode, retryOf }) => ({ id, workflowId, name: `${status} ${mode}`, retryOf })));
  const results = [], workflowsSeen = new Set();
  for (const one of chosen) {
    const [{ data, error, seconds }, reached] = await calls(() => prove(one.id, '--check'));
    const verdict = data?.verdict ?? (/cannot be run again/.test(error) ? 'refused' : 'failed'), named = data?.notProven?.join(' ') ?? (verdict === 'refused' ? error : '');
    workflowsSeen.add(data?.tested?.workflowId ?? one.workflowId ?? one.name);
    results.push({ ...one, verdict, named, seconds, reached });
    const note = verdict === 'reproduced' ? '' : `${JSON.stringify(data?.differs ?? '')} ${JSON.stringify(data?.failsNow ?? '')} ${named} ${data ? '' : error}`;
    console.log(String(one.id).padStart(5), verdict.padEnd(14), `${seconds.toFixed(1)} s`, reached ? `REACHED ${reached} TIMES` : '', one.name, note.slice(0, 400));
  }
  const count = (verdict) => results.filter((one) => one.verdict === verdict).length;
  const replayed = results.filter(({ verdict }) => verdict === 'reproduced' || verdict === 'notReproduced');
  const unnamed = replayed.filter(({ verdict, named, retryOf }) => verdict === 'notReproduced' && !named && !retryOf);
  const times = replayed.map(({ seconds }) => seconds).sort((a, b) => a - b), share = (part) => times[Math.floor(times.length * part)]?.toFixed(1);
  console.log(`${results.length} executions of ${workflowsSeen.size} workflows: ${count('reproduced')} reproduced, ${count('notReproduced')} not (${unnamed.length} without a name), ${count('refused')} refused, ${count('failed')} failed; median ${share(0.5)} s, nine of ten within ${share(0.9)} s; services reached ${results.reduce((sum, { reached }) => sum + reached, 0)} times; copies left ${(await copies()).length}`);
  for (const name of removed) await remove(name);
} });
