#!/usr/bin/env node
// Changes with predicted verdicts, at least two for each verdict, on a real n8n. The services that the workflows call count who connects
// to them: nobody may while a proof runs, the error workflow must not run, and nothing may be left.
//
// usage: like fidelity.mjs, node trials.mjs [--file] [name ...]    --file: the changed workflow is a file, as on n8n 1.x, which has no drafts
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { make, api, create, remove, workflow, node, webhook, code, eachCode, set, get, filter, condition, conditions, uuid, PORT } from '../../fixtures/scenarios/n8n.mjs';
import { all, call, calls, copies, prove } from './n8n.mjs';

const asFile = process.argv.includes('--file'), asked = process.argv.splice(2).filter((one) => one !== '--file'), folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trials-'));
const URL = `http://127.0.0.1:${PORT}`, noOp = (name, extra = {}) => node('noOp', name, {}, extra);
const http = (name, url, extra = {}) => ({ ...get(name, '/'), parameters: { url, options: {} }, ...extra });
const split = code('Split', 'return $input.first().json.body.map((json) => ({ json, pairedItem: 0 }));');
const PRICE = 'const price = Number($json.price); if (Number.isNaN(price)) throw new Error(`no price: ${$json.price}`); return { json: { ...$json, price } };';
const price = (js = PRICE, extra = {}) => eachCode('Price', js, extra);
const FIXED = PRICE.replace('Number($json.price)', "Number(String($json.price).replace(',', '.'))");
const bad = [{ price: '1' }, { price: '3,50' }], good = [{ price: '1' }, { price: '2' }];
/** The change sets members of nodes, adds nodes, or does anything else to the workflow. */
const js = (name, text) => (w) => { of(w, name).parameters.jsCode = text; };
const of = (w, name) => w.nodes.find((one) => one.name === name);
const member = (name, key, value) => (w) => { of(w, name)[key] = value; };
const link = (w, from, to, output = 0, input = 0) => { const outputs = ((w.connections[from] ??= {}).main ??= []); while (outputs.length <= output) outputs.push([]); outputs[output].push({ node: to, type: 'main', index: input }); };
const insert = (one, after, before) => (w) => { w.nodes.push(one); w.connections[after] = { main: [[{ node: one.name, type: 'main', index: 0 }]] }; link(w, one.name, before); };
const P = [[split, price(), noOp('End')], ['Split', 'Price', 'End']];
const looping = [[split, node('splitInBatches', 'Loop', { batchSize: 1, options: {} }), price(), noOp('Done')], ['Split', 'Loop', 'Done'], [['Loop', 1, 'Price', 0], ['Price', 0, 'Loop', 0]]];
const asking = [[split, http('Ask', `=${URL}/echo?i={{ $json.price }}`), eachCode('Use', 'if ($json.i === 3) throw new Error("three is bad"); return { json: $json };'), noOp('End')], ['Split', 'Ask', 'Use', 'End']];
const three = [{ price: 1 }, { price: 3 }];
const strict = node('if', 'Strict', { ...conditions(condition('={{ $json.price }}', 'number', 'gt', 0)), options: {} });
strict.parameters.conditions.options.typeValidation = 'strict';
const hiding = [[split, strict, noOp('End')], ['Split', 'Strict', 'End']];

