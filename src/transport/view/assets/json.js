// A value as JSON with colours and indentation; long strings and long values open on request.

import { clip, fill, h, shown } from './dom.js';
import { number, t } from './words.js';

/** Characters of a string, and lines, that are shown at first. */
const STRING = 1200;
const LINES = 1500;

/** A `pre` with a value. */
export function json(value) {
  const lines = { left: LINES };
  const element = h('pre', { class: 'json', tabindex: '0' }, render(value, '', lines));
  if (lines.left > 0) return element;
  const more = h('button', { type: 'button', onclick: () => {
    fill(element, render(value, '', { left: Infinity }));
    more.remove();
  } }, t('showAll'));
  return h('div', {}, element, more);
}

function render(value, indent, lines) {
  if (Array.isArray(value)) return block('[', ']', value.map((entry) => [null, entry]), indent, lines);
  if (value !== null && typeof value === 'object') return block('{', '}', Object.entries(value), indent, lines);
  if (typeof value === 'string') return string(value);
  return h('span', { class: value === null ? 'null' : typeof value }, String(value));
}

function block(open, close, entries, indent, lines) {
  if (!entries.length) return open + close;
  const inner = `${indent}  `;
  const parts = [open, '\n'];
  for (const [i, [key, entry]] of entries.entries()) {
    if (lines.left <= 0) {
      parts.push(inner, `… ${number(entries.length - i)}\n`);
      break;
    }
    lines.left -= 1;
    parts.push(inner, key === null ? '' : [h('span', { class: 'key' }, h('bdi', {}, quoted(clip(key, 200)))), ': ']);
    parts.push(render(entry, inner, lines), i < entries.length - 1 ? ',\n' : '\n');
  }
  return [...parts, indent, close];
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
