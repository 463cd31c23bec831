// Workflows of every kind that a replay has to repeat: each a name, its nodes after the webhook, the chain, further links, and
// what its webhook receives. `random` makes one from a seed.
import { node, code, eachCode, set, condition, conditions, filter, get, uuid, random, pick, whole, PORT } from '../../fixtures/scenarios/n8n.mjs';

const URL = `http://127.0.0.1:${PORT}`;
const make = (n, json = 'i, even: i % 2 === 0, group: ["red", "green", "blue", "other"][i % 4], name: "item " + i') => code('Make', `return Array.from({ length: ${n} }, (_, i) => ({ json: { ${json} } }));`);
const http = (name, url, extra = {}) => ({ ...get(name, '/'), parameters: { url, options: {} }, ...extra });
const noOp = (name, extra = {}) => node('noOp', name, {}, extra);
const If = (name, left, type, operation, right, extra = {}) => node('if', name, { ...conditions(condition(left, type, operation, right)), looseTypeValidation: true, options: {} }, extra);
const typed = (type, typeVersion, name, parameters, extra = {}) => node(type, name, parameters, { typeVersion, ...extra });
const even = '={{ $json.even }}';
const branches = (...more) => [make(10), If('If', even, 'boolean', 'true'), set('Yes', [['side', 'yes']]), set('No', [['side', 'no']]), ...more];
const toMerge = [['If', 0, 'Yes', 0], ['If', 1, 'No', 0], ['Yes', 0, 'Merge', 0], ['No', 0, 'Merge', 1]];
const merge = (parameters) => node('merge', 'Merge', { options: {}, ...parameters });
const loop = (batchSize = 1, name = 'Loop') => node('splitInBatches', name, { batchSize, options: {} });
const inputs = { mappingMode: 'defineBelow', value: {}, matchingColumns: [], schema: [], attemptToConvertTypes: false, convertFieldsToString: true };
const child = (id, name, mode, extra = {}) => node('executeWorkflow', name, { workflowId: { __rl: true, value: id, mode: 'id' }, mode, workflowInputs: inputs, options: {} }, extra);

/** Sub-workflows, which have to exist first. */
export const children = {
  double: [[node('executeWorkflowTrigger', 'When called', { inputSource: 'passthrough' }), code('Double', 'return $input.all().map(({ json }) => ({ json: { ...json, twice: 2 * json.i } }));')], ['When called', 'Double']],
  strict: [[node('executeWorkflowTrigger', 'When called', { inputSource: 'passthrough' }), eachCode('Only even', 'if (!$json.even) throw new Error("odd: " + $json.i); return { json: $json };')], ['When called', 'Only even']],
};

