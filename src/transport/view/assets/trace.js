// The trace of an item: a path through the nodes, back to its sources and forward to the items derived from it.

import { place, to } from './address.js';
import { data, h, literal, nothing, remarks, shown } from './dom.js';
import { json } from './json.js';
import { Loader } from './loading.js';
import { number, t, where } from './words.js';

const DIRECTIONS = ['back', 'forward', 'both'];
const TOKENS = 12_000;

export class Trace {
  #shown = null;

  constructor(id, node, run, output) {
    this.place = { id, nodeName: node, runIndex: run, outputIndex: output };
    this.element = h('div', { class: 'pad' });
    this.loader = new Loader(this.element);
  }

  leave() {
    this.loader.cancel();
  }

  update({ item, direction }) {
    const way = DIRECTIONS.includes(direction) ? direction : 'back';
    const wanted = JSON.stringify([item, way]);
    if (wanted === this.#shown || item === null) return;
    this.#shown = wanted;
    this.loader.load('trace_execution_item', { ...this.place, item, direction: way, maxTokens: TOKENS }, (answer) => [
      h('div', { class: 'chips', role: 'group', 'aria-label': t('direction') }, DIRECTIONS.map((name) =>
        h('a', {
          class: 'chip',
          ...to({ direction: name === 'back' ? null : name }),
          'aria-current': name === way ? 'true' : null,
        }, t(`direction.${name}`)))),
      answer.steps?.length ? remarks(answer) : nothing(answer, t('noHits')),
      h('ol', { class: 'path' }, (answer.steps ?? []).map((step) => stepView(step))),
    ]);
  }
}

function stepView({ nodeName, run = 0, output = 0, item, from = [], fromMore, changed, json: value, note, ...rest }) {
  return h('li', {},
    h('div', { class: 'where' }, placeLink(nodeName, run, output, item)),
    note && h('p', { class: 'fine' }, shown(note)),
    changed && changes(changed),
    value !== undefined && h('details', {}, h('summary', {}, 'JSON'), json(value)),
    from.length > 1 && h('p', { class: 'fine' },
      t('cameFrom'),
      ' ',
      from.map(([node, r, o, i], at) => [at ? ', ' : '', placeLink(node, r, o, i)]),
      fromMore && ` +${number(fromMore)}`),
    Object.keys(rest).length > 0 && h('p', { class: 'fine' }, shown(JSON.stringify(rest).slice(0, 300))));
}

function placeLink(node, run, out, item) {
  return h('a', { ...to(place(node, { run, out, item })) }, data(node, 80),
    h('span', { class: 'fine number' },
      ' ',
      where({ run, output: out, item })));
}

function changes(changed) {
  const entries = Object.entries(changed);
  if (!entries.length) return h('p', { class: 'fine' }, t('unchanged'));
  return h('ul', { class: 'changes' }, entries.map(([key, value]) => h('li', { class: kind(key) }, change(key, value))));
}

function kind(key) {
  return { '+': 'new', '~': 'edited', '-': 'gone' }[key[0]] ?? 'more';
}

function change(key, value) {
  const path = key.slice(1);
  if (key === '-') return [
    h('span', { class: 'sign' }, '− '),
    t('gone'),
    ' ',
    (Array.isArray(value) ? value : [value]).map((name, i) => [i ? ', ' : '', data(name, 80)]),
  ];
  if (key[0] === '+') return [h('span', { class: 'sign' }, '+ '), data(path, 80), ': ', short(value)];
  if (key[0] === '~') return [h('span', { class: 'sign' }, '~ '), data(path, 80), ': ', short(value?.[0]), ' → ', short(value?.[1])];
  return data(`${key} ${value}`, 200);
}

function short(value) {
  return data(literal(value) ?? '', 160);
}
