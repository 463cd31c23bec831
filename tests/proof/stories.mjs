#!/usr/bin/env node
// Ten planted faults, each from the id of the failing execution through an edit to a proven draft, as an agent would go: at most six calls
// and 4,000 tokens each, and nothing published. Three bytes count as a token: these answers have 3.3 to 3.7 bytes for each.
//
// usage: like fidelity.mjs, node stories.mjs
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { make, api, create, remove, workflow, webhook, node, code, eachCode, set, get, filter, condition } from '../../fixtures/scenarios/n8n.mjs';
import { call, copies, run, PORT } from './n8n.mjs';

process.argv.splice(2);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stories-'));
const rows = code('Rows', 'return $input.first().json.body.map((json) => ({ json, pairedItem: 0 }));');
const noOp = (name) => node('noOp', name);
const patch = (nodeName, find, replace, path = '/jsCode') => ({ type: 'patchNodeParameter', nodeName, path, patches: [{ find, replace }] });
const orders = (n, more = () => ({})) => Array.from({ length: n }, (_, i) => ({ id: i + 1, price: `${i + 2}.50`, customer: { name: `Customer ${i}`, email: `c${i}@example.com` }, day: `2026-03-${String((i % 28) + 1).padStart(2, '0')}`, ...more(i) }));

// the planted fault: [nodes after "Rows", chain after "Rows", links, body, the operation that fixes it]
const stories = {
  'a comma in one price': [[eachCode('Price', 'const price = Number($json.price); if (Number.isNaN(price)) throw new Error(`no price: ${$json.price}`); return { json: { ...$json, price } };')], ['Price'], [], orders(200, (i) => (i === 137 ? { price: '3,50' } : {})), patch('Price', 'Number($json.price)', "Number(String($json.price).replace(',', '.'))")],
  'an order without a customer': [[eachCode('Name', 'return { json: { id: $json.id, name: $json.customer.name } };'), noOp('Letter')], ['Name', 'Letter'], [], orders(80, (i) => (i === 41 ? { customer: null } : {})), patch('Name', '$json.customer.name', "$json.customer?.name ?? 'unknown'")],
  'a date in another notation': [[eachCode('Age', "const day = new Date($json.day); if (Number.isNaN(day.getTime())) throw new RangeError('Invalid date ' + $json.day); return { json: { id: $json.id, day: day.toISOString() } };")], ['Age'], [], orders(60, (i) => (i === 33 ? { day: '31.03.2026' } : {})), patch('Age', 'new Date($json.day)', "new Date(String($json.day).replace(/^(\\d+)\\.(\\d+)\\.(\\d+)$/, '$3-$2-$1'))")],
  'text in a JSON field': [[eachCode('Options', 'return { json: { id: $json.id, options: JSON.parse($json.options) } };')], ['Options'], [], orders(50, (i) => ({ options: i === 20 ? '' : '{"gift":true}' })), patch('Options', 'JSON.parse($json.options)', "JSON.parse($json.options || '{}')")],
  'a batch of a loop fails': [[node('splitInBatches', 'Loop', { batchSize: 10, options: {} }), eachCode('Share', "if (!$json.parts) throw new Error('division by zero at ' + $json.id); return { json: { id: $json.id, share: 1 / $json.parts } };"), noOp('Done')], ['Loop', 'Done'], [['Loop', 1, 'Share', 0], ['Share', 0, 'Loop', 0]], orders(60, (i) => ({ parts: i === 44 ? 0 : 2 })), patch('Share', "if (!$json.parts) throw new Error('division by zero at ' + $json.id); ", 'if (!$json.parts) return { json: { id: $json.id, share: 0 } }; ')],
  'the fault lies before the node that fails': [[set('Map', [['mail', '={{ $json.customer.mail }}']], { includeOtherFields: false }), eachCode('Send', "if (!$json.mail) throw new Error('no address'); return { json: { to: $json.mail } };")], ['Map', 'Send'], [], orders(40), patch('Map', 'customer.mail', 'customer.email', '/assignments/assignments/0/value')],
  'the same order twice': [[code('Index', "const seen = new Set(); for (const { json } of $input.all()) { if (seen.has(json.id)) throw new Error('duplicate order ' + json.id); seen.add(json.id); } return $input.all();"), noOp('Store')], ['Index', 'Store'], [], [...orders(50), { id: 7, price: '1' }], { type: 'addNode', after: 'Rows', node: { name: 'Once', type: 'n8n-nodes-base.removeDuplicates', typeVersion: 2, parameters: { compare: 'selectedFields', fieldsToCompare: 'id', options: {} } } }],
  'a refused order is priced, too': [[filter('Wanted', condition('={{ $json.id }}', 'number', 'gt', 0)), eachCode('Total', "if ($json.status === 'refused') throw new Error('refused orders have no total'); return { json: { id: $json.id } };")], ['Wanted', 'Total'], [], orders(45, (i) => ({ status: i === 12 ? 'refused' : 'open' })), { type: 'setNodeParameter', nodeName: 'Wanted', path: '/conditions/conditions/0', value: { id: 'a', leftValue: '={{ $json.status }}', rightValue: 'refused', operator: { type: 'string', operation: 'notEquals' } } }],
  'merged by position': [[code('Sorted', 'return [...$input.all()].reverse().map(({ json }) => ({ json: { id: json.id, label: "L" + json.id } }));'), node('merge', 'Join', { mode: 'combine', combineBy: 'combineByPosition', options: {} }), eachCode('Match', "if ($json.label !== 'L' + $json.of) throw new Error(`label ${$json.label} at order ${$json.of}`); return { json: $json };"), set('Order', [['of', '={{ $json.id }}', 'number']])], ['Order', 'Join', 'Match'], [['Rows', 0, 'Sorted', 0], ['Sorted', 0, 'Join', 1]], orders(30), [['combineBy', 'combineByFields'], ['fieldsToMatchString', 'id']].map(([name, value]) => ({ type: 'setNodeParameter', nodeName: 'Join', path: `/${name}`, value }))],
  'a service is asked before': [[{ ...get('Rates', ''), parameters: { url: `http://127.0.0.1:${PORT}/echo?i=3`, options: {} }, executeOnce: true }, code('Convert', "const rate = $('Rates').first().json.rate; const out = $('Rows').all().map(({ json }) => ({ json: { id: json.id, eur: json.price * rate } })); if (out.some(({ json }) => Number.isNaN(json.eur))) throw new Error('not a number: eur'); return out;")], ['Rates', 'Convert'], [], orders(35), patch('Convert', 'json.rate', 'json.i')],
};

