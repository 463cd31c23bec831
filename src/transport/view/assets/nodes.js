// The nodes as a table in the order of execution, each row with its part of the waterfall.

import { current, go, place, to } from './address.js';
import { data, fill, h, shown, unseen } from './dom.js';
import { sign } from './status.js';
import { ROW, Waterfall } from './waterfall.js';
import { count, duration, instant, number, t } from './words.js';

const COLUMNS = {
  order: { word: 'node', first: 1, key: (node) => node.order },
  runs: { word: 'runs', first: -1, key: (node) => node.runs, number: true },
  in: { word: 'in', first: -1, key: (node) => node.inputItems ?? 0, number: true },
  out: { word: 'out', first: -1, key: (node) => node.total, number: true },
  ms: { word: 'time', first: -1, key: (node) => node.ms, number: true },
};

export class Nodes {
  #nodes;
  #rows = [];
  #shown = null;
  #elements = new Map();
  #body = h('tbody', {});
  #headers = new Map();

  constructor(overview) {
    this.#nodes = withSubNodes(overview.nodes, overview.graph.connections).map((node, order) => ({
      ...node, order, total: node.outputs.reduce((sum, items) => sum + items, 0),
    }));
    this.filter = h('input', {
      type: 'search', placeholder: t('filterNodes'), 'aria-label': t('filterNodes'), autocomplete: 'off', spellcheck: 'false',
      oninput: (event) => go({ filter: event.target.value || null }, { replace: true }),
    });
    this.said = h('span', { class: 'fine', role: 'status' });
    const axis = h('th', { scope: 'col', class: 'axis' }, unseen(t('when')));
    this.scroller = h('div', { class: 'rows', tabindex: '0', role: 'region', 'aria-label': t('nodes') },
      h('table', { class: 'nodes' },
        h('thead', {}, h('tr', {}, Object.entries(COLUMNS).map(([name, column]) => this.#header(name, column)), axis)),
        this.#body));
    this.waterfall = new Waterfall(overview, this.scroller, axis, () => this.#rows);
    this.scroller.prepend(this.waterfall.element);
    this.tools = h('div', { class: 'tools' }, this.said, this.filter, this.waterfall.controls);
    this.element = h('div', {},
      overview.end > overview.start && this.waterfall.strip.element,
      this.scroller,
      this.waterfall.tip,
      !this.#nodes.length && h('p', { class: 'empty' }, t(overview.execution.tooLarge ? 'notSent' : 'nothingRan')),
      overview.moreNodes > 0 && h('p', { class: 'fine pad more-nodes' }, count('moreNodes', overview.moreNodes)));
    for (const node of this.#nodes) this.#elements.set(node.nodeName, this.#row(node));
  }

  /** When shown again, the table starts at its top, so the node must be scrolled into view again. */
  hide() {
    this.revealed = null;
  }

  leave() {
    this.waterfall.leave();
  }

  update(state) {
    const wanted = JSON.stringify([state.filter, state.sort]);
    if (wanted !== this.#shown) {
      this.#shown = wanted;
      this.#arrange(state);
    }
    for (const [name, row] of this.#elements) {
      const selected = name === state.node;
      row.classList.toggle('selected', selected);
      const anchor = row.querySelector('a.cover');
      if (selected) anchor.setAttribute('aria-current', 'true');
      else anchor.removeAttribute('aria-current');
    }
    // Without a node below it, the table uses the whole window.
    this.scroller.classList.toggle('tall', !state.node);
    this.#reveal(state.node);
    this.waterfall.update(state);
  }

  /** The names of the nodes that are shown, from the top. */
  names() {
    if (!this.#shown) this.#arrange(current());
    return this.#rows.map((node) => node.nodeName);
  }

  zoom(key) {
    this.waterfall.zoom(key);
  }

  #arrange({ filter, sort }) {
    const [name, direction] = (sort ?? 'order').split('-');
    const column = Object.hasOwn(COLUMNS, name) ? COLUMNS[name] : COLUMNS.order;
    const sign = column.first * (direction === 'reversed' ? -1 : 1);
    const part = (filter ?? '').toLocaleLowerCase();
    this.#rows = this.#nodes
      .filter((node) => `${node.nodeName}\n${node.nodeType ?? ''}`.toLocaleLowerCase().includes(part))
      .sort((a, b) => sign * (column.key(a) - column.key(b)) || a.order - b.order);
    if (this.filter.value !== (filter ?? '')) this.filter.value = filter ?? '';
    fill(this.said, filter ? t('nodesShown', { n: number(this.#rows.length), of: number(this.#nodes.length) }) : '');
    for (const [key, header] of this.#headers) {
      const active = COLUMNS[key] === column;
      header.setAttribute('aria-sort', active ? (sign > 0 ? 'ascending' : 'descending') : 'none');
      const next = active && direction !== 'reversed' ? `${key}-reversed` : key;
      header.firstChild.onclick = () => go({ sort: next === 'order' ? null : next }, { replace: true });
    }
    fill(this.#body, this.#rows.map((node) => this.#elements.get(node.nodeName)));
  }

  #header(name, { word, number: right }) {
    const header = h('th', { scope: 'col', class: `${right ? 'number ' : ''}${name}` },
      h('button', { type: 'button', class: 'sort' }, t(word)));
    this.#headers.set(name, header);
    return header;
  }

  #row(node) {
    const { nodeName, runs, failedRuns, inputItems, outputs, total, ms, status, bars } = node;
    return h('tr', {},
      h('th', { scope: 'row' }, h('div', { class: node.depth ? 'name sub-node' : 'name', style: { paddingLeft: `${node.depth * 16}px` } },
        sign(status, true), h('a', {
          class: 'cover',
          ...to({ node: nodeName, tab: null }),
          title: shown(nodeName.slice(0, 200)),
        }, data(nodeName, 120)), marks(node))),
      h('td', { class: 'number runs' },
        number(runs), failedRuns > 0 && runs > 1 && h('span', { class: 'bad' }, ` ✕${number(failedRuns)}`)),
      h('td', { class: 'number in' }, inputItems === undefined ? '' : number(inputItems)),
      h('td', { class: 'number out', title: outputs.length > 1 ? perOutput(node) : null },
        outputs.length > 1 ? outputs.slice(0, 3).map((items, i) => [
          i ? h('span', { class: 'fine' }, ' · ') : '',
          number(items),
        ]) : number(total),
        outputs.length > 3 && ' …'),
      h('td', { class: 'number ms' }, duration(ms)),
      h('td', { class: 'axis' }, bars.length > 0 && unseen(t('fromTo', { from: instant(bars[0][0], 1), to: instant(bars.at(-1)[1], 1) }))));
  }

  /** Scrolls the row of the node into view, within the table only. */
  #reveal(name) {
    const at = this.#rows.findIndex((node) => node.nodeName === name);
    if (at < 0 || name === this.revealed) return;
    this.revealed = name;
    const { scrollTop, clientHeight } = this.scroller;
    if (!clientHeight) return;
    const top = at * ROW;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + 2 * ROW > scrollTop + clientHeight) this.scroller.scrollTop = top + 2 * ROW - clientHeight;
  }
}

/** The items of each output, with its label: `kept 7 · discarded 3`. */
function perOutput({ outputs, outputLabels = [] }) {
  const label = (at) => (outputLabels[at] ? `${shown(outputLabels[at]).slice(0, 30)} ` : '');
  return outputs.map((items, at) => `${label(at)}${number(items)}`).join(' · ');
}

/** Anything unusual about the flow of a node's items, as links to it. */
function marks({ nodeName, errorItems, unconnected, emptyRuns, copiedRuns, outputs, outputLabels = [], disabled }) {
  const mark = (text, changes, title, kind = 'mark') =>
    h('a', { class: kind, ...to(place(nodeName, changes)), title }, text);
  return [
    errorItems && mark(count('errorItems', errorItems.count),
      { run: errorItems.run ?? 0, out: errorItems.output ?? 0, item: errorItems.item },
      shown(errorItems.message ?? '').slice(0, 300), 'mark bad'),
    (unconnected ?? []).slice(0, 3).map((out) =>
      mark(t('unconnected',
        { out: shown(outputLabels[out] ?? `${out}`).slice(0, 20), items: number(outputs[out] ?? 0) }),
        { out },
        t('unconnectedLong'))),
    emptyRuns && h('span', { class: 'mark' }, count('emptyRuns', emptyRuns)),
    copiedRuns && h('span', { class: 'mark', title: t('copiedLong') }, count('copiedRuns', copiedRuns)),
    disabled && h('span', { class: 'mark' }, t('disabled')),
  ];
}

/** The nodes in their order, sub-nodes after the one that used them: `depth`, and `inside`, all below a node. */
function withSubNodes(nodes, connections) {
  const byName = new Map(nodes.map((node) => [node.nodeName, node]));
  const serves = ([from, , to, , type]) => type !== 'main' && byName.has(from) && byName.has(to);
  const users = new Map(connections.filter(serves).map(([from, , to]) => [from, to]));
  const list = [];
  const placed = new Set();
  const place = (node, depth) => {
    if (placed.has(node)) return [];
    placed.add(node);
    const entry = { ...node, depth };
    list.push(entry);
    const below = nodes.filter(({ nodeName }) => users.get(nodeName) === node.nodeName);
    entry.inside = below.flatMap((sub) => [sub, ...place(sub, depth + 1)]);
    return entry.inside;
  };
  for (const node of nodes) if (!users.has(node.nodeName)) place(node, 0);
  // Nodes that use each other in a circle.
  for (const node of nodes) place(node, 0);
  return list;
}