/** `ids` are those of the children. */
export const workflows = (ids) => ({
  // ---------------------------------------------------------------- branches and merges
  'merge, append': [branches(merge({ mode: 'append' }), noOp('End')), ['Make', 'If'], [...toMerge, ['Merge', 0, 'End', 0]]],
  'merge by position': [branches(code('Fewer', 'return $input.all().slice(0, 3);'), merge({ mode: 'combine', combineBy: 'combineByPosition', includeUnpaired: true })), ['Make', 'If'], [['If', 0, 'Yes', 0], ['If', 1, 'Fewer', 0], ['Yes', 0, 'Merge', 0], ['Fewer', 0, 'Merge', 1]]],
  'merge by fields': [[make(6), code('Left', 'return $input.all().map(({ json }) => ({ json: { id: json.i, left: json.name } }));'), code('Right', 'return $input.all().filter(({ json }) => json.i % 3).map(({ json }) => ({ json: { id: json.i, right: json.group } }));'), merge({ mode: 'combine', combineBy: 'combineByFields', fieldsToMatchString: 'id', joinMode: 'enrichInput1' }), noOp('End')], ['Make', 'Left', 'Merge', 'End'], [['Make', 0, 'Right', 0], ['Right', 0, 'Merge', 1]]],
  'merge, all combinations': [[make(3), set('Sizes', [['size', '={{ "S" + $json.i }}']], { includeOtherFields: false }), merge({ mode: 'combine', combineBy: 'combineAll' })], ['Make', 'Merge'], [['Make', 0, 'Sizes', 0], ['Sizes', 0, 'Merge', 1]]],
  'merge by SQL': [[make(5), set('B', [['i', '={{ $json.i }}', 'number'], ['b', '={{ $json.i * 10 }}', 'number']], { includeOtherFields: false }), merge({ mode: 'combineBySql', query: 'SELECT input1.i, input2.b FROM input1 LEFT JOIN input2 ON input1.i = input2.i' })], ['Make', 'Merge'], [['Make', 0, 'B', 0], ['B', 0, 'Merge', 1]]],
  'merge, one branch': [branches(merge({ mode: 'chooseBranch', useDataOfInput: '2' }), noOp('End')), ['Make', 'If'], [...toMerge, ['Merge', 0, 'End', 0]]],
  'merge of three, one empty': [[make(4), code('A', 'return $input.all();'), code('B', 'return [];'), code('C', 'return [{ json: { c: 1 } }];'), merge({ mode: 'append', numberInputs: 3 })], ['Make', 'A', 'Merge'], [['Make', 0, 'B', 0], ['Make', 0, 'C', 0], ['B', 0, 'Merge', 1], ['C', 0, 'Merge', 2]]],
  'switch with fallback': [[make(9), node('switch', 'Switch', { rules: { values: ['red', 'green'].map((group) => ({ ...conditions(condition('={{ $json.group }}', 'string', 'equals', group)), renameOutput: true, outputKey: group })) }, options: { fallbackOutput: 'extra' } }), noOp('Red'), noOp('Green'), set('Rest', [['rest', 'true']])], ['Make', 'Switch'], [['Switch', 0, 'Red', 0], ['Switch', 1, 'Green', 0], ['Switch', 2, 'Rest', 0]]],
  'switch by expression': [[make(9), node('switch', 'Switch', { mode: 'expression', numberOutputs: 3, output: '={{ $json.i % 3 }}' }), noOp('Zero'), noOp('One'), noOp('Two')], ['Make', 'Switch'], [['Switch', 0, 'Zero', 0], ['Switch', 1, 'One', 0], ['Switch', 2, 'Two', 0]]],
  'filter keeps some': [[make(8), filter('Even', condition(even, 'boolean', 'true')), noOp('End')], ['Make', 'Even', 'End']],
  'filter keeps none': [[make(8), filter('None', condition('={{ $json.i }}', 'number', 'gt', 100)), noOp('End')], ['Make', 'None', 'End']],
  'compare datasets': [[make(6), code('A', 'return $input.all().slice(0, 4);'), code('B', 'return $input.all().slice(2).map(({ json }) => ({ json: { ...json, name: json.i === 3 ? "other" : json.name } }));'), typed('compareDatasets', 2.3, 'Compare', { mergeByFields: { values: [{ field1: 'i', field2: 'i' }] }, resolve: 'includeBoth', options: {} }), noOp('Only A'), noOp('Same'), noOp('Different'), noOp('Only B')], ['Make', 'A', 'Compare'], [['Make', 0, 'B', 0], ['B', 0, 'Compare', 1], ['Compare', 0, 'Only A', 0], ['Compare', 1, 'Same', 0], ['Compare', 2, 'Different', 0], ['Compare', 3, 'Only B', 0]]],
  // ---------------------------------------------------------------- loops
  'loop, one by one': [[make(5), loop(), set('Work', [['run', '={{ $runIndex }}', 'number']]), noOp('Done')], ['Make', 'Loop', 'Done'], [['Loop', 1, 'Work', 0], ['Work', 0, 'Loop', 0]]],
  'loop with a service': [[make(7), loop(3), http('Ask', `=${URL}/echo?i={{ $json.i }}`), set('Keep', [['answer', '={{ $json.path }}']]), noOp('Done')], ['Make', 'Loop', 'Done'], [['Loop', 1, 'Ask', 0], ['Ask', 0, 'Keep', 0], ['Keep', 0, 'Loop', 0]]],
  'nested loops': [[make(3), loop(1, 'Outer'), code('Two', 'return [0, 1].map((at) => ({ json: { of: $json.i, at } }));'), node('splitInBatches', 'Inner', { batchSize: 1, options: { reset: '={{ $prevNode.name === "Two" }}' } }), noOp('Work'), noOp('Done')], ['Make', 'Outer', 'Done'], [['Outer', 1, 'Two', 0], ['Two', 0, 'Inner', 0], ['Inner', 1, 'Work', 0], ['Work', 0, 'Inner', 0], ['Inner', 0, 'Outer', 0]]],
  'back edge': [[set('Count', [['n', '={{ ($json.n ?? 0) + 1 }}', 'number']]), If('Again', '={{ $json.n }}', 'number', 'lt', 4), noOp('Done')], ['Count', 'Again'], [['Again', 0, 'Count', 0], ['Again', 1, 'Done', 0]]],
  'loop that fails in its third batch': [[make(9), loop(3), eachCode('Check', 'if ($json.i === 7) throw new Error("item 7 is bad"); return { json: $json };'), noOp('Done')], ['Make', 'Loop', 'Done'], [['Loop', 1, 'Check', 0], ['Check', 0, 'Loop', 0]]],
  'loop with branches': [[make(6), loop(2), If('If', even, 'boolean', 'true'), set('Yes', [['side', 'yes']]), set('No', [['side', 'no']]), merge({ mode: 'append' }), noOp('Done')], ['Make', 'Loop', 'Done'], [['Loop', 1, 'If', 0], ...toMerge, ['Merge', 0, 'Loop', 0]]],
  'loop that looks back': [[make(4), loop(), set('Work', [['seen', "={{ $('Make').all().length }}", 'number'], ['before', "={{ $runIndex ? $('Work').all(0, $runIndex - 1)[0].json.i : -1 }}", 'number']]), noOp('Done')], ['Make', 'Loop', 'Done'], [['Loop', 1, 'Work', 0], ['Work', 0, 'Loop', 0]]],
  // ---------------------------------------------------------------- nodes that compute
  'split out': [[code('Orders', 'return [{ json: { id: 1, lines: [{ a: 1 }, { a: 2 }] } }, { json: { id: 2, lines: [] } }, { json: { id: 3, lines: ["x"] } }];'), typed('splitOut', 1, 'Split', { fieldToSplitOut: 'lines', include: 'allOtherFields', options: {} }), noOp('End')], ['Orders', 'Split', 'End']],
  'aggregate fields': [[make(6), typed('aggregate', 1, 'Aggregate', { fieldsToAggregate: { fieldToAggregate: [{ fieldToAggregate: 'name' }, { fieldToAggregate: 'i' }] }, options: {} })], ['Make', 'Aggregate']],
  'aggregate items': [[make(6), typed('aggregate', 1, 'Aggregate', { aggregate: 'aggregateAllItemData', options: {} }), noOp('End')], ['Make', 'Aggregate', 'End']],
  'sort': [[make(7), typed('sort', 1, 'Sort', { sortFieldsUi: { sortField: [{ fieldName: 'group' }, { fieldName: 'i', order: 'descending' }] }, options: {} }), typed('limit', 1, 'Limit', { maxItems: 4, keep: 'lastItems' })], ['Make', 'Sort', 'Limit']],
  'summarize': [[make(12), typed('summarize', 1.1, 'Summarize', { fieldsToSummarize: { values: [{ aggregation: 'sum', field: 'i' }, { aggregation: 'count', field: 'name' }] }, fieldsToSplitBy: 'group', options: {} })], ['Make', 'Summarize']],
  'rename keys': [[make(3), typed('renameKeys', 1, 'Rename', { keys: { key: [{ currentKey: 'name', newKey: 'title' }] }, additionalOptions: {} })], ['Make', 'Rename']],
  'item lists': [[make(5), typed('itemLists', 3.1, 'Lists', { operation: 'limit', maxItems: 2 })], ['Make', 'Lists']],
  'remove duplicates': [[make(8, 'group: i % 3'), node('removeDuplicates', 'Unique', { compare: 'selectedFields', fieldsToCompare: 'group', options: {} })], ['Make', 'Unique']],
  'dates': [[make(3, 'day: "2026-03-0" + (i + 1) + "T23:30:00Z"'), typed('dateTime', 2, 'Format', { operation: 'formatDate', date: '={{ $json.day }}', format: 'custom', customFormat: 'dd.MM.yyyy HH:mm', options: {} }), typed('dateTime', 2, 'Add', { operation: 'addToDate', magnitude: '={{ $("Make").item.json.day }}', duration: 3, options: {} })], ['Make', 'Format', 'Add'], [], { settings: { timezone: 'Asia/Tokyo' } }],
  'hash': [[make(3), typed('crypto', 1, 'Hash', { action: 'hash', type: 'SHA256', value: '={{ $json.name }}', dataPropertyName: 'hash' })], ['Make', 'Hash']],
  'random id': [[make(3), typed('crypto', 1, 'Id', { action: 'generate', encodingType: 'uuid', dataPropertyName: 'id' }), noOp('End')], ['Make', 'Id', 'End']],
  'HTML': [[code('Page', 'return [{ json: { html: "<ul><li>a</li><li>b</li></ul>" } }];'), typed('html', 1.2, 'Extract', { operation: 'extractHtmlContent', dataPropertyName: 'html', extractionValues: { values: [{ key: 'list', cssSelector: 'li', returnArray: true }] }, options: {} }), typed('html', 1.2, 'Template', { html: '<p>{{ $json.list.join() }}</p>' })], ['Page', 'Extract', 'Template']],
  'Markdown': [[code('Text', 'return [{ json: { md: "# Hi\\n- a\\n- *b*" } }];'), typed('markdown', 1, 'To HTML', { mode: 'markdownToHtml', markdown: '={{ $json.md }}', options: {} })], ['Text', 'To HTML']],
  'XML': [[code('Text', 'return [{ json: { data: "<a x=\\"1\\"><b>2</b><b>3</b></a>" } }];'), typed('xml', 1, 'Parse', { options: {} })], ['Text', 'Parse']],
  'JSON of a field': [[make(2), node('set', 'Raw', { mode: 'raw', jsonOutput: '={{ { "of": $json.i, "nested": [1, { "a": null }] } }}', options: {} })], ['Make', 'Raw']],
  // ---------------------------------------------------------------- errors
  'stop and error': [[make(2), typed('stopAndError', 1, 'Stop', { errorMessage: '=Stopped at {{ $json.name }}: "在庫切れ"' })], ['Make', 'Stop']],
  'error output': [[make(6), http('Ask', `=${URL}/{{ $json.even ? "echo" : "fail" }}?i={{ $json.i }}`, { onError: 'continueErrorOutput' }), noOp('Good'), set('Bad', [['bad', 'true']]), merge({ mode: 'append' })], ['Make', 'Ask', 'Good', 'Merge'], [['Ask', 1, 'Bad', 0], ['Bad', 0, 'Merge', 1]]],
  'error output of Code': [[make(4), eachCode('Check', 'if (!$json.even) throw new Error("odd"); return { json: $json };', { onError: 'continueErrorOutput' }), noOp('Good'), noOp('Bad')], ['Make', 'Check', 'Good'], [['Check', 1, 'Bad', 0]]],
  'error in an item': [[make(4), eachCode('Check', 'if (!$json.even) throw new TypeError("odd " + $json.i); return { json: $json };', { onError: 'continueRegularOutput' }), noOp('End')], ['Make', 'Check', 'End']],
  'service fails': [[make(2), http('Ask', `${URL}/fail`, { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 }), noOp('Never')], ['Make', 'Ask', 'Never']],
  'service fails, goes on': [[make(2), http('Ask', `${URL}/fail`, { onError: 'continueRegularOutput' }), noOp('End')], ['Make', 'Ask', 'End']],
  'Code fails on one item': [[make(5), eachCode('Price', 'if ($json.i === 3) throw new Error("no price: " + $json.name); return { json: { ...$json, price: $json.i * 2 } };'), noOp('Never')], ['Make', 'Price', 'Never']],
  'expression fails': [[make(3), set('Fail', [['x', '={{ $json.missing.deep }}']]), set('Fail hard', [['x', "={{ $('Nowhere').item.json.a }}"]])], ['Make', 'Fail', 'Fail hard']],
  'type check fails': [[make(3, 'price: i ? String(i) + "," : i'), set('Typed', [['price', '={{ $json.price }}', 'number']])], ['Make', 'Typed']],
  'child fails for some': [[make(4), child(ids.strict, 'Call', 'each', { onError: 'continueErrorOutput' }), noOp('Good'), noOp('Bad')], ['Make', 'Call', 'Good'], [['Call', 1, 'Bad', 0]]],
  'child fails': [[make(4), child(ids.strict, 'Call', 'once'), noOp('Never')], ['Make', 'Call', 'Never']],
  // ---------------------------------------------------------------- settings of nodes
  'execute once': [[make(4), set('Once', [['x', '={{ $json.i }}', 'number']], { includeOtherFields: false }), noOp('End')].map((one) => (one.name === 'Once' ? { ...one, executeOnce: true } : one)), ['Make', 'Once', 'End']],
  'service once': [[make(4), http('Ask', `${URL}/echo?once`, { executeOnce: true }), noOp('End')], ['Make', 'Ask', 'End']],
  'always output': [[make(3), { ...filter('None', condition('={{ $json.i }}', 'number', 'gt', 9)), alwaysOutputData: true }, set('After', [['x', 'y']])], ['Make', 'None', 'After']],
  'disabled nodes': [[make(3), set('Off', [['x', 'y']]), noOp('Between'), http('Off too', `${URL}/echo`), noOp('End')].map((one) => (one.name.startsWith('Off') ? { ...one, disabled: true } : one)), ['Make', 'Off', 'Between', 'Off too', 'End']],
  'empty in between': [[make(3), code('Nothing', 'return [];'), noOp('Never')], ['Make', 'Nothing', 'Never']],
  'retry on fail': [[make(2), eachCode('Check', 'if ($json.i === 1) throw new Error("never"); return { json: $json };', { retryOnFail: true, maxTries: 3, waitBetweenTries: 50 })], ['Make', 'Check']],
  // ---------------------------------------------------------------- services, children, waits
  'service of many items': [[make(25), http('Ask', `=${URL}/echo?i={{ $json.i }}`), set('Path', [['path', '={{ $json.path }}'], ['item', "={{ $('Make').item.json.name }}"]], { includeOtherFields: false })], ['Make', 'Ask', 'Path']],
  'service with headers': [[http('Ask', `${URL}/echo`), noOp('End')].map((one) => (one.name === 'Ask' ? { ...one, parameters: { ...one.parameters, options: { response: { response: { fullResponse: true } } } } } : one)), ['Ask', 'End']],
  'two services': [[make(3), http('One', `=${URL}/echo?one={{ $json.i }}`), http('Two', `=${URL}/echo?two={{ $json.path }}`), code('Sum', "return [{ json: { one: $('One').all().length, two: $input.all().map(({ json }) => json.path) } }];")], ['Make', 'One', 'Two', 'Sum']],
  'child, once': [[make(3), child(ids.double, 'Call', 'once'), noOp('End')], ['Make', 'Call', 'End']],
  'child, each': [[make(3), child(ids.double, 'Call', 'each'), set('Twice', [['four', '={{ $json.twice * 2 }}', 'number']])], ['Make', 'Call', 'Twice']],
  'short wait': [[make(2), node('wait', 'Wait', { amount: 1, unit: 'seconds' }, { typeVersion: 1.1, webhookId: uuid() }), set('After', [['waited', 'true']])], ['Make', 'Wait', 'After']],
  'Code that calls a service': [[make(2), code('Reach', `const answers = [];\nfor (const item of $input.all()) answers.push(await this.helpers.httpRequest({ url: '${URL}/echo?i=' + item.json.i }));\nreturn answers.map((json) => ({ json }));`), noOp('End')], ['Make', 'Reach', 'End']],
  // ---------------------------------------------------------------- files
  'file': [[make(5), typed('convertToFile', 1.1, 'CSV', { operation: 'csv', options: { fileName: 'orders 注文.csv' } }), set('Keep', [['kept', 'true']]), noOp('End')], ['Make', 'CSV', 'Keep', 'End']],
  'file in a loop': [[make(3), loop(), typed('convertToFile', 1.1, 'JSON', { operation: 'toJson', options: { fileName: '={{ $runIndex }}.json' } }), noOp('Done')], ['Make', 'Loop', 'Done'], [['Loop', 1, 'JSON', 0], ['JSON', 0, 'Loop', 0]]],
  'file of a service': [[{ ...http('Load', `${URL}/file`), parameters: { url: `${URL}/file`, options: { response: { response: { responseFormat: 'file' } } } } }, code('Size', 'return $input.all().map((item) => ({ json: { size: item.binary.data.fileSize }, binary: item.binary }));')], ['Load', 'Size']],
  // ---------------------------------------------------------------- texts, sizes, names
  'half a surrogate pair': [[code('Cut', 'return ["ab\\u{1f600}".slice(0, 3), "\\u{1f600}".slice(1), "\\ud83d\\ud83d", "\\u{1f600}", "\\\\ud83d"].map((text) => ({ json: { text, ["key " + text]: 1 } }));'), http('Ask', `${URL}/odd`), set('Keep', [['length', '={{ $json.text.length }}', 'number']]), noOp('End')], ['Cut', 'Ask', 'Keep', 'End']],
  'control characters': [[code('Odd', 'return [{ json: { a: "\\u0000\\u001b\\u007f\\u2028\\u2029\\ufeff", "\\u0007": "\\b\\f\\n\\r\\t\\"\\\\/" } }];'), http('Ask', `${URL}/odd`), noOp('End')], ['Odd', 'Ask', 'End']],
  'numbers': [[http('Ask', `${URL}/numbers`), code('Sum', 'return $input.all().map(({ json }) => ({ json: { ...json, sum: json.small + json.big } }));')], ['Ask', 'Sum']],
  'five thousand keys': [[code('Wide', 'const json = {}; for (let i = 0; i < 5000; i++) json["key " + i] = i; return [{ json }];'), http('Ask', `${URL}/wide`), noOp('End')], ['Wide', 'Ask', 'End']],
  'keys that are numbers': [[code('Keys', 'return [{ json: { b: 1, 10: "ten", 2: "two", a: { 1: [] } } }];'), http('Ask', `${URL}/keys`), noOp('End')], ['Keys', 'Ask', 'End']],
  'deep nesting': [[code('Deep', 'let json = { end: 1 }; for (let i = 0; i < 60; i++) json = { in: json, list: [[[i]]] }; return [{ json }];'), noOp('End')], ['Deep', 'End']],
  'a large item': [[http('Large', `${URL}/large?kb=1500`), set('Size', [['size', '={{ $json.text.length }}', 'number']], { includeOtherFields: false })], ['Large', 'Size']],
  'names with quotes': [[{ ...make(3), name: "O'Brien \"x\" \\ {{ 1 }}" }, http('請求書 🎉', `${URL}/echo`), set('Look back', [['i', `={{ $("O'Brien \\"x\\" \\\\ {{ 1 }}").first().json.i }}`, 'number']])], ["O'Brien \"x\" \\ {{ 1 }}", '請求書 🎉', 'Look back']],
  'a node called constructor': [[{ ...make(2), name: 'constructor' }, noOp('toString')], ['constructor', 'toString']],
  // ---------------------------------------------------------------- looking back
  'look back': [[make(4), filter('Even', condition(even, 'boolean', 'true')), set('Back', [['item', "={{ $('Make').item.json.name }}"], ['first', "={{ $('Make').first().json.name }}"], ['last', "={{ $('Make').last().json.name }}"], ['matching', "={{ $('Make').itemMatching($itemIndex).json.name }}"], ['old', '={{ $node["Make"].json.name }}'], ['before', '={{ $prevNode.name }}'], ['at', '={{ $itemIndex }}', 'number']])], ['Make', 'Even', 'Back']],
  'look back over a service': [[make(3), http('Ask', `=${URL}/echo?i={{ $json.i }}`), code('Pair', "return $input.all().map((item, at) => ({ json: { path: item.json.path, of: $('Make').itemMatching(at).json.name }, pairedItem: at }));"), set('Back', [['name', "={{ $('Make').item.json.name }}"]])], ['Make', 'Ask', 'Pair', 'Back']],
  'the webhook looked at late': [[make(2), set('Body', [['q', "={{ $('Webhook').first().json.body.q }}"]])], ['Make', 'Body'], [], { body: { q: 'asked "so"' } }],
  // ---------------------------------------------------------------- what depends on more than items
  'clock': [[make(2), set('Now', [['now', '={{ $now.toMillis() }}', 'number']])], ['Make', 'Now'], [], { depends: true }],
  'date node': [[make(1), typed('dateTime', 2, 'Today', { operation: 'getCurrentDate', options: {} })], ['Make', 'Today'], [], { depends: true }],
  'chance': [[make(2), code('Dice', 'return $input.all().map(({ json }) => ({ json: { ...json, dice: Math.random() } }));')], ['Make', 'Dice'], [], { depends: true }],
  'its own id': [[set('Id', [['id', '={{ $execution.id }}'], ['workflow', '={{ $workflow.name }}']])], ['Id'], [], { depends: true }],
  'static data': [[code('Count', "const data = $getWorkflowStaticData('node'); data.n = (data.n ?? 0) + 1; return [{ json: { n: data.n } }];")], ['Count'], [], { depends: true, twice: true }],
});