// name: [verdict, [nodes, chain, links], body, change, more]
const trials = {
  'fix in the node that failed': ['fixed', P, bad, js('Price', FIXED)],
  'fix before the node that failed': ['fixed', P, bad, js('Split', "return $input.first().json.body.map((json) => ({ json: { price: json.price.replace(',', '.') }, pairedItem: 0 }));")],
  'a node is inserted before it': ['fixed', P, bad, insert(set('Clean', [['price', "={{ $json.price.replace(',', '.') }}"]]), 'Split', 'Price')],
  'fix in a loop': ['fixed', looping, bad, js('Price', FIXED)],
  'fix, and the node has another name': ['fixed', P, bad, (w) => { js('Price', FIXED)(w); of(w, 'Price').name = 'Cost'; w.connections.Cost = w.connections.Price; delete w.connections.Price; w.connections.Split.main[0][0].node = 'Cost'; }],
  'the node that failed is added again': ['fixed', P, bad, (w) => { of(w, 'Price').id = uuid(); js('Price', FIXED)(w); }],
  'an If goes on after an error, and does not get one': ['fixed', hiding, bad, (w) => { of(w, 'Strict').onError = 'continueRegularOutput'; of(w, 'Strict').parameters.conditions.conditions[0].leftValue = "={{ parseFloat($json.price) }}"; }],
  'fix after a service': ['fixed', asking, three, js('Use', 'return { json: $json };')],
  'fewer items reach a service, one by one': ['fixed', asking, three, insert(filter('Not three', condition('={{ $json.price }}', 'number', 'notEquals', 3)), 'Split', 'Ask')],
  'an expectation comes true': ['fixed', [[split, set('Mark', [['mark', 'no']])], ['Split', 'Mark']], good, (w) => { of(w, 'Mark').parameters.assignments.assignments[0].value = 'yes'; }, { expect: [{ nodeName: 'Mark', path: 'mark', equals: 'yes', hits: 'some' }] }],
  'a fix that changes a good execution': ['fixedButChanges', P, bad, js('Price', 'return { json: { price: 0 } };'), { before: good }],
  'a fix that changes two of them': ['fixedButChanges', P, bad, js('Price', "const price = Number(String($json.price).replace(',', '.')); return { json: { price: price + 1 } };"), { before: good }],
  'another text in another place': ['stillFails', P, bad, js('Price', `${PRICE} // looked at`)],
  'a change after the failure': ['stillFails', P, bad, member('End', 'disabled', true)],
  'a fix that does not help, in a loop': ['stillFails', looping, bad, js('Split', 'return $input.first().json.body.slice(0).map((json) => ({ json }));')],
  'another message': ['failsDifferently', P, bad, js('Price', PRICE.replace('${$json.price}`', '${$json.price} at all`'))],
  'another kind of failure': ['failsDifferently', P, bad, js('Price', 'return { json: $json.nothing.at.all };')],
  'the next node fails': ['failsElsewhere', [[split, price(), eachCode('Sum', 'if ($json.price > 3) throw new Error("too much"); return { json: $json };')], ['Split', 'Price', 'Sum']], bad, js('Price', FIXED)],
  'the node before it fails': ['failsElsewhere', P, bad, js('Split', 'throw new Error("nothing to split");')],
  'a good execution fails': ['failsElsewhere', P, good, js('Price', 'throw new Error("always");')],
  'another branch': ['notReached', [[split, node('if', 'If', { ...conditions(condition('={{ 1 }}', 'number', 'equals', 1)), options: {} }), price(), noOp('Other')], ['Split', 'If', 'Price'], [['If', 1, 'Other', 0]]], bad, (w) => { of(w, 'If').parameters.conditions.conditions[0].rightValue = 2; }],
  'the node is gone': ['notReached', P, bad, (w) => { w.nodes = w.nodes.filter(({ name }) => name !== 'Price'); delete w.connections.Price; w.connections.Split.main[0][0].node = 'End'; }],
  'nothing arrives at it': ['notReached', P, bad, js('Split', 'return [];')],
  'the error goes on': ['errorNowInItems', P, bad, member('Price', 'onError', 'continueRegularOutput')],
  'the error has an output': ['errorNowInItems', P, bad, member('Price', 'onError', 'continueErrorOutput')],
  'an If goes on after the error': ['errorNowInItems', hiding, bad, member('Strict', 'onError', 'continueRegularOutput')],
  'an If has an output for the error': ['errorNowInItems', hiding, bad, member('Strict', 'onError', 'continueErrorOutput')],
  'the node is disabled': ['bypassed', P, bad, member('Price', 'disabled', true)],
  'the node is disabled in a loop': ['bypassed', looping, bad, member('Price', 'disabled', true)],
  'the node returns nothing': ['emptied', P, bad, (w) => { Object.assign(of(w, 'Price').parameters, { mode: 'runOnceForAllItems', jsCode: 'return [];' }); }],
  'it always returns an item': ['emptied', P, bad, (w) => { Object.assign(of(w, 'Price').parameters, { mode: 'runOnceForAllItems', jsCode: 'return [];' }); of(w, 'Price').alwaysOutputData = true; }],
  'a filter takes its place': ['emptied', P, bad, (w) => { Object.assign(of(w, 'Price'), filter('Price', condition('={{ $json.price }}', 'string', 'equals', 'x')), { id: of(w, 'Price').id }); }],
  'other values': ['outputsChanged', P, good, js('Price', 'return { json: { price: 7 } };')],
  'fewer items': ['outputsChanged', P, good, js('Split', 'return [{ json: $input.first().json.body[0] }];')],
  'the same in other words': ['sameOutputs', P, good, js('Price', 'return { json: { ...$json, price: +$json.price } };')],
  'a service whose answers are the same': ['sameOutputs', asking, [{ price: 1 }], js('Use', 'return { json: { ...$json } };')],
  'an expectation that does not come true': ['notMet', P, good, js('Price', 'return { json: { price: 7 } };'), { expect: [{ nodeName: 'Price', path: 'price', equals: 8, hits: 'some' }] }],
  'a fix without what was expected': ['notMet', P, bad, js('Price', FIXED), { expect: [{ nodeName: 'Price', path: 'price', equals: 3.6, hits: 'some' }] }],
  'a value that must not be there is': ['notMet', P, bad, js('Price', FIXED), { expect: [{ nodeName: 'Price', path: 'price', equals: 3.5, hits: 'none' }] }],
  'a service is asked something else': ['needsOutside', asking, three, js('Split', 'return [{ json: { price: 4 } }];')],
  'a service is reached for the first time': ['needsOutside', [[split, price(), http('Store', `${URL}/echo`)], ['Split', 'Price', 'Store']], bad, js('Price', FIXED)],
  'the change is in a service': ['notTested', asking, three, (w) => { of(w, 'Ask').parameters.url = `${URL}/other`; }],
  'another service has its name': ['notTested', asking, three, (w) => { of(w, 'Ask').id = uuid(); of(w, 'Ask').parameters.url = `${URL}/other`; js('Use', 'return { json: $json };')(w); }],
  'the failure is in a service': ['notTested', [[split, http('Ask', `${URL}/fail`)], ['Split', 'Ask']], good, (w) => { of(w, 'Ask').parameters.url = `${URL}/echo`; }],
  'the failing Code has a word that reaches out': ['notTested', [[split, price(`/* this */ ${PRICE}`)], ['Split', 'Price']], bad, js('Price', FIXED)],
  'the fix has such a word': ['notTested', P, bad, js('Price', `${FIXED} // fetch`)],
  'a clock that has run out': ['notReproduced', [[split, eachCode('Late', 'if (Date.now() < $json.until) throw new Error("too early"); return { json: $json };')], ['Split', 'Late']], () => [{ until: Date.now() + 2500 }], js('Late', 'return { json: $json };'), { wait: 3000 }],
  'a counter outside of the items': ['notReproduced', [[split, code('Count', "const data = $getWorkflowStaticData('node'); data.n = (data.n ?? 0) + 1; if (data.n > 1) throw new Error('again'); return [{ json: { n: data.n } }];")], ['Split', 'Count']], good, js('Count', 'return $input.all();'), { before: good }],
  'the same workflow': ['unchanged', P, bad, () => {}],
  'a note': ['unchanged', P, bad, member('Price', 'notes', 'look here')],
};

