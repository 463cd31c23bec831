// n8n's parsers against ours. Reads texts with our findings, one JSON object per line, and writes counts to a
// file: what @n8n/tournament (acorn, for code) refuses against our faults, and with `check` also the chains of members
// in acorn's trees against our references and names.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.CLIENTS_DIR}/`);
const { Tournament } = require('@n8n/tournament');
const { splitExpression } = require('@n8n/tournament/dist/ExpressionSplitter.js');
const acorn = require('acorn');
const [, , mode, file, countsFile] = process.argv;
const tournament = new Tournament();
const SCRIPT = {
  ecmaVersion: 'latest', sourceType: 'script', allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true,
  allowSuperOutsideMethod: true,
};

/** The results of n8n's `getResolvables`. */
const resolvables = (text) => text.match(/({{[\s\S]*?}})/g) ?? [];

/** The expressions of a text, in the form in which n8n passes them to tournament. */
const expressions = ({ syntax, text }) => (syntax === 'Template' ? resolvables(text) : [text.slice(1)]);

/** Why n8n refuses a text; '' if it does not. */
function refusal(line) {
  try {
    if (line.syntax === 'Code') acorn.parse(line.text, SCRIPT);
    else expressions(line).forEach((expression) => tournament.getExpressionCode(expression));
    return '';
  } catch (error) {
    return String(error.message || error);
  }
}

/** The trees of all code in a text. */
function trees(line) {
  if (line.syntax === 'Code') return [acorn.parse(line.text, SCRIPT)];
  const codes = expressions(line).flatMap(splitExpression).filter((chunk) => chunk.type === 'code');
  const wrapped = codes.map(({ text }) => (text.trimStart()[0] === '{' ? `(${text})` : text));
  return wrapped.map((code) => acorn.parse(code, SCRIPT));
}

/** Calls `visit` with each node and the nodes around it, the outermost first. */
function walk(node, around, visit) {
  if (!node || typeof node.type !== 'string') return;
  visit(node, around);
  const below = [...around, node];
  for (const key of Object.keys(node)) {
    for (const child of [node[key]].flat()) if (child && typeof child === 'object') walk(child, below, visit);
  }
}

const literal = (node) => {
  if (node?.type === 'Literal' && ['string', 'number'].includes(typeof node.value)) return node.value;
  if (node?.type === 'TemplateLiteral' && !node.expressions.length) return node.quasis[0].value.cooked;
  return undefined;
};

/** The links after an identifier: members (a name or an index), `null` if computed, and calls as lists of arguments. */
function links(node, around) {
  const found = [];
  for (let up = around.length - 1, inner = node; up >= 0; up--) {
    const outer = around[up];
    if (outer.type === 'MemberExpression' && outer.object === inner) {
      found.push({ member: outer.computed ? literal(outer.property) ?? null : outer.property.name, isDot: !outer.computed });
    } else if (outer.type === 'CallExpression' && outer.callee === inner) found.push({ call: outer.arguments });
    else break;
    inner = outer;
  }
  return found;
}

/** The fields that `const { a, b: c = 1, ...rest } = CHAIN` takes; none in any other form. */
function taken(node, around) {
  let inner = node, up = around.length - 1;
  for (; up >= 0 && [around[up].object, around[up].callee].includes(inner); up--) inner = around[up];
  const { type, init, id } = around[up] ?? {};
  if (type !== 'VariableDeclarator' || init !== inner || id.type !== 'ObjectPattern') return [];
  const isName = (value) => value.type === 'Identifier' || (value.type === 'AssignmentPattern' && value.left.type === 'Identifier');
  const isFlat = (part) => (part.type === 'RestElement' ? part.argument.type === 'Identifier'
    : !part.computed && part.key.type === 'Identifier' && isName(part.value));
  return id.properties.every(isFlat) ? id.properties.filter(({ key }) => key).map(({ key }) => key) : [];
}

/** A path in our notation: its names and indexes, without a method, and whether a length was removed from its end. */
function written(chain) {
  const end = chain.findIndex(({ call, member }) => call || member === null);
  const steps = end < 0 ? [...chain] : chain.slice(0, end);
  if (chain[end]?.call) steps.pop();
  const last = steps.at(-1);
  const length = Boolean(last?.isDot && last.member === 'length');
  if (length) steps.pop();
  return JSON.stringify([steps.map(({ member }) => member), length]);
}

