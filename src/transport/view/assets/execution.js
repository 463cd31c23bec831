// One execution: its header, the views of the whole (timeline, graph, as it ran, conversation, outliers, comparison, search), and one node.

import { format, go, link } from './address.js';
import { Cause, failedRun } from './cause.js';
import { fill, h, refill } from './dom.js';
import { Compare } from './compare.js';
import { Fields } from './fields.js';
import { Graph } from './graph.js';
import { head } from './head.js';
import { Loader } from './loading.js';
import { NodeView } from './node.js';
import { Nodes } from './nodes.js';
import { Ran } from './ran.js';
import { Search, searchField } from './search.js';
import { tabs } from './tabs.js';
import { Talk, talks } from './talk.js';
import { BARS } from './waterfall.js';
import { language, t } from './words.js';

export class Execution {
  #views = new Map();
  #overview = null;
  #state = null;

  constructor({ id, large }, server, { trail, search }) {
    this.id = id;
    this.large = large;
    this.server = server;
    this.trail = trail;
    this.search = search;
    this.top = h('div', {});
    this.tabs = h('div', {});
    this.stage = h('div', { class: 'stage' });
    this.lower = h('div', { class: 'lower' });
    this.element = h('div', { class: 'page' }, this.top);
    this.loader = new Loader(this.top);
  }

  fits(state) {
    return state.id === this.id && state.large === this.large;
  }

  leave() {
    this.loader.cancel();
    this.cause?.leave();
    for (const view of this.#views.values()) view.leave?.();
    this.node?.leave();
  }

  update(state) {
    const first = !this.#state;
    this.#state = state;
    if (first) this.loader.load('view_overview', { id: this.id, bars: BARS, language: language() }, (overview) => this.#show(overview));
    else if (this.#overview) this.#refresh();
  }

  #show(overview) {
    // A saved execution is requested by an id that is not its own.
    this.#overview = { ...overview, id: this.id };
    const { execution } = overview;
    this.trail([execution.workflowName || execution.workflowId || t('execution'), ...(execution.id ? [`#${execution.id}`] : [])]);
    this.field = searchField();
    fill(this.search, this.field.element);
    this.node = new NodeView(this.#overview);
    fill(this.lower, this.node.element);
    this.element.append(h('section', { class: 'card', 'aria-label': t('wholeExecution') }, this.tabs, this.stage), this.lower);
    this.cause = new Cause(this.#overview, this.server);
    this.#open();
    this.cause.start();
    return [head(overview, this.server), this.cause.element];
  }

  /** A reader who opens a failed execution without naming anything sees the node that failed. */
  #open() {
    const { error } = this.#overview.execution;
    const failed = this.#overview.nodes.some(({ nodeName }) => nodeName === error?.nodeName);
    if (failed && link({}) === format({ id: this.id, large: this.large })) {
      go({ node: error.nodeName, run: failedRun(this.#overview) }, { replace: true });
    } else {
      this.#refresh();
    }
  }

  #refresh() {
    const state = this.#state;
    const views = this.#offered();
    const name = views.includes(state.view) ? state.view : 'timeline';
    const view = this.#view(name);
    refill(this.tabs,
      tabs(t('wholeExecution'),
        views.filter((view) => view !== 'search' || state.q || state.path || name === 'search').map((view) => ({
      label: t(`view.${view}`), changes: { view: view === 'timeline' ? null : view }, current: view === name,
    })), view.tools));
    const tab = this.tabs.querySelector('[aria-current]');
    tab.closest('ul').scrollLeft = tab.offsetLeft - 60;
    if (this.stage.firstChild !== view.element) {
      this.current?.hide?.();
      fill(this.stage, view.element);
    }
    this.current = view;
    view.update(state);
    this.field.update(state);
    this.node.update(state);
    this.#reveal(state.node);
  }

  /** Scrolls the card of a newly selected node into view if it lies below the window. */
  #reveal(node) {
    const fresh = node !== this.revealed && this.revealed !== undefined;
    this.revealed = node;
    if (!fresh || !node) return;
    const { top } = this.node.element.getBoundingClientRect();
    if (top > innerHeight - 180) this.node.element.scrollIntoView({ block: innerHeight < 600 || innerWidth < 700 ? 'start' : 'center' });
  }

  /** The views of the whole: a saved execution has no other one for comparison, and only agents have conversations. */
  #offered() {
    return VIEWS.filter((view) => (view !== 'compare' || !this.server.execution) && (view !== 'talk' || talks(this.#overview)));
  }

  #view(name) {
    if (!this.#views.has(name)) this.#views.set(name, this.#make(name));
    return this.#views.get(name);
  }

  #make(name) {
    switch (name) {
      case 'graph': return new Graph(this.#overview);
      case 'ran': return new Ran(this.#overview);
      case 'talk': return new Talk(this.#overview);
      case 'outliers': return new Fields(this.id);
      case 'compare': return new Compare(this.#overview);
      case 'search': return new Search(this.#overview);
      default: return new Nodes(this.#overview);
    }
  }

  /** `/`: the search. */
  focusSearch() {
    this.field?.focus();
  }

  /** `j` and `k`: the next or previous node, in the order in which they are shown. */
  step(by) {
    if (!this.#overview) return;
    const names = this.#view('timeline').names?.() ?? [];
    const at = names.indexOf(this.#state.node);
    const node = names[at < 0 ? (by > 0 ? 0 : names.length - 1) : at + by];
    if (node !== undefined) go({ node, tab: null });
  }

  /** The arrows: the next or previous run of the node. */
  stepRun(by) {
    this.node?.stepRun(by);
  }

  /** `n` and `p`: the next or previous item. */
  stepItem(by) {
    this.node?.stepItem(by);
  }

  /** `+`, `-`, `0`, `,` and `.`: the time axis. */
  zoom(key) {
    this.current?.zoom?.(key);
  }

  /** `v`: the next view of the whole. */
  nextView() {
    if (!this.#overview) return;
    const views = this.#offered();
    const next = views[(views.indexOf(this.#state.view ?? 'timeline') + 1) % views.length];
    go({ view: next === 'timeline' ? null : next });
  }

  /** Escape: one step out, from the item to the node to the execution, and from the results of a search to the timeline. */
  close() {
    const { item, node, view } = this.#state;
    if (item !== null) go({ item: null, side: null, tab: this.#state.tab === 'trace' ? null : this.#state.tab });
    else if (node) go({ node: null, tab: null });
    else if (view === 'search') go({ view: null, q: null, path: null, condition: null, value: null, regex: null, within: null });
  }
}

const VIEWS = ['timeline', 'graph', 'ran', 'talk', 'outliers', 'compare', 'search'];