await make({ async trials() {
  const alarm = await create(workflow('proof alarm', [node('errorTrigger', 'On error', {}, { typeVersion: 1 }), http('Alarm', `${URL}/echo?alarm`)], ['On error', 'Alarm']));
  const names = [], wrong = [], seen = new Map();
  let at = 0;
  for (const [name, [expected, [nodes, chain, links], body, change, more = {}]] of Object.entries(trials)) {
    at += 1;
    if (asked.length && !asked.includes(name)) continue;
    const hook = `proof-trial-${at}`, made = workflow(`proof trial ${name}`, [webhook(hook), ...structuredClone(nodes)], ['Webhook', ...chain], links);
    made.settings.errorWorkflow = alarm;
    names.push(made.name);
    const id = await create(structuredClone(made));
    if (more.before) await call(id, hook, more.before);
    const failed = await call(id, hook, typeof body === 'function' ? body() : body);
    const saved = await api('GET', `/workflows/${id}`), draft = { name: saved.name, nodes: saved.nodes, connections: saved.connections, settings: made.settings };
    change(draft);
    const options = [], file = path.join(folder, `workflow ${at}.json`);
    if (asFile) { fs.writeFileSync(file, JSON.stringify(draft)); options.push('--workflow', file); } else await api('PUT', `/workflows/${id}?publishIfActive=false`, draft);
    await new Promise((resolve) => setTimeout(resolve, more.wait ?? 1000));
    if (more.expect) { const file = path.join(folder, `${at}.json`); fs.writeFileSync(file, JSON.stringify(more.expect)); options.push('--expect', file); }
    const alarms = async () => (await all(`/executions?workflowId=${alarm}`)).length, before = await alarms();
    const [{ data, error, seconds, code: exit }, reached] = await calls(() => prove(failed.id, ...options));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [rang, left] = [await alarms() - before, (await copies()).length];
    const verdict = data?.verdict ?? error, problems = [];
    if (verdict !== expected) problems.push(`expected ${expected}`);
    if ((verdict === 'fixed') !== (exit === 0)) problems.push(`exit code ${exit}`);
    if ((verdict === 'fixed') && data.control !== 'reproduced') problems.push('fixed without a control');
    if (/^Nothing is proven:/.test(data?.claim) !== ['notTested', 'needsOutside', 'notReproduced', 'unchanged'].includes(verdict)) problems.push(`claim ${data?.claim}`);
    if (reached) problems.push(`services reached ${reached} times`);
    if (rang) problems.push(`the error workflow ran ${rang} times`);
    if (left) problems.push(`${left} copies left`);
    if (problems.length) wrong.push(name);
    seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
    console.log(problems.length ? 'WRONG' : '  ok ', verdict.padEnd(17), `${seconds.toFixed(1)} s`, name, problems.length ? `${problems.join('; ')} ${JSON.stringify(data)}` : '');
  }
  for (const name of [...names, 'proof alarm']) await remove(name);
  console.log(`${names.length} trials of ${seen.size} verdicts, ${wrong.length} wrong; ${[...seen].map(([verdict, times]) => `${verdict} ${times}`).join(', ')}`);
  process.exitCode = wrong.length ? 1 : 0;
} });