const isCheerio = (text) => /cheerio/.test(text) || /(?:const|let|var)\s+\$\s*=|\(\s*\$\s*[,)]\s*(?:=>|\{)/.test(text);

/** References and names, as text, in order. */
function found(line) {
  const references = [], names = [];
  const cheerio = isCheerio(line.text);
  // The identifier whose chain is read, with the nodes around it.
  let current;
  // With the places of references: a pattern stands before what its fields are taken from.
  let placed = [];
  const add = (name, which, chain) => {
    const [path, length] = JSON.parse(written(chain));
    const place = (start, steps, isLength) => placed.push([start, `${name ?? ''} ${which} ${JSON.stringify([steps, isLength])}`]);
    place(current[0].start, path, length);
    const isWhole = !length && path.length === chain.length;
    if (isWhole) for (const key of taken(...current)) place(key.start, [...path, key.name], false);
  };
  const isJson = (link) => link?.member === 'json';
  const element = (name, [at, ...rest], plain) => {
    if (at?.member === undefined || !isJson(rest[0])) return;
    if (typeof at.member === 'number') add(name, plain ? `At(${at.member})` : 'Any', rest.slice(1));
    else if (at.member === null) add(name, 'Any', rest.slice(1));
  };
  const items = (name, [method, ...rest]) => {
    const call = rest[0]?.call;
    if (method?.member === 'item' && !call) { if (isJson(rest[0])) add(name, 'Item', rest.slice(1)); return; }
    if (!call) return;
    const after = rest.slice(1);
    const which = { first: 'First', last: 'Last', pairedItem: 'Item', itemMatching: 'Any' }[method.member];
    if (method.member === 'all') element(name, after, !call.length);
    else if (which && isJson(after[0]) && (method.member !== 'itemMatching' || call.length)) add(name, call.length ? 'Any' : which, after.slice(1));
  };
  const identifier = (node, around) => {
    const outer = around.at(-1);
    const isName = outer?.type === 'MemberExpression' && !outer.computed && outer.property === node;
    if (isName && node.name !== '$node') return;
    if (outer?.type === 'Property' && outer.key === node && !outer.computed && !outer.shorthand) return;
    if (outer?.type === 'Property' && outer.shorthand && outer.value === node) return;
    // `a.$node`: the chain continues after the outer member.
    const chain = isName ? links(outer, around.slice(0, -1)) : links(node, around);
    const [first, ...rest] = chain;
    if (['$json', '$data'].includes(node.name)) add(undefined, 'Item', chain);
    else if (node.name === '$input') items(undefined, chain);
    else if (node.name === '$' && !cheerio && first?.call?.length === 1) {
      const name = literal(first.call[0]);
      if (typeof name === 'string') { names.push(name); items(name, rest); }
    } else if (node.name === '$items' && first?.call) {
      const name = literal(first.call[0]);
      if (typeof name === 'string') names.push(name);
      if (typeof name === 'string' || !first.call.length) element(name, rest, first.call.length < 2);
    } else if (node.name === '$node' && typeof first?.member === 'string') {
      names.push(first.member);
      if (isJson(rest[0])) add(first.member, 'Item', rest.slice(1));
    }
  };
  for (const tree of trees(line)) {
    const identifiers = [];
    // A chain with `?.` is wrapped once more.
    walk(tree, [], (node, around) => node.type === 'Identifier' && identifiers.push([node, around.filter(({ type }) => type !== 'ChainExpression')]));
    placed = [];
    identifiers.sort(([one], [other]) => one.start - other.start).forEach(([node, around]) => {
      current = [node, around];
      identifier(node, around);
    });
    references.push(...placed.sort(([one], [other]) => one - other).map(([, reference]) => reference));
  }
  return { references, names };
}

const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const counts = { expressions: 0, codes: 0, refused: 0, found: 0, falseAlarms: 0, references: 0, names: 0, others: 0 };
const show = (what, line, more) => {
  const at = line.faultAt ?? 0;
  if (counts.falseAlarms + counts.others < 100) console.log(`${what}: ${more}: ${JSON.stringify(line.text.slice(Math.max(0, at - 60), at + 160))}`);
};

/** Compares what a text refers to. */
function compare(line) {
  let theirs;
  try {
    theirs = found(line);
  } catch {
    return; // esprima tolerates what acorn does not.
  }
  for (const part of ['references', 'names']) {
    counts[part] += theirs[part].length;
    if (JSON.stringify(theirs[part]) === JSON.stringify(line[part])) continue;
    counts.others++;
    show('other', line, `${JSON.stringify(theirs[part])} against ${JSON.stringify(line[part])}`);
  }
}

for (const line of lines) {
  if (line.syntax === 'Code') counts.codes++;
  else counts.expressions += line.syntax === 'Template' ? resolvables(line.text).length : 1;
  const refused = refusal(line);
  if (refused) counts.refused++;
  if (refused && line.fault) counts.found++;
  else if (refused) show('missed', line, refused);
  else if (line.fault) {
    counts.falseAlarms++;
    show('false alarm', line, line.fault);
  } else if (mode === 'check') compare(line);
}
console.log(JSON.stringify(counts));
fs.writeFileSync(countsFile, JSON.stringify(counts));
