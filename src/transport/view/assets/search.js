// The search over an execution: a field in the bar, conditions, and hits by node, each a link to its item.

import { go, place, to } from './address.js';
import { data, fill, h, literal, nothing, remarks, shown } from './dom.js';
import { scroll } from './fields.js';
import { Loader } from './loading.js';
import { count, named, number, t, where } from './words.js';

const LIMIT = 100;
const TOKENS = 12_000;
/** Conditions that need a value, and complete ones. */
const WITH_VALUE = ['equals', 'notEquals', 'above', 'below'];
/** Those that mean nothing without a value; an empty text can be equal. */
const ORDERS = ['above', 'below'];
const KINDS = ['null', 'missing', 'empty', 'string', 'number', 'boolean', 'array', 'object'];

/** The field in the bar, which leads to the search over one execution. */
export function searchField() {
  return searchBox(t('searchExecution'), (q) => go({ view: 'search', q, regex: null }));
}

/** A field in the bar; `find` is called with the search. */
export function searchBox(words, find) {
  const input = h('input', {
    type: 'search',
    name: 'q',
    placeholder: words,
    'aria-label': words,
    autocomplete: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
  });
  const element = h('form', { role: 'search', class: 'search', onsubmit: (event) => {
    event.preventDefault();
    if (input.value) find(input.value);
  } }, input, h('kbd', { 'aria-hidden': 'true' }, '/'));
  return {
    element,
    focus: () => { input.focus(); input.select(); },
    update: ({ q }) => { if (document.activeElement !== input) input.value = q ?? ''; },
  };
}

export class Search {
  #shown = null;

  constructor({ id, nodes }) {
    this.id = id;
    this.nodes = nodes;
    this.form = h('form', { class: 'filters', onsubmit: (event) => this.#submit(event) });
    this.hits = h('div', { class: 'hits' });
    this.loader = new Loader(this.hits);
    this.element = h('div', { class: 'pad' }, this.form, this.hits);
  }

  leave() {
    this.loader.cancel();
  }

  update(state) {
    const { q, path, condition, value, regex, within } = state;
    const wanted = JSON.stringify([q, path, condition, value, regex, within]);
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    this.#showForm(state);
    if (!q && !path) {
      this.loader.cancel();
      fill(this.hits, h('p', { class: 'empty' }, t('searchHint')));
      return;
    }
    this.loader.load('search_execution', { id: this.id, limit: LIMIT, maxTokens: TOKENS, ...conditions(state) },
      (answer) => this.#answer(answer, state));
  }

  #showForm({ q, path, condition, value, regex, within }) {
    const operand = h('input', {
      name: 'value', value: value ?? '', size: '10', autocomplete: 'off', required: ORDERS.includes(condition),
    });
    const option = (name, text, chosen) => h('option', { value: name, selected: name === (chosen ?? '') }, text);
    fill(this.form,
      h('label', {}, t('text'), h('input', { name: 'q', value: q ?? '', autocomplete: 'off', spellcheck: 'false' })),
      h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'regex', checked: regex === '1' }), ' ', t('regex')),
      h('label', {},
        t('path'),
        h('input', {
          name: 'path',
          value: path ?? '',
          placeholder: 'lines[].taxRate',
          autocomplete: 'off',
          spellcheck: 'false',
        })),
      h('label', {}, t('condition'), h('select', {
        name: 'condition', onchange: ({ target }) => { operand.required = ORDERS.includes(target.value); },
      },
        option('', t('anyValue'), condition),
        WITH_VALUE.map((name) => option(name, t(`condition.${name}`), condition)),
        KINDS.map((name) => option(name, t('isKind', { kind: named('kind', name) }), condition)))),
      h('label', {}, t('value'), operand),
      h('label', {}, t('node'), h('select', { name: 'within' },
        option('', t('allNodes'), within), this.nodes.map(({ nodeName }) => option(nodeName, shown(nodeName.slice(0, 60)), within)))),
      h('button', { type: 'submit', class: 'button primary' }, t('search')));
  }

  #submit(event) {
    event.preventDefault();
    const given = new FormData(this.form);
    const text = (name) => given.get(name) || null;
    go({
      view: 'search',
      q: text('q'),
      path: text('path'),
      condition: text('condition'),
      value: text('value'),
      regex: given.has('regex') ? '1' : null,
      within: text('within'),
    });
  }

  #answer(answer, { q, regex }) {
    const { total, perNode = [], hits = [] } = answer;
    if (!total) return nothing(answer, t('noHits'));
    return [
      h('p', { role: 'status' },
        h('strong', {}, count('hits', total)),
        hits.length < total && h('span', { class: 'fine' }, ` ${count('firstShown', hits.length)}`)),
      remarks(answer),
      h('ul', { class: 'chips' }, perNode.map(({ nodeName, hits: n }) =>
        h('li', {},
          h('a', { class: 'chip', ...to({ within: nodeName }) },
            data(nodeName, 60),
            ' ',
            h('span', { class: 'number' }, number(n)))))),
      scroll(t('view.search'), h('table', {},
        h('thead', {}, h('tr', {}, ['node', 'place', 'path', 'value'].map((word) => h('th', { scope: 'col' }, t(word))))),
        h('tbody', {}, hits.map((hit) => hitRow(hit, regex ? null : q))))),
    ];
  }
}

function hitRow({ nodeName, run = 0, output = 0, item, path, value, part }, q) {
  const inItem = item !== undefined;
  // What a sub-node of an AI agent was called with.
  const received = part === 'input';
  const found = received ? { run, side: 'input', item } : { run, out: output, item };
  return h('tr', {},
    h('th', { scope: 'row' }, data(nodeName, 80)),
    h('td', {}, h('a', { class: 'cover', ...to(place(nodeName, inItem ? found : { run, tab: 'error' })) },
      [where({ run, output: received ? 0 : output, item }), !inItem && t('error'), received && t('input')].filter(Boolean).join(' · '))),
    h('td', {}, data(path ?? '', 80)),
    h('td', {}, value === undefined ? '' : h('bdi', {}, marked(literal(value), q))));
}

/** A text with the matches marked in it. */
export function marked(text, q) {
  const at = q ? text.toLowerCase().indexOf(q.toLowerCase()) : -1;
  if (at < 0) return shown(text.slice(0, 200));
  const from = Math.max(0, at - 60);
  return [
    from ? '…' : '',
    shown(text.slice(from, at)),
    h('mark', {}, shown(text.slice(at, at + q.length))),
    shown(text.slice(at + q.length, at + q.length + 120)),
  ];
}

function conditions({ q, path, condition, value, regex, within }) {
  const text = value ?? '';
  // Numbers are compared as numbers, anything else as text, such as dates.
  const limit = text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
  const given = {
    text: q, path, nodeName: within, regex: q && regex === '1' ? true : null,
    is: KINDS.includes(condition) ? condition : null,
    equals: condition === 'equals' ? text : null,
    notEquals: condition === 'notEquals' ? text : null,
    above: condition === 'above' && text ? limit : null,
    below: condition === 'below' && text ? limit : null,
  };
  return Object.fromEntries(Object.entries(given).filter(([, entry]) => entry !== null));
}
