// A value as JSON with colours and indentation. Objects and lists fold; long strings and long values open on request.

import { copy, copyButton } from './copy.js';
import { chooses, clip, fill, h, shown } from './dom.js';
import { number, t } from './words.js';

/** How many characters of a string, lines, and paths are shown at first. */
const STRING = 1200;
const LINES = 1500;
const PATHS = 300;

/** A `pre` with a value. `isMarked` returns whether the value at a path, a list of names, is marked. */
export function json(value, isMarked = null) {
  const lines = { left: LINES };
  const element = h('pre', { class: 'json', tabindex: '0' }, render(value, '', lines, isMarked));
  if (lines.left > 0) return element;
  const more = h('button', { type: 'button', onclick: () => {
    fill(element, render(value, '', { left: Infinity }, isMarked));
    more.remove();
  } }, t('showAll'));
  return h('div', {}, element, more);
}

/** The same with actions: copy it, or the path of a value; fold and open all. */
export function jsonWithTools(value) {
  const view = json(value);
  const fold = (open) => view.querySelectorAll('.fold').forEach((button, at) => at > 0 && setOpen(button, open));
  const button = (word, act) => h('button', { type: 'button', class: 'quiet', onclick: act }, t(word));
  const said = h('span', { class: 'fine', role: 'status' });
  const list = paths(value);
  const path = list.length > 0 && h('select', { 'aria-label': t('copyPath'), ...chooses(async (chosen, select) => {
    select.value = '';
    if (chosen) fill(said, t(await copy(chosen) ? 'copied' : 'notCopied'));
  }) }, h('option', { value: '' }, t('copyPath')), list.map((each) => h('option', { value: each }, shown(clip(each, 80)))));
  return h('div', {},
    h('div', { class: 'json-tools' },
      copyButton(t('copyJson'), () => JSON.stringify(value, null, 2), 'quiet',
        isClipped(value) ? 'copiedClipped' : 'copied'),
      path,
      button('expandAll', () => fold(true)),
      button('collapseAll', () => fold(false)),
      said),
    view);
}

/** Whether the server has shortened a value: it writes how much is missing. */
function isClipped(value) {
  return /…\[\+\d+ \w+\]|"\[html, \d+ chars\]/.test(JSON.stringify(value));
}

/** The paths of the values, as n8n's expressions write them after `$json`. */
function paths(value) {
  const found = [];
  const walk = (one, path) => {
    if (one === null || typeof one !== 'object') return;
    for (const [key, entry] of Object.entries(one)) {
      if (found.length >= PATHS) return;
      const isName = /^[A-Za-z_$][\w$]*$/.test(key);
      const step = isName ? `${path ? '.' : ''}${key}` : `[${Array.isArray(one) ? key : JSON.stringify(key)}]`;
      const next = path + step;
      found.push(next);
      walk(entry, next);
    }
  };
  walk(value, '');
  return found;
}

function render(value, indent, lines, isMarked = null, path = []) {
  if (Array.isArray(value)) return block('[', ']', value.map((entry, i) => [null, entry, i]), indent, lines, isMarked, path);
  if (value !== null && typeof value === 'object') return block('{', '}',
    Object.entries(value).map(([key, entry]) => [key, entry, key]),
    indent,
    lines,
    isMarked,
    path);
  if (typeof value === 'string') return string(value);
  return h('span', { class: value === null ? 'null' : typeof value }, String(value));
}

function block(open, close, entries, indent, lines, isMarked, path) {
  if (!entries.length) return open + close;
  const inner = `${indent}  `;
  const parts = ['\n'];
  for (const [i, [key, entry, name]] of entries.entries()) {
    if (lines.left <= 0) {
      parts.push(inner, `… ${number(entries.length - i)}\n`);
      break;
    }
    lines.left -= 1;
    const below = isMarked && [...path, name];
    const line = [
      key === null ? '' : [h('span', { class: 'key' }, h('bdi', {}, quoted(clip(key, 200)))), ': '],
      render(entry, inner, lines, isMarked, below),
    ];
    parts.push(inner, isMarked?.(below) ? h('mark', {}, line) : line, i < entries.length - 1 ? ',\n' : '\n');
  }
  const button = h('button', {
    type: 'button',
    class: 'fold',
    'aria-expanded': 'true',
    'aria-label': t('fold'),
    onclick: () => setOpen(button, button.getAttribute('aria-expanded') !== 'true'),
  });
  return [button, open, h('span', {}, parts, indent), h('span', { class: 'fine', hidden: true }, ` … ${number(entries.length)} `), close];
}

/** The content of a block follows its button and its bracket, then the text shown while it is folded. */
function setOpen(button, open) {
  button.setAttribute('aria-expanded', String(open));
  const inside = button.nextElementSibling;
  inside.hidden = !open;
  inside.nextElementSibling.hidden = open;
}

function string(value) {
  const element = h('span', { class: 'string' }, h('bdi', {}, quoted(value.slice(0, STRING))));
  if (value.length <= STRING) return element;
  const all = h('button', { type: 'button', class: 'quiet', onclick: () => {
    fill(element, h('bdi', {}, quoted(value)));
    all.remove();
  } }, t('showCharacters', { n: number(value.length) }));
  return [element, ' ', all];
}

function quoted(text) {
  return shown(JSON.stringify(text));
}
