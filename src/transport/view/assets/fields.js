// The fields of a node's items, path by path, with small bars; or the outliers of all nodes.

import { place, to } from './address.js';
import { clip, data, h, literal, nothing, remarks } from './dom.js';
import { Loader } from './loading.js';
import { count, exact, named, number, t, where } from './words.js';

const TOKENS = 20_000;

export class Fields {
  #shown = null;

  /** For a node, which ran so many times; without one, for all nodes. */
  constructor(id, of = null, runs = 1) {
    Object.assign(this, { id, of, runs });
    this.element = h('div', { class: 'pad' });
    this.loader = new Loader(this.element);
  }

  leave() {
    this.loader.cancel();
  }

  update({ run, out }) {
    const wanted = this.of ? JSON.stringify([run, out]) : '';
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    const place = this.of && {
      nodeName: this.of,
      ...(run !== null ? { runIndex: run } : {}),
      ...(out !== null ? { outputIndex: out } : {}),
    };
    this.loader.load('get_execution_fields', { id: this.id, ...place, maxTokens: TOKENS },
      (answer) => (this.of ? this.#fields(answer, run === null) : outliersOf(answer)));
  }

  #fields(answer, ofAllRuns) {
    const { fields = [], items } = answer;
    if (!fields.length) return nothing(answer, t('noFields'));
    return [
      h('p', { class: 'fine' }, t(ofAllRuns && this.runs > 1 ? 'fieldsOfRuns' : 'fieldsOf',
        { fields: count('fields', fields.length), items: count('items', items), n: number(this.runs) })),
      remarks(answer),
      splitsOf(answer),
      scroll(t('tab.fields'), h('table', { class: 'fields' },
        h('thead', {}, h('tr', {}, ['path', 'type', 'missing', 'values', 'outlier'].map((word) => h('th', { scope: 'col' }, t(word))))),
        h('tbody', {}, fields.map((field) => this.#field(field, items))))),
    ];
  }

  #field({ path, type, types, missing = 0, odd: outlier, ...rest }, items) {
    return h('tr', {},
      h('th', { scope: 'row' },
        h('a', {
          ...to({ view: 'search', path, q: null, condition: null, value: null, within: this.of }),
          title: t('searchPath'),
        }, data(path, 80))),
      h('td', { class: 'fine' }, kinds(type ?? types)),
      h('td', {}, missing > 0 && [meter(missing / items, 'gap'), ' ', h('span', { class: 'number' }, number(missing))]),
      h('td', {}, values({ ...rest, kinds: typeof type === 'string' ? [type] : Object.keys(types ?? {}) }, items - missing)),
      h('td', {}, outlier && this.#outlier(outlier)));
  }

  #outlier(outlier) {
    return h('a', { class: 'mark', ...to(place(this.of, { run: outlier.run ?? 0, out: outlier.output ?? 0, item: outlier.item })) },
      where(outlier), ': ', outlierValue(outlier));
  }
}

/** The kinds of a field: one name, or pairs of a name and a number. */
export function kinds(type) {
  if (typeof type === 'string') return named('kind', type);
  const list = Array.isArray(type) ? type : Object.entries(type ?? {});
  return list.map((entry) => (Array.isArray(entry) ? `${named('kind', entry[0])} ${number(entry[1])}` : named('kind', entry))).join(', ');
}

function values({ values: list, min, max, distinct, example, ...lengths }, present) {
  if (list) {
    return h('ul', { class: 'bars' }, list.toSorted(([, one], [, other]) => other - one).map(([value, n]) => h('li', {},
      h('span', { class: 'value' }, data(short(value), 60)),
      meter(n / Math.max(1, present)),
      h('span', { class: 'number' }, number(n)))));
  }
  return [
    min !== undefined && h('span', { class: 'number' }, end(min), ' – ', end(max)),
    example !== undefined && [h('span', { class: 'fine' }, ` ${t('forExample')} `), data(short(example), 60)],
    distinct && h('span', { class: 'fine' }, ' · ', count('distinct', distinct)),
    lengths.minLength !== undefined && h('span', { class: 'fine' }, ' · ', lengthsOf(lengths)),
  ];
}

/** The lengths of texts, of lists, or of both. */
function lengthsOf({ minLength: from, maxLength: to, kinds: all }) {
  const [texts, lists] = ['string', 'array'].map((kind) => all.includes(kind));
  const word = texts && lists ? 'lengths' : lists ? 'entries' : 'characters';
  return from === to ? count(word, from) : t(word, { n: t('range', { from: number(from), to: number(to) }) });
}

/** An end of a range: a number, or a date, shown as written in the items. */
function end(value) {
  return typeof value === 'number' ? exact(value) : data(value, 40);
}

function short(value) {
  return clip(literal(value), 80);
}

function outlierValue(outlier) {
  if (outlier.missing) return t('isMissing');
  return data(short(outlier.value ?? null), 60);
}

/** A small bar; the number is next to it. */
function meter(share, kind = '') {
  return h('span', { class: `meter ${kind}`, 'aria-hidden': 'true' },
    h('span', { style: { width: `${Math.max(1, Math.min(100, share * 100))}%` } }));
}

/** What divides the items of a node, or of each of several nodes. */
function splitsOf({ splits = [], nodeName }) {
  return splits.length > 0 && [
    h('h3', {}, t('splits')),
    h('ul', { class: 'values' }, splits.map((one) => h('li', {},
      !nodeName && [h('a', { ...to(place(one.nodeName, { tab: 'fields' })) }, data(one.nodeName, 80)), ': '], data(one.split, 400)))),
  ];
}

function outliersOf(answer) {
  const { odd: outliers = [], splits = [], items } = answer;
  if (!outliers.length && !splits.length) return nothing(answer, t('noOutliers', { items: count('items', items ?? 0) }));
  return [
    h('p', { class: 'fine' }, t('outlierHint')),
    remarks(answer),
    splitsOf(answer),
    outliers.length > 0 && scroll(t('view.outliers'), h('table', {},
      h('thead', {}, h('tr', {}, ['node', 'place', 'path', 'value'].map((word) => h('th', { scope: 'col' }, t(word))))),
      h('tbody', {}, outliers.map((entry) => h('tr', {},
        h('th', { scope: 'row' }, data(entry.nodeName, 80)),
        h('td', {},
          h('a', {
            class: 'cover',
            ...to(place(entry.nodeName, { run: entry.run ?? 0, out: entry.output ?? 0, item: entry.item })),
          }, where(entry))),
        h('td', {}, data(entry.path ?? '', 80)),
        h('td', {}, outlierValue(entry))))))),
  ];
}

/** A table that scrolls by itself if the window is narrow. */
export function scroll(name, table) {
  return h('div', { class: 'scroll-x', tabindex: '0', role: 'region', 'aria-label': name }, table);
}
