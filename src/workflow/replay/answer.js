const hash = ({ json }) => {
  const text = JSON.stringify(json);
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
};
const fail = (message) => {
  let error = {};
  try { Buffer.alloc(-1); } catch (thrown) { error = thrown; }
  error.message = message;
  error.stack = ` Error: ${message.split('\n')[0]}`;
  throw error;
};
const given = once ? $input.all().slice(0, 1) : $input.all();
const hashes = given.map(hash);
const run = await load($runIndex);
if (run && (run.in === null || (run.in.length === hashes.length && run.in.every((one, at) => one === hashes[at])))) {
  return run.error ? fail(run.error) : run.out;
}
const origin = ({ pairedItem }) => {
  const [first, ...more] = [pairedItem].flat();
  return more.length ? undefined : first?.item ?? first;
};
const said = (answer) => answer && JSON.stringify(answer.map(({ json, binary }) => [json, binary]));
const known = new Map(), asked = new Map();
for (const at of runs.keys()) {
  const { in: received, out, error, outputs } = await load(at);
  new Set(received).forEach((one) => asked.set(one, (asked.get(one) ?? 0) + 1));
  if (!received || error || outputs > 1 || !out.every((item) => Number.isInteger(origin(item)))) continue;
  received.forEach((one, at) => {
    const answer = out.filter((item) => origin(item) === at), before = known.get(one);
    known.set(one, before === undefined || said(before) === said(answer) ? answer : null);
  });
}
const asksAgain = (one) => $runIndex >= runs.length && asked.get(one) > 1;
return given.flatMap((_, at) => {
  if (!known.get(hashes[at]) || asksAgain(hashes[at])) fail(`n8n-lens: no recorded answer of ${name} to item ${at} of run ${$runIndex}`);
  return known.get(hashes[at]).map((item) => ({ ...item, pairedItem: { item: at } }));
});