// The home of the page: all executions. What runs now, failures in groups, the trend of a workflow, a search over all of them,
// and the list.

import { go } from './address.js';
import { restart } from './api.js';
import { fill, h } from './dom.js';
import { Failures } from './failures.js';
import { Find } from './find.js';
import { List } from './list.js';
import { Now } from './now.js';
import { searchBox } from './search.js';
import { Trends } from './trends.js';
import { t } from './words.js';

export class Home {
  constructor({ store }) {
    this.list = new List({ learnt: () => this.trends?.offer(this.list.workflows), refresh: () => this.#refresh() });
    this.now = new Now({ often: store, ended: () => this.#ended() });
    this.failures = new Failures({ often: store });
    this.find = new Find({ often: store });
    this.field = searchBox(t('searchAll'), (q) => go({ q }));
    if (store) this.trends = new Trends();
    this.parts = [this.now, this.failures, this.trends, this.list].filter(Boolean);
    this.everything = h('div', { class: 'everything' }, this.parts.map((part) => part.element));
    this.element = h('div', { class: 'page home' },
      h('h1', {}, t('executions')), this.list.filters, this.find.element, this.everything,
      !store && h('p', { class: 'fine' }, t('needsStore'), ' ', h('code', {}, 'n8n-lens view --store ~/.n8n')));
  }

  /** Whether this page can show a state. */
  fits(state) {
    return !state.id;
  }

  /** Shown, for the first time or again: as it was left. */
  enter(slot) {
    fill(slot, this.field.element);
    if (this.state && this.list.isFirstPage && !this.everything.hidden) this.list.again();
  }

  leave() {
    for (const part of [this.find, ...this.parts]) part.leave();
  }

  update(state) {
    this.state = state;
    this.field.update(state);
    this.find.update(state);
    // What was found stands in place of everything else.
    const isSearch = Boolean(state.q || state.path);
    this.everything.hidden = isSearch;
    if (isSearch) this.list.showFilters(state);
    else for (const part of this.parts) part.update(state);
  }

  #refresh() {
    restart();
    for (const part of [this.find, ...this.parts]) part.again();
  }

  /** An execution that is no longer running or waiting appears in the list from now on. */
  #ended() {
    restart();
    if (this.list.isFirstPage && !this.everything.hidden) this.list.again();
  }

  /** `/`: the search. */
  focusSearch() {
    this.field.focus();
  }

  /** `j` and `k`: the next and previous execution. */
  step(by) {
    this.list.step(by);
  }

  /** Escape: from the search results back to everything. */
  close() {
    if (this.state.q || this.state.path) go({ q: null, path: null });
  }
}