await make({ async stories() {
  const problems = [];
  let at = 0;
  console.log('| fault | calls | sent, bytes | read, bytes | tokens, about | proof |\n|---|---|---|---|---|---|');
  for (const [name, [nodes, chain, links, body, operation]] of Object.entries(stories)) {
    const hook = `proof-story-${++at}`, made = workflow(`proof story ${name}`, [webhook(hook), rows, ...nodes], ['Webhook', 'Rows', ...chain], links);
    const id = await create(made), failed = await call(id, hook, body);
    const published = (await api('GET', `/workflows/${id}`)).activeVersionId, cost = { calls: 0, sent: 0, read: 0, tokens: 0 };
    const ask = async (sent, command) => {
      const { answer, error, seconds } = await run([...command, '--json', '--locale', 'en']);
      const [out, back] = [JSON.stringify(sent), answer ? JSON.stringify(answer) : error].map((text) => Buffer.byteLength(text));
      cost.calls += 1; cost.sent += out; cost.read += back; cost.tokens = Math.ceil((cost.sent + cost.read) / 3);
      return { data: answer?.data, error, seconds };
    };
    const file = path.join(folder, `${at}.json`);
    const operations = [operation].flat();
    fs.writeFileSync(file, JSON.stringify(operations));
    const seen = await ask({ id: failed.id }, ['summary', failed.id]);
    const failing = JSON.stringify(seen.data ?? {}).match(/"error":\{"nodeName":"([^"]*)"/)?.[1];
    await ask({ id: failed.id, nodeName: failing, limit: 1 }, ['node', failed.id, failing ?? '?', '--limit', '1']);
    const edited = await ask({ workflowId: id, operations }, ['edit', id, file]);
    await ask({ workflowId: id, executionId: failed.id }, ['check-workflow', id, '--execution', failed.id]);
    const proven = await ask({ id: failed.id }, ['prove', failed.id]);
    const now = await api('GET', `/workflows/${id}`);
    const wrong = [proven.data?.verdict !== 'fixed' && `${proven.data?.verdict ?? proven.error} ${edited.error} ${proven.data?.claim ?? ''}`, cost.calls > 6 && 'too many calls', cost.tokens > 4000 && 'too many tokens', now.activeVersionId !== published && 'something was published', !failing && `no failing node ${JSON.stringify(seen)}`, (await copies()).length && 'copies left'].filter(Boolean);
    if (wrong.length) problems.push(name);
    console.log(`| ${name} | ${cost.calls} | ${cost.sent} | ${cost.read} | ${cost.tokens} | ${wrong.join('; ') || `\`fixed\` in ${proven.seconds.toFixed(1)} s`} |`);
    await remove(made.name);
  }
  console.log(problems.length ? `WRONG: ${problems.join(', ')}` : 'all as wanted');
  process.exitCode = problems.length ? 1 : 0;
} });
