// Makes the executions that page.mjs visits, as n8n's API sends them: `node bodies.mjs FOLDER`.
//
//     1000.json  a good execution of the workflow of 1001, a day before it
//     1001.json  50,000 orders; the last node fails
//     1002.json  three nodes of 100,000 runs, two of them failed
//     1003.json  an attack: markup, scripts, bidirectional text, 1 MB strings and `__proto__` as names, keys and values
//     1004.json  an agent with sub-nodes around it, connections that cross nodes, and tiny numbers
//     1005.json  1,500 nodes with long names; the last one fails
//     1006.json  a good execution whose items n8n redacted

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DAY = 86_400_000;
/** Yesterday at noon: the page groups the failures of the last days, and its answer must not depend on the date of the tests. */
const START = Math.floor(Date.now() / DAY) * DAY - DAY / 2;

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });

/** The same numbers on every run (mulberry32). */
let seed = 7;
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const pick = (list) => list[Math.floor(random() * list.length)];
const iso = (ms) => new Date(ms).toISOString();

function node(name, type, position, parameters = {}) {
  return { id: name.slice(0, 8), name, type: `n8n-nodes-base.${type}`, typeVersion: 1, position, parameters };
}

function connections(edges) {
  const all = new Map();
  for (const [from, output, to, type = 'main'] of edges) {
    if (!all.has(from)) all.set(from, {});
    const outputs = (all.get(from)[type] ??= []);
    while (outputs.length <= output) outputs.push([]);
    outputs[output].push({ node: to, type, index: 0 });
  }
  return Object.fromEntries(all);
}

/** A run of a node; `sources`: [node, output, run]. */
function run(start, ms, index, sources, outputs, error) {
  return {
    startTime: start,
    executionIndex: index,
    source: sources.map(([previousNode, previousNodeOutput, previousNodeRun]) => ({ previousNode, previousNodeOutput, previousNodeRun })),
    hints: [],
    executionTime: ms,
    executionStatus: error ? 'error' : 'success',
    ...(error ? { error } : {}),
    ...(outputs ? { data: { main: outputs } } : {}),
  };
}

function write(id, { workflow, name, nodes, edges, runs, start, stop, error, last, redactionInfo }) {
  const body = {
    id, finished: !error, mode: 'trigger', retryOf: null, retrySuccessId: null, status: error ? 'error' : 'success',
    createdAt: iso(start), startedAt: iso(start), stoppedAt: iso(stop), deletedAt: null, workflowId: workflow, waitTill: null,
    data: { version: 1, startData: {}, ...(redactionInfo ? { redactionInfo } : {}), resultData: { ...(error ? { error } : {}), runData: Object.fromEntries(runs), ...(last ? { lastNodeExecuted: last } : {}) } },
    workflowData: { id: workflow, name, nodes, connections: connections(edges), settings: {} },
  };
  writeFileSync(join(folder, `${id}.json`), JSON.stringify(body));
}

const items = (values) => values.map((json, item) => ({ json, pairedItem: { item } }));

