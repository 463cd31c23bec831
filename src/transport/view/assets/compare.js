// The comparison with the last good execution, or another one: the nodes that differ, the first difference first, with both values and,
// on request, both items side by side.

import { format, go, place, to } from './address.js';
import { call } from './api.js';
import { data, fill, h, remarks, shown } from './dom.js';
import { scroll } from './fields.js';
import { json } from './json.js';
import { Loader } from './loading.js';
import { statusWord } from './status.js';
import { count, duration, number, t } from './words.js';

const TOKENS = 12_000;

export class Compare {
  #shown = null;

  constructor({ id, isNear, execution }) {
    Object.assign(this, { id, isNear, retryOf: execution.retryOf });
    this.form = h('form', { class: 'filters', onsubmit: (event) => this.#submit(event) });
    this.answer = h('div', {});
    this.loader = new Loader(this.answer);
    this.element = h('div', { class: 'pad' }, this.form, this.answer);
  }

  leave() {
    this.loader.cancel();
    this.values?.cancel();
  }

  update({ with: other }) {
    const wanted = other ?? '';
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    this.values?.cancel();
    fill(this.form,
      h('label', {},
        t('compareWith'),
        h('input', {
          name: 'with',
          inputmode: 'numeric',
          size: '18',
          value: wanted,
          placeholder: t(this.retryOf ? 'whatItRetries' : 'lastGood'),
        })),
      h('button', { type: 'submit', class: 'button' }, t('compare')));
    const asked = { id: this.id, ...(other ? { with: other } : {}), maxTokens: TOKENS };
    this.loader.load('compare_executions', asked, (answer) => {
      const differs = answer.nodes?.some(({ only }) => !only);
      if (differs && this.isNear) setTimeout(() => this.#values(asked, answer));
      const offer = differs && !this.isNear && h('p', {},
        h('button', { type: 'button', class: 'button', onclick: () => this.#values(asked, answer) },
          t('compareValues')));
      return [...show(answer, this.id), offer];
    });
  }

  /** Values need further reads of both executions: they follow, or on request if n8n would have to send a large one again. */
  #values(asked, before) {
    const said = h('div', {});
    fill(this.answer, show(before, this.id), said);
    this.values = new Loader(said);
    this.values.load('compare_executions', { ...asked, values: true }, (answer) => {
      if (said.isConnected) fill(this.answer, show(answer, this.id));
      return null;
    });
  }

  #submit(event) {
    event.preventDefault();
    const id = new FormData(this.form).get('with').trim().replace(/^#/, '');
    go({ with: /^\d+$/.test(id) ? id : null });
  }
}

function show({ id, with: other, same, nodes: unsorted = [], workflow, ...answer }, asked) {
  // If the input differed, some values always differ: nodes that differ in nothing else come last.
  const nodes = [true, false].flatMap((wanted) => unsorted.filter((node) => (differences(node).length > 0) === wanted));
  return [
    h('p', {},
      t('comparedWith'),
      ' ',
      h('a', { href: format({ id: other }) }, `#${other}`),
      h('span', { class: 'fine' }, ` · ${count('same', same)} · ${count('differ', nodes.length)}`)),
    remarks(answer),
    workflow && edited(Number(other) > Number(id) ? backwards(workflow) : workflow),
    nodes.length ? scroll(t('view.compare'), h('table', { class: 'differences' },
      h('thead', {},
        h('tr', {},
          h('th', { scope: 'col' }, t('node')),
          h('th', { scope: 'col' }, t('difference')),
          h('th', { scope: 'col', class: 'number' }, `#${id}`),
          h('th', { scope: 'col', class: 'number' }, `#${other}`))),
      nodes.map((node, at) => h('tbody', { class: at ? null : 'first' }, rows(node, at === 0, [asked, other])))))
      : !answer.notes && h('p', { class: 'empty' }, t('allSame')),
  ];
}

/** A row for each way in which a node differs. */
function rows(node, first, ids) {
  const items = node.value && firstItem(node, first, ids);
  const list = [...differences(node), ...(items ? [items.row] : [])];
  const name = h('th', { scope: 'rowgroup', rowspan: list.length + (items ? 1 : 0) },
    node.only === 'other' ? data(node.nodeName, 80) : h('a', { ...to({ node: node.nodeName, tab: null }) },
      data(node.nodeName, 80)),
    first && [' ', h('span', { class: 'mark' }, t('firstDifference'))]);
  return [
    ...list.map(([what, mine, theirs], at) => h('tr', {},
      at === 0 && name,
      h('td', {}, what),
      h('td', { class: 'number' }, mine),
      h('td', { class: 'number' }, theirs))),
    items && h('tr', { class: 'items-of' }, h('td', { colspan: 3 }, items.both)),
  ];
}

function differences({ nodeName, value, only, status, items, outputs, runs, ms, newFields, lostFields, fields }) {
  const paths = (list) => list?.map((path, i) => [i ? ', ' : '', data(path, 80)]) ?? h('span', { class: 'fine' }, t('nothing'));
  const pair = (what, [mine, theirs], write) => [what, write(mine), write(theirs)];
  const list = [
    only && [t('ranOnlyIn'), only === 'this' ? t('ran') : t('didNotRun'), only === 'this' ? t('didNotRun') : t('ran')],
    status && pair(t('status'), status, statusWord),
    items && pair(t('itemsWord'), items, number),
    outputs && pair(t('outputs'), outputs, (each) => each.map(number).join(' · ')),
    runs && pair(t('runs'), runs, number),
    ms && pair(t('time'), ms, duration),
    (newFields ?? lostFields) && [t('fieldsOfOne'), paths(newFields), paths(lostFields)],
    ...(fields ?? []).map(({ path, types: [mine, theirs], first }) => [
      h('span', {}, t('kindOf'), ' ', data(path, 80)),
      [mine, first && firstValue(nodeName, first)],
      theirs,
    ]),
  ].filter(Boolean);
  return list.length || value ? list : [[t('difference'), '', '']];
}

/** The first value that differs, in both executions; and both items, which are there at once for the first node. */
function firstItem({ nodeName, value: { run = 0, output = 0, item, path, values, only } }, isOpen, ids) {
  const both = h('div', { hidden: true });
  const button = h('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false', onclick: () => {
    const open = button.getAttribute('aria-expanded') === 'true';
    button.setAttribute('aria-expanded', String(!open));
    both.hidden = open;
    if (!both.firstChild) showItems(both, ids, nodeName, { run, out: output, item });
  } }, t('sideBySide'));
  if (isOpen) button.click();
  const lacks = only && { this: 1, other: 0 }[only];
  const [mine, theirs] = values.map((value, side) => (
    side === lacks ? h('span', { class: 'fine' }, t('notThere')) : data(JSON.stringify(value), 130)));
  return {
    both,
    row: [
      [
        t('firstItem'),
        ': ',
        h('a', { class: 'mark', ...to(place(nodeName, { run, out: output, item })) }, `${t('item')} ${number(item)}`),
        ' ',
        data(path, 80),
        ' ',
        button,
      ],
      mine,
      theirs,
    ],
  };
}

/** The same item of both executions, with what differs marked. */
async function showItems(element, ids, node, { run, out, item }) {
  fill(element, h('p', { class: 'fine' }, t('reading')));
  const sides = await Promise.all(ids.map(async (id) => {
    try {
      const answer = await call('get_execution_by_node',
        { id, nodeName: node, runIndex: run, outputIndex: out, offset: item, limit: 1, maxTokens: TOKENS });
      return { item: answer.output?.items?.[0]?.json };
    } catch (error) {
      return { error };
    }
  }));
  const shownSide = ({ item: mine, error }, at) => {
    if (error) return h('p', { class: 'bad' }, shown(error.message));
    if (mine === undefined) return h('p', { class: 'fine' }, t('noSuchItem'));
    return json(mine, differing(mine, sides[1 - at].item));
  };
  fill(element, h('div', { class: 'both' }, sides.map((side, at) =>
    h('section', { 'aria-label': `#${ids[at]}` }, h('p', {}, h('strong', {}, `#${ids[at]}`)), shownSide(side, at)))));
}

/** Whether the value at a path of one item differs from that of the other. */
function differing(mine, theirs) {
  return (path) => {
    const at = (value) => path.reduce((one, key) => (one !== null && typeof one === 'object' ? one[key] : undefined), value);
    const [one, other] = [at(mine), at(theirs)];
    const isLeaf = one === null || typeof one !== 'object' || other === null || typeof other !== 'object';
    return isLeaf && JSON.stringify(one) !== JSON.stringify(other);
  };
}

/** The first value of a type that the other execution does not have, and the item that contains it. */
function firstValue(node, { run, output, item, value }) {
  return [': ', data(JSON.stringify(value), 80), ' ',
    h('a', { class: 'mark', ...to(place(node, { run: run ?? 0, out: output ?? 0, item })) }, `${t('item')} ${number(item)}`)];
}

/** What was edited from the other execution to this one, told from this one to the other, which is the later one. */
function backwards({ changed = [], added, removed, ...rest }) {
  const turned = ({ values, ...path }) => ({ ...path, ...(values ? { values: values.toReversed() } : {}) });
  return { ...rest, added: removed, removed: added, changed: changed.map((node) => ({ ...node, paths: node.paths.map(turned) })) };
}

/** What was edited from the earlier execution to the later one. */
function edited({ changed = [], added = [], removed = [], connections, cosmetic, defaults }) {
  if (!changed.length && !added.length && !removed.length && !connections) return null;
  const names = (word, list) => list.length > 0 && h('li', {},
    t(word),
    ' ',
    list.map((node, i) => [
      i ? ', ' : '',
      data(typeof node === 'string' ? node : node.nodeName ?? JSON.stringify(node), 80),
    ]));
  return h('div', { class: 'notice' }, h('p', {}, t('workflowEdited')),
    h('ul', {},
      changed.map(changedNode),
      names('addedNodes', added),
      names('removedNodes', removed),
      connections && h('li', {}, t('connectionsDiffer')),
      cosmetic > 0 && h('li', { class: 'fine' }, t('cosmetic', { n: number(cosmetic) })), defaults > 0 && h('li', { class: 'fine' },
        t('defaults', { n: number(defaults) }))));
}

/** A changed node, with the old and the new value of each of its settings. */
function changedNode({ nodeName, paths, pathsMore }) {
  const value = (value) => (value === null ? h('span', { class: 'fine' }, t('nothing')) : data(JSON.stringify(value), 130));
  return h('li', {}, t('changedNodes'), ' ', data(nodeName, 80), h('ul', {},
    paths.map(({ path, values }) => h('li', {}, data(path, 120), values && [': ', value(values[0]), ' → ', value(values[1])])),
    pathsMore > 0 && h('li', { class: 'fine' }, `+${number(pathsMore)}`)));
}
