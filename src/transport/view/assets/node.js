// One node: its runs, input and output side by side, one item as JSON, fields, trace, error and parameters.

import { format, go, place, to } from './address.js';
import { call } from './api.js';
import { downloads } from './copy.js';
import { chooses, data, fill, h, refill, shown } from './dom.js';
import { Fields } from './fields.js';
import { ItemTable, itemsOf } from './items.js';
import { json, jsonWithTools } from './json.js';
import { Loader } from './loading.js';
import { Parameters } from './parameters.js';
import { badge } from './status.js';
import { tabs } from './tabs.js';
import { Trace } from './trace.js';
import { count, duration, number, t } from './words.js';

const TOKENS = 25_000;

export class NodeView {
  #shown = null;
  #answer = null;
  #tables = [];
  #parts = new Map();
  #state = null;

  constructor(overview) {
    this.id = overview.id;
    this.moreNodes = overview.moreNodes > 0;
    this.nodes = new Map(overview.nodes.map((node) => [node.nodeName, node]));
    this.head = h('div', { class: 'node-head' });
    this.bar = h('div', {});
    this.body = h('div', { class: 'node-body' });
    this.element = h('section', { class: 'card node-view', 'aria-label': t('node'), hidden: true },
      h('div', { class: 'node-top' }, this.head, this.bar),
      this.body);
    this.loader = new Loader(this.body);
  }

  leave() {
    this.loader.cancel();
    this.#clear();
  }

  update(state) {
    this.#state = state;
    this.element.hidden = !state.node;
    const wanted = JSON.stringify([state.node, state.run]);
    if (wanted === this.#shown) {
      if (this.#answer) this.#refresh();
      return;
    }
    this.#shown = wanted;
    this.#answer = null;
    this.#clear();
    this.loader.cancel();
    if (!state.node) return;
    this.#showHead(null);
    if (!this.nodes.has(state.node) && !this.moreNodes) {
      fill(this.bar);
      fill(this.body, h('p', { class: 'empty' }, t('nodeDidNotRun')));
      return;
    }
    this.loader.load('view_node', this.#parameters(state), (answer) => {
      this.#answer = answer;
      this.#showHead(answer);
      this.#refresh();
      return null;
    });
  }