function invoices() {
  const nodes = [
    node('Every night', 'scheduleTrigger', [0, 0]),
    node('Get orders', 'httpRequest', [220, 0], { url: 'https://shop.example.com/api/orders' }),
    node('Is paid?', 'if', [440, 0]),
    node('Add VAT', 'set', [660, -100]),
    node('Create invoices', 'httpRequest', [880, -100], {
      method: 'POST', url: 'https://billing.example.com/v2/invoices', sendBody: true, specifyBody: 'json', jsonBody: '={{ { customer: $json.customer.nmae, total: $json.total } }}',
      sendHeaders: true, headerParameters: { parameters: [{ name: 'X-Api-Key', value: 'k-123456' }, { name: 'X-Shop', value: 'north' }] },
    }),
    node('Notify sales', 'slack', [1100, -100]),
    node('Archive', 'noOp', [660, 120]),
  ];
  const edges = [
    ['Every night', 0, 'Get orders'], ['Get orders', 0, 'Is paid?'], ['Is paid?', 0, 'Add VAT'],
    ['Is paid?', 1, 'Archive'], ['Add VAT', 0, 'Create invoices'], ['Create invoices', 0, 'Notify sales'],
  ];
  const orders = Array.from({ length: 50_000 }, (_, i) => {
    const name = `${pick(['Ann', 'Marta', 'David', 'Yuki', 'Omar', 'Björn'])} ${pick(['Jansen', 'Petit', 'Rossi', 'Tanaka', 'Weber'])}`;
    return {
      id: `ORD-${100_000 + i}`, customer: { name, city: pick(['Berlin', 'Lyon', 'Utrecht', 'Turin', 'Graz']) },
      total: Math.round(random() * 90_000) / 100, currency: i === 31_337 ? 'CHF' : 'EUR',
      status: pick(['paid', 'paid', 'paid', 'open', 'refunded']), createdAt: iso(START - Math.floor(random() * 1e9)), lines: 1 + Math.floor(random() * 8),
    };
  });
  const error = {
    name: 'NodeApiError', message: 'The service is receiving too many requests from you', httpCode: '429',
    description: 'Rate limit of the invoicing service reached: at most 30,000 invoices an hour. Try again at 07:00.',
    stack: 'NodeApiError: The service is receiving too many requests from you\n    at ExecuteContext.execute (HttpRequestV3.node.ts:892:16)',
    messages: ['429 - "{\\"error\\":\\"rate limit\\"}"'],
  };
  // The good execution ran before someone misspelt the name of the customer.
  const before = nodes.map((each) => (each.name === 'Create invoices' ? { ...each, parameters: { ...each.parameters, jsonBody: '={{ { customer: $json.customer.name, total: $json.total } }}' } } : each));
  for (const [id, good] of [['1000', true], ['1001', false]]) {
    const start = good ? START - DAY : START;
    const given = good ? orders.slice(0, 48_000).map((order) => ({ ...order, vatId: 'DE1' })) : orders;
    const all = given.map((json) => ({ json, pairedItem: { item: 0 } }));
    const pairs = given.map((json, item) => ({ json, pairedItem: { item } }));
    const paid = pairs.filter(({ json }) => json.status === 'paid');
    const rest = pairs.filter(({ json }) => json.status !== 'paid');
    error.context = { itemIndex: paid.findIndex(({ json }) => json.currency === 'CHF'), request: { method: 'POST', uri: 'https://billing.example.com/v2/invoices' } };
    const priced = items(paid.map(({ json }) => ({ ...json, vat: Math.round(json.total * 19) / 100 })));
    const runs = [
      ['Every night', [run(start, 1, 0, [], [[{ json: { timestamp: iso(start) } }]])]],
      ['Get orders', [run(start + 3, good ? 2_420 : 8_420, 1, [['Every night', 0, 0]], [all])]],
      ['Is paid?', [run(start + 8_431, 390, 2, [['Get orders', 0, 0]], [paid, rest])]],
      ['Add VAT', [run(start + 8_830, 510, 3, [['Is paid?', 0, 0]], [priced])]],
      ['Create invoices', [run(start + 9_345, 14_200, 4, [['Add VAT', 0, 0]], good ? [items(priced.map((_, i) => ({ invoice: `INV-${i}` })))] : null, good ? null : error)]],
      ...(good ? [['Notify sales', [run(start + 23_550, 140, 5, [['Create invoices', 0, 0]], [[{ json: { ok: true }, pairedItem: { item: 0 } }]])]]] : []),
      ['Archive', [run(start + 8_824, 4, 6, [['Is paid?', 1, 0]], [rest])]],
    ];
    write(id, { workflow: 'wfOrders', name: 'Nightly invoices', nodes: good ? before : nodes, edges, runs, start, stop: start + 23_700, ...(good ? {} : { error, last: 'Create invoices' }) });
  }
}

function subscriptions() {
  const nodes = [
    node('Start', 'manualTrigger', [0, 0]), node('Loop Over Items', 'splitInBatches', [220, 0]),
    node('Charge card', 'httpRequest', [440, 80]), node('Write row', 'set', [660, 80]), node('Done', 'noOp', [440, -120]),
  ];
  const edges = [
    ['Start', 0, 'Loop Over Items'], ['Loop Over Items', 0, 'Done'], ['Loop Over Items', 1, 'Charge card'],
    ['Charge card', 0, 'Write row'], ['Write row', 0, 'Loop Over Items'],
  ];
  const [loop, charge, rows] = [[], [], []];
  let time = START + 5;
  let index = 1;
  for (let i = 0; i < 100_000; i += 1) {
    loop.push(run(time, 0, index++, [i ? ['Write row', 0, i - 1] : ['Start', 0, 0]], [[], [{ json: { n: i } }]]));
    const ms = i % 50 ? pick([1, 2, 2, 3, 4]) : 60;
    const declined = i === 41_234 || i === 77_001;
    const result = [[{ json: declined ? { n: i, error: 'Card declined' } : { n: i, charged: i % 7 }, pairedItem: { item: 0 } }]];
    charge.push(run(time, ms, index++, [['Loop Over Items', 1, i]], result, declined ? { name: 'NodeApiError', message: 'Card declined', httpCode: '402' } : null));
    time += ms;
    rows.push(run(time, 1, index++, [['Charge card', 0, i]], [[{ json: { n: i, row: i + 1 }, pairedItem: { item: 0 } }]]));
    time += i === 60_000 ? 90_000 : 1;
  }
  loop.push(run(time, 1, index++, [['Write row', 0, 99_999]], [[{ json: { n: 0 } }], []]));
  const runs = [
    ['Start', [run(START, 1, 0, [], [[{ json: {} }]])]], ['Loop Over Items', loop], ['Charge card', charge], ['Write row', rows],
    ['Done', [run(time + 1, 2, index, [['Loop Over Items', 0, 100_000]], [[{ json: { n: 0 } }]])]],
  ];
  write('1002', { workflow: 'wfRuns', name: 'Charge subscriptions', nodes, edges, runs, start: START, stop: time + 4 });
}