/** A workflow from random numbers: four to nine nodes, branches that join again, services between them. */
export function chance() {
  const nodes = [make(whole(1, 12))], links = [];
  let last = ['Make', 0], at = 0;
  const add = (one, from = last) => { nodes.push(one); links.push([from[0], from[1], one.name, 0]); last = [one.name, 0]; return one.name; };
  const simple = () => pick([
    (name) => set(name, [['s' + at, `={{ ($json.i ?? 0) * ${whole(1, 5)} }}`, 'number']]),
    (name) => code(name, `return $input.all().map((item, at) => ({ json: { ...item.json, c${at}: $runIndex }, pairedItem: at }));`),
    (name) => eachCode(name, `if ($json.i === ${whole(0, 20)}) throw new Error('${name}: ' + $json.i); return { json: $json };`, pick([{}, { onError: 'continueRegularOutput' }])),
    (name) => http(name, `=${URL}/echo?i={{ $json.i }}`, pick([{}, { executeOnce: true }, { alwaysOutputData: true }])),
    (name) => typed('sort', 1, name, { sortFieldsUi: { sortField: [{ fieldName: 'i', order: 'descending' }] }, options: {} }),
    (name) => typed('limit', 1, name, { maxItems: whole(1, 6) }),
    (name) => filter(name, condition('={{ $json.i }}', 'number', 'lt', whole(2, 12))),
    (name) => noOp(name, pick([{}, { disabled: true }])),
    (name) => http(name, `=${URL}/{{ $json.i % 3 ? "echo" : "fail" }}`, { onError: 'continueRegularOutput' }),
  ])(`Step ${++at}`);
  for (let steps = whole(2, 5); steps > 0; steps--) {
    if (random() < 0.6) { add(simple()); continue; }
    const name = add(If(`If ${++at}`, '={{ ($json.i ?? 0) % 2 }}', 'number', 'equals', 0)), one = add(simple(), [name, 0]), two = add(simple(), [name, 1]);
    const merged = node('merge', `Merge ${++at}`, pick([{ mode: 'append' }, { mode: 'combine', combineBy: 'combineByPosition', options: {} }]));
    nodes.push(merged); links.push([one, 0, merged.name, 0], [two, 0, merged.name, 1]); last = [merged.name, 0];
  }
  return [nodes, ['Make'], links];
}