  #parameters({ node, run }) {
    return { id: this.id, nodeName: node, ...(run !== null ? { runIndex: run } : {}), format: 'rows', limit: 50, maxTokens: TOKENS };
  }

  /** The output that is shown: the one in the address, or else the first one with items in this run. */
  #output() {
    return this.#state.out ?? this.#answer.output?.outputs?.find(({ total }) => total > 0)?.outputIndex ?? 0;
  }

  #totalOf(output) {
    return this.#answer.output?.outputs?.find(({ outputIndex }) => outputIndex === output)?.total ?? 0;
  }

  #clear() {
    for (const table of this.#tables) table.leave();
    this.#tables = [];
    for (const part of this.#parts.values()) part.leave?.();
    this.#parts.clear();
  }

  #showHead(answer) {
    const { node, run } = this.#state;
    const known = this.nodes.get(node);
    const total = answer?.run?.total ?? known?.runs ?? 0;
    const index = answer?.run?.index ?? run ?? 0;
    refill(this.head,
      h('h2', {}, data(node, 120)),
      answer && badge(answer.status),
      known?.nodeType && h('span', { class: 'fine' }, data(known.nodeType.replace(/^.*\./, ''), 60)),
      answer && h('span', { class: 'fine number' }, duration(answer.executionTime)),
      answer?.run?.subExecution && h('span', { class: 'fine' }, t('startedThese'), ' ', child(answer.run.subExecution)),
      total > 1 && this.#runs(index, total, answer?.run?.failed ?? []),
      h('a', {
        class: 'button quiet close',
        ...to({ node: null, tab: null }),
        'aria-label': t('closeNode'),
        title: `${t('closeNode')} (Esc)`,
      }, '✕'));
  }

  #runs(index, total, failed) {
    const at = (run) => ({ run, item: null, out: null, side: null });
    const step = (by, sign, label) => {
      const run = index + by;
      return run >= 0 && run < total ? h('a', {
        class: 'button quiet',
        ...to(at(run)),
        'aria-label': label,
        title: label,
      }, sign) : h('span', { class: 'button quiet off', 'aria-hidden': 'true' }, sign);
    };
    return h('div', { class: 'run-chooser', role: 'group', 'aria-label': t('runs') },
      step(-1, '←', t('previousRun')),
      h('label', {}, t('run'), ' ',
        h('input', { type: 'number', min: 0, max: total - 1, value: index, onchange: (event) => {
          const run = Math.min(total - 1, Math.max(0, Math.round(Number(event.target.value))));
          go(at(run));
        } }), ' ', t('ofRuns', { n: number(total - 1) })),
      step(1, '→', t('nextRun')),
      failed.length > 0 && h('label', { class: 'bad' },
        `✕ ${count('failedRuns', this.nodes.get(this.#state.node)?.failedRuns ?? failed.length)}`,
        ' ',
        h('select', { ...chooses((run) => run && go(at(Number(run)))) },
          h('option', { value: '' }, t('choose')),
          failed.map((run) => h('option', { value: run, selected: run === index }, number(run))))));
  }

  #refresh() {
    const { tab, item } = this.#state;
    const answer = this.#answer;
    const sides = `${this.#source()?.inputIndex} ${this.#output()}`;
    if (sides !== this.sides) {
      this.sides = sides;
      this.out = this.#output();
      this.#clear();
    }
    const names = [
      'items',
      'fields',
      item !== null && this.#state.side !== 'input' && 'trace',
      answer.error && 'error',
      'parameters',
    ].filter(Boolean);
    const name = names.includes(tab) ? tab : 'items';
    refill(this.bar,
      tabs(t('node'),
        names.map((entry) => ({
          label: t(`tab.${entry}`),
          changes: { tab: entry === 'items' ? null : entry },
          current: entry === name,
        }))));
    if (!this.#parts.has(name)) this.#parts.set(name, this.#make(name));
    const part = this.#parts.get(name);
    if (this.body.firstChild !== part.element) refill(this.body, part.element);
    part.update?.(this.#state);
  }

  #make(name) {
    const answer = this.#answer;
    switch (name) {
      case 'fields': return new Fields(this.id, answer.nodeName, answer.run.total);
      case 'trace': return new Trace(this.id, answer.nodeName, answer.run.index, this.out);
      case 'error': return { element: errorView(answer.error) };
      case 'parameters': return new Parameters(this.id, answer);
      default: return this.#items();
    }
  }

  #items() {
    const answer = this.#answer;
    const input = this.#input(answer);
    const output = this.#outputs(answer);
    const one = new OneItem(this.id, answer, this.#source(), this.out);
    const element = h('div', { class: 'sides' }, input.element, output.element, one.element);
    return {
      element,
      leave: () => one.leave(),
      update: (state) => {
        element.classList.toggle('with-item', state.item !== null);
        input.table?.select(state.side === 'input' ? state.item : null);
        output.table?.select(state.side !== 'input' ? state.item : null);
        one.update(state);
      },
    };
  }

  /** The output that the chosen input came from: `{nodeName, runIndex, outputIndex, total}`; undefined if unknown. */
  #source() {
    const sources = sourcesOf(this.#answer);
    return sources[this.#state.input ?? 0] ?? sources[0];
  }

  #input({ nodeName, run, input }) {
    const sources = sourcesOf(this.#answer);
    const source = this.#source();
    const total = source?.total ?? input?.total ?? 0;
    const table = total > 0 ? this.#table({
      name: t('inputItems'), total, side: 'input', read: source ? outputOf(source) : { nodeName, runIndex: run.index, part: 'input' },
      first: sources.length > 1 ? null : itemsOf(input),
    }) : null;
    const choices = sources.length > 1 && h('span', { class: 'outputs', role: 'group', 'aria-label': t('inputs') },
      sources.map((each, at) =>
      h('a', { class: 'chip', ...to({ input: at, item: null, side: null }), 'aria-current': each === source ? 'true' : null },
        `${t('input')} ${each.inputIndex ?? at}`, ' ', h('span', { class: 'fine number' }, number(each.total ?? 0)))));
    const from = source && h('span', { class: 'fine' }, ` ${t('fromNode')} `, h('a', {
      ...to(place(source.nodeName, { run: source.runIndex ?? 0, out: source.outputIndex ?? 0 })),
    }, data(source.nodeName, 60)));
    return {
      table,
      element: h('section', { class: 'side', 'aria-label': t('input') },
        h('h3', {},
          t('input'),
          choices || h('span', { class: 'fine' }, ' ', count('items', total)),
          from,
          table && source && downloads(this.id, source, this.nodes.get(source.nodeName)?.runs)),
        table ? [table.said, table.element, table.cut, table.progress] : h('p', { class: 'empty' }, t('noInput'))),
    };
  }

  #outputs({ nodeName, run, output, error }) {
    const { out } = this;
    const all = this.nodes.get(nodeName)?.outputs ?? output?.outputs ?? [];
    const total = this.#totalOf(out);
    const table = total > 0 ? this.#table({
      name: t('outputItems'), total, first: itemsOf(output, out),
      read: { nodeName, runIndex: run.index, outputIndex: out, part: 'output' },
    }) : null;
    const choices = all.length > 1 && h('span', { class: 'outputs', role: 'group', 'aria-label': t('outputs') }, all.map((_, index) =>
      h('a', { class: 'chip', ...to({ out: index, item: null, side: null }), 'aria-current': index === out ? 'true' : null },
        this.#nameOf(index), ' ', h('span', { class: 'fine number' }, number(this.#totalOf(index))))));
    const empty = () => h('div', { class: 'empty' }, h('p', {}, error ? t('failedNoItems') : t('noOutput')),
      error && h('p', {}, h('a', { ...to({ tab: 'error' }) }, data(error.message ?? t('error'), 300))));
    return {
      table,
      element: h('section', { class: 'side', 'aria-label': t('output') },
        h('h3', {},
          t('output'),
          choices || h('span', { class: 'fine' }, ' ', count('items', total)),
          table && downloads(this.id, { nodeName, runIndex: run.index, outputIndex: out }, run.total)),
        table ? [table.said, table.element, table.cut, table.progress] : empty()),
    };
  }

  /** n8n's label of an output, such as `true`; its number if it has no label. */
  #nameOf(output) {
    const outputLabels = this.nodes.get(this.#answer.nodeName)?.outputLabels;
    const label = this.#answer.output?.outputs?.find(({ outputIndex }) => outputIndex === output)?.label ?? outputLabels?.[output];
    return label ? data(label, 30) : `${t('output')} ${output}`;
  }

  #table({ name, total, side = null, read, first }) {
    const table = new ItemTable({
      name, total, first,
      changes: (item) => ({ item, side, tab: null }),
      fetchPage: async (offset, limit, options) => {
        const answer = await call('get_execution_by_node',
          { id: this.id, ...read, format: 'rows', offset, limit, maxTokens: TOKENS },
          options);
        return itemsOf(answer[read.part]);
      },
    });
    this.#tables.push(table);
    return table;
  }

  stepRun(by) {
    const { run } = this.#answer ?? {};
    if (!run) return;
    const next = run.index + by;
    if (next >= 0 && next < run.total) go({ run: next, item: null, out: null, side: null });
  }

  stepItem(by) {
    if (!this.#answer) return;
    const { item, side } = this.#state;
    const total = side === 'input' ? this.#source()?.total ?? this.#answer.input?.total : this.#totalOf(this.out);
    const next = item === null ? 0 : item + by;
    if (next >= 0 && next < (total ?? 0)) go({ item: next });
  }
}

/** The sources of an input, one for each node and run that it came from. */
function sourcesOf({ input }) {
  return (input?.sources ?? []).filter((source) => source.nodeName);
}

/** An input is an output of the previous node, so its pages are read from there. */
function outputOf({ nodeName, runIndex = 0, outputIndex = 0 }) {
  return { nodeName, runIndex, outputIndex, part: 'output' };
}

/** The execution of a sub-workflow. */
function child(id) {
  return h('a', { href: format({ id }) }, `#${shown(String(id).slice(0, 40))}`);
}

/** One item as JSON, next to the tables. */
class OneItem {
  #shown = null;

  constructor(id, answer, source, out) {
    this.id = id;
    this.answer = answer;
    this.source = source;
    this.out = out;
    this.title = h('h3', {});
    this.body = h('div', { class: 'one-body' });
    this.element = h('section', { class: 'side one', 'aria-label': t('item'), hidden: true }, this.title, this.body);
    this.loader = new Loader(this.body);
  }

  leave() {
    this.loader.cancel();
  }

  update({ item, side }) {
    this.element.hidden = item === null;
    const wanted = `${side} ${item}`;
    if (item === null || wanted === this.#shown) return;
    this.#shown = wanted;
    const input = side === 'input';
    fill(this.title, `${input ? t('input') : t('output')} · ${t('item')} ${number(item)}`,
      h('span', { class: 'actions' },
        !input && h('a', { class: 'button', ...to({ tab: 'trace' }) }, t('tab.trace')),
        h('a', { class: 'button quiet close', ...to({ item: null, side: null }), 'aria-label': t('closeItem') }, '✕')));
    this.loader.load('get_execution_by_node',
      { ...this.#place(input), id: this.id, offset: item, limit: 1, maxTokens: TOKENS },
      (answer) => {
      const [found] = (input && !this.source ? answer.input : answer.output).items ?? [];
      if (!found) return h('p', { class: 'empty' }, t('noSuchItem'));
      const { json: value, ...rest } = found;
      const clipped = answer.truncated?.clippedValues;
      return [
        clipped && h('p', { class: 'fine' }, count('clipped', clipped)),
        found.subExecution && h('p', {}, t('startedThese'), ' ', child(found.subExecution)),
        jsonWithTools(value),
        Object.keys(rest).length > 0 && h('details', {},
          h('summary', {}, t('otherData'), ' ', h('span', { class: 'fine' }, shown(Object.keys(rest).join(', ')))),
          json(rest)),
      ];
    });
  }

  #place(input) {
    const { nodeName, run } = this.answer;
    if (input && this.source) return outputOf(this.source);
    if (input) return { nodeName, runIndex: run.index, part: 'input' };
    return { nodeName, runIndex: run.index, outputIndex: this.out, part: 'output' };
  }
}

function errorView({ name, message, description, httpCode, stack, ...rest }) {
  return h('div', { class: 'pad' },
    h('p', { class: 'what' }, data(message ?? '', 2000)),
    description && h('p', {}, data(description, 2000)),
    h('p', { class: 'fine' }, [name, httpCode && (/^\d+$/.test(httpCode) ? `HTTP ${httpCode}` : httpCode)].filter(Boolean).map((part, i) => [i ? ' · ' : '', data(part, 100)])),
    stack && h('details', {}, h('summary', {}, t('wholeStack')), h('pre', { class: 'stack', tabindex: '0' }, shown(stack))),
    Object.keys(rest).length > 0 && json(rest));
}