function attack() {
  const markup = '<img src=x onerror="document.title=\'pwned\'">';
  const script = '</script><script>document.title="pwned"</script>';
  const bidi = 'safe\u202egnp.exe\u202c \u2066hidden\u2069';
  const names = [markup, script, bidi, '__proto__', 'constructor', 'javascript:alert(1)', 'x'.repeat(300), 'a\u0000b\nnew line', 'hasOwnProperty'];
  const nodes = names.map((name, i) => node(name, 'noOp', [220 * (i % 5), 160 * Math.floor(i / 5)], { note: script }));
  const edges = names.slice(1).map((name, i) => [names[i], 0, name]);
  // JSON.parse makes `__proto__` a key like any other; a literal would set the prototype.
  const hostile = JSON.parse(`{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": 1}}, "<svg onload=alert(1)>": 1, "\u202ekey": "x", "null": null}`);
  const json = { html: markup, script, bidi, url: 'javascript:alert(1)', huge: `<b>${'A'.repeat(1_000_000)}` };
  for (const [key, value] of Object.entries(hostile)) Object.defineProperty(json, key, { value, enumerable: true });
  const error = { name: markup, message: script, description: bidi, stack: `${markup}\n${script}` };
  const last = names.at(-1);
  const runs = names.map((name, i) => {
    const source = i ? [[names[i - 1], 0, 0]] : [];
    if (name === last) return [name, [run(START + 99, 5, 20, source, null, error)]];
    const values = i < 4 ? [json, { html: '&lt;b&gt;', n: 2 }] : Array.from({ length: 60 }, (_, n) => ({ k: markup, n }));
    return [name, [run(START + i * 10, 9, i, source, [items(values)])]];
  });
  write('1003', { workflow: 'wf<b>', name: markup, nodes, edges, runs, start: START, stop: START + 110, error, last });
}

/** A call of a sub-node by an agent. */
function call(start, ms, index, agent, type, asked, answered) {
  return { ...run(start, ms, index, [[agent, 0, 0]]), data: { [type]: [[{ json: answered }]] }, inputOverride: { [type]: [[{ json: asked }]] } };
}

/** The answer of a model. */
function generation(text, reason, promptTokens = 40, completionTokens = 12) {
  return { response: { generations: [[{ text, generationInfo: { finish_reason: reason } }]] }, tokenUsage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens } };
}

/** An agent whose sub-nodes are where people put them: below it, in its row, and above it; lines would lie behind nodes. */
function agent() {
  const nodes = [
    node('Ask', 'webhook', [0, 0]), node('Agent', 'agent', [220, 0], { text: '=Answer this: {{ $json.question }}', options: { systemMessage: '=You are {{ $json.who }}.' } }), node('Model', 'lmChatOpenAi', [440, 0]), node('Tool', 'toolCalculator', [660, 0]),
    node('Memory', 'memoryBuffer', [180, 200]), node('Vectors', 'vectorStore', [300, -180]), node('Answer', 'respond', [880, 0]),
    node('Each', 'splitInBatches', [1100, 0]), node('Work', 'code', [1320, 0]), node('End', 'noOp', [1560, 0]),
  ];
  const edges = [
    ['Ask', 0, 'Agent'], ['Ask', 0, 'Work'], ['Agent', 0, 'Answer'], ['Agent', 0, 'End'], ['Answer', 0, 'Each'], ['Each', 0, 'End'], ['Each', 1, 'Work'], ['Work', 0, 'Each'],
    ['Model', 0, 'Agent', 'ai_languageModel'], ['Tool', 0, 'Agent', 'ai_tool'], ['Memory', 0, 'Agent', 'ai_memory'], ['Vectors', 0, 'Agent', 'ai_tool'],
  ];
  const drift = Array.from({ length: 60 }, (_, i) => ({ n: i, drift: -5.6e-13 * (1 + i * 2000), share: 0.0004 + i / 1e6, zero: -0 }));
  const main = [['Ask', []], ['Agent', [['Ask', 0, 0]]], ['Answer', [['Agent', 0, 0]]]]
    .map(([name, sources], i) => [name, [run(START + 10 * i, 8, i, sources, [items(drift)])]]);
  const sub = (name, type, index) => [name, [0, 1].map((n) => call(START + 11 + n, 3, index + n, 'Agent', type,
    questions[type]?.[n] ?? { query: `${n}` }, answers[type]?.[n] ?? { response: `${n}` }))];
  const questions = { ai_languageModel: [{ messages: ['System: You are a careful clerk.\nHuman: Answer this: What is 6*7?'] }, { messages: ['Human: What is 6*7?\nTool: 42'] }], ai_tool: [{ query: '6*7' }, { query: '7*7' }] };
  const answers = { ai_languageModel: [generation('', 'tool_calls'), generation('It is 42.', 'stop')], ai_tool: [{ response: '42' }, { response: '49' }] };
  const batches = [['Each', [run(START + 40, 1, 9, [['Answer', 0, 0]], [items(drift), items(drift.slice(0, 12))])]], ['Work', [run(START + 45, 2, 10, [['Each', 1, 0]], [items(drift)])]]];
  const runs = [...main, sub('Model', 'ai_languageModel', 3), sub('Tool', 'ai_tool', 5), sub('Memory', 'ai_memory', 7), ...batches];
  write('1004', { workflow: 'wfAgent', name: 'Agent', nodes, edges, runs, start: START, stop: START + 90 });
}

