// npm's `flatted` against ours. `write FILE`: random values, one per line: flatted's text, a tab, and the JSON
// that n8n would send for it. `check FILE`: reads lines of the same form, and compares what flatted reads with the JSON.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const { parse, stringify } = createRequire(`${process.env.CLIENTS_DIR}/`)('flatted');
const [, , mode, file] = process.argv;

// splitmix32, so that the values are the same in each run
let state = 7;
function below(end) {
  state = (state + 0x9e3779b9) | 0;
  let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) % end;
}
const pick = (choices) => choices[below(choices.length)];

const STRINGS = ['', 'a', '0', '1', '12', 'é', '漢字', '🎉', '\ud83d', 'x\udc00y', '\u0000', '\n', '"', '\\', '[{', '"]', ',', '__proto__', 'x'.repeat(300)];
const SCALARS = [0, -0, 1, -1, 1.5, 1e300, 1e-7, 2 ** 53, NaN, Infinity, true, false, null, undefined];

/** Any value, which may refer to containers made before, and to those that contain it. */
function value(depth, known) {
  if (depth === 0 || below(3) === 0) return below(2) ? pick(STRINGS) : pick(SCALARS);
  if (known.length && below(5) === 0) return pick(known);
  const made = below(2) ? [] : {};
  known.push(made);
  for (let parts = below(6); parts > 0; parts--) {
    const part = value(depth - 1, known);
    if (Array.isArray(made)) made.push(part);
    else Object.defineProperty(made, pick(STRINGS), { value: part, enumerable: true, configurable: true, writable: true });
  }
  return made;
}

/** n8n's `replaceCircularReferences`, except that no names are left out. */
function withoutCycles(value, path = new Set()) {
  if (typeof value !== 'object' || value === null) return value;
  if (path.has(value)) return '[Circular Reference]';
  path.add(value);
  const copy = Array.isArray(value) ? [] : {};
  for (const name of Object.keys(value)) {
    const part = withoutCycles(value[name], path);
    Object.defineProperty(copy, name, { value: part, enumerable: true, configurable: true, writable: true });
  }
  path.delete(value);
  return copy;
}

if (mode === 'write') {
  const lines = [];
  while (lines.length < 10_000) {
    const made = value(1 + below(6), []);
    const json = JSON.stringify(withoutCycles(made));
    if (json !== undefined && json.length < 100_000) lines.push(`${stringify(made)}\t${json}`);
  }
  fs.writeFileSync(file, lines.join('\n'));
} else {
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  for (const line of lines) {
    const [flat, json] = line.split('\t');
    const read = JSON.stringify(withoutCycles(parse(flat)));
    if (read !== json) throw new Error(`flatted reads ${flat} as ${read}, not as ${json}`);
  }
  console.log(`flatted read ${lines.length} texts`);
}
