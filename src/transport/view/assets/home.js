// The page's home: all executions. Running ones, failures in groups, the trend of a workflow, a search over all of them, and the list.

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
  constructor({ store }, slot) {
    this.list = new List({ learnt: () => this.trends?.offer(this.list.workflows), refresh: () => this.#refresh() });
    this.now = new Now({ often: store, ended: () => this.#ended() });
    if (store) {
      this.failures = new Failures();
      this.trends = new Trends();
      this.find = new Find();
      this.field = searchBox(t('searchAll'), (q) => go({ q }));
      fill(slot, this.field.element);
    }
    this.parts = [this.now, this.failures, this.trends, this.list].filter(Boolean);
    this.everything = h('div', { class: 'everything' }, this.parts.map((part) => part.element));
    this.element = h('div', { class: 'page home' },
      h('h1', {}, t('executions')), this.list.filters, this.find?.element, this.everything,
      !store && h('p', { class: 'fine' }, t('needsStore'), ' ', h('code', {}, 'n8n-lens view --store ~/.n8n')));
  }

  /** Whether this page can show a state. */
  fits(state) {
    return !state.id;
  }

  leave() {
    for (const part of [this.find, ...this.parts]) part?.leave();
  }

  update(state) {
    this.state = state;
    this.field?.update(state);
    this.find?.update(state);
    // Search results replace everything else.
    const isSearch = Boolean(this.find && (state.q || state.path));
    this.everything.hidden = isSearch;
    if (isSearch) this.list.showFilters(state);
    else for (const part of this.parts) part.update(state);
  }

  #refresh() {
    restart();
    for (const part of [this.find, ...this.parts]) part?.again();
  }

  /** An execution that is no longer running or waiting appears in the list from now on. */
  #ended() {
    restart();
    if (this.list.isFirstPage && !this.everything.hidden) this.list.again();
  }

  /** `/`: the search, or else the field for an execution's ID. */
  focusSearch() {
    if (this.field) this.field.focus();
    else this.list.focusId();
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