function many() {
  const name = (i) => `Step ${i} ${(i % 3 === 1 ? '多数のうちの一つ👩‍👩‍👧' : 'of many ').repeat(60)}`;
  const nodes = Array.from({ length: 1500 }, (_, i) => node(name(i), 'set', [220 * (i % 40), 120 * Math.floor(i / 40)]));
  const edges = nodes.slice(1).map((_, i) => [name(i), 0, name(i + 1)]);
  const error = { name: 'NodeOperationError', message: 'The last step failed' };
  const runs = nodes.map((_, i) => [name(i), [run(START + i, 1, i, i ? [[name(i - 1), 0, 0]] : [], i < 1499 ? [items([{ i }])] : null, i < 1499 ? null : error)]]);
  write('1005', { workflow: 'wfMany', name: 'Many steps', nodes, edges, runs, start: START, stop: START + 1500, error, last: name(1499) });
}

function redacted() {
  const nodes = [node('Start', 'manualTrigger', [0, 0]), node('Read', 'set', [220, 0])];
  const runs = nodes.map(({ name }, i) => [name, [run(START + i, 1, i, i ? [['Start', 0, 0]] : [], [[{ json: {} }]])]]);
  write('1006', { workflow: 'wfSecret', name: 'Secret', nodes, edges: [['Start', 0, 'Read']], runs, start: START, stop: START + 2, redactionInfo: { isRedacted: true } });
}

/**
 * Two agents of version 3, which n8n continues after each call of a tool: what it stores of one begins when it was continued last, after what it
 * called. The second one was canceled before its tool began: n8n has reserved a run for that, and stored none of the agent.
 */
function continued() {
  const nodes = [node('Ask', 'webhook', [0, 0]), node('Agent', 'agent', [220, 0], { text: '=What is {{ $json.q }}?' }), node('Second', 'agent', [440, 0]), node('Model', 'lmChatOpenAi', [220, 200]), node('Tool', 'toolSearch', [440, 200])];
  const sub = (agent) => [['Model', 0, agent, 'ai_languageModel'], ['Tool', 0, agent, 'ai_tool']];
  const edges = [['Ask', 0, 'Agent'], ['Agent', 0, 'Second'], ...sub('Agent'), ...sub('Second')];
  const model = (at, index, agent, messages, answer) => call(START + at, 30, index, agent, 'ai_languageModel', { messages: [messages] }, answer);
  const first = 'Human: What is in stock?';
  const reserved = { inputOverride: { ai_tool: [[{ json: { query: 'more' } }]] }, source: [{ previousNode: 'Second' }], executionIndex: 0, executionTime: 0, startTime: 0 };
  const runs = [
    ['Tool', [call(START + 200, 30, 3, 'Agent', 'ai_tool', { query: 'stock', limit: 5 }, { response: 'ok', rows: 2 }), reserved]],
    ['Model', [
      model(100, 2, 'Agent', first, generation('', 'tool_calls', 10, 5)), model(310, 5, 'Agent', `${first}\nTool: ok`, generation('Two rows.', 'stop', 30, 7)),
      model(500, 7, 'Second', 'Human: And more?', generation('', undefined, 8, 4)),
    ]],
    ['Ask', [run(START, 1, 0, [], [[{ json: { q: 'in stock' } }]])]],
    ['Agent', [run(START + 300, 60, 4, [['Ask', 0, 0]], [[{ json: { output: 'Two rows.' } }]])]],
  ];
  write('1007', { workflow: 'wfContinued', name: 'Continued agents', nodes, edges, runs, start: START, stop: START + 600 });
}

redacted();
invoices();
subscriptions();
attack();
agent();
continued();
many();
