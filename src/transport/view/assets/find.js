// A search over all executions: call after call, showing the results of each, until all were searched or the reader stops it.

import { format, go } from './address.js';
import { call } from './api.js';
import { data, fill, h, literal, shown } from './dom.js';
import { scroll } from './fields.js';
import { selected } from './list.js';
import { marked } from './search.js';
import { badge } from './status.js';
import { count, minute, number, t } from './words.js';

const TOKENS = 25_000;
/** Executions per call: few, so that results appear soon. */
const LIMIT = 20;
/** How many executions are searched before it waits for a click. */
const PAGE = 100;

export class Find {
  #controller = new AbortController();
  #shown = null;

  /** `often`: call after call, as long as there is something to search; n8n's API has to be asked for each execution. */
  constructor({ often }) {
    this.often = often;
    this.said = h('div', { class: 'foot', role: 'status' });
    this.rows = h('tbody', {});
    this.table = scroll(t('executions'), h('table', {},
      h('thead', {},
        h('tr', {},
          ['execution', 'status', 'started', 'place', 'value', 'hitsWord'].map((word) => h('th', {
            scope: 'col',
            class: word === 'hitsWord' ? 'number' : null,
          }, t(word))))),
      this.rows));
    this.form = h('form', { class: 'filters', onsubmit: (event) => this.#submit(event) });
    this.element = h('section', { class: 'card pad found-all', hidden: true, 'aria-labelledby': 'found' },
      h('h2', { id: 'found' }, t('found')),
      this.form,
      this.table,
      this.said);
  }

  leave() {
    if (this.element.hasAttribute('aria-busy')) this.#shown = null;
    this.#controller.abort();
  }

  again() {
    this.#shown = null;
    this.update(this.state);
  }

  update(state) {
    this.state = state;
    const { q, path } = state;
    this.element.hidden = !q && !path;
    const wanted = JSON.stringify([q, path, selected(state)]);
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    this.#controller.abort();
    if (this.element.hidden) return;
    this.#showForm(state);
    fill(this.rows);
    this.table.hidden = true;
    this.total = { found: 0, searched: 0, missed: {}, from: null };
    this.#read({ ...(q ? { text: q } : {}), ...(path ? { path } : {}), ...selected(state), limit: LIMIT });
  }

  #showForm({ q, path }) {
    const field = (name, word, value, hint) => h('label', {},
      t(word),
      h('input', { name, value: value ?? '', placeholder: hint, autocomplete: 'off', spellcheck: 'false' }));
    fill(this.form, field('q', 'text', q, ''), field('path', 'path', path, 'customer.email'),
      h('button', { type: 'submit', class: 'button primary' }, t('search')),
      h('button', { type: 'button', class: 'button', onclick: () => go({ q: null, path: null }) }, t('close')));
  }

  #submit(event) {
    event.preventDefault();
    const given = new FormData(this.form);
    go({ q: given.get('q') || null, path: given.get('path').trim() || null });
  }

  /** Continues with these parameters until there is another page of results. */
  async #read(parameters) {
    const { signal } = (this.#controller = new AbortController());
    const until = this.total.found + PAGE;
    this.element.setAttribute('aria-busy', 'true');
    this.#say(t('searching'), t('stop'), () => this.#stop(parameters));
    let next = parameters;
    try {
      do {
        parameters = next;
        const answer = await call('find_executions', { ...parameters, maxTokens: TOKENS }, { signal });
        if (signal.aborted) return;
        this.#add(answer);
        next = answer.nextCursor ? { cursor: answer.nextCursor } : null;
        if (next) this.#say(t('searching'), t('stop'), () => this.#stop(next));
        else this.#say(t('allSearched'));
      } while (next && this.often && this.total.found < until);
      if (next) this.#say('', t('searchOn'), () => this.#read(next));
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.#say(shown(error.message), t('tryAgain'), () => this.#read(parameters));
    } finally {
      if (this.#controller.signal === signal) this.element.removeAttribute('aria-busy');
    }
  }

  #stop(next) {
    this.#controller.abort();
    this.element.removeAttribute('aria-busy');
    this.#say(t('cancelled'), t('searchOn'), () => this.#read(next));
  }

  /** The results so far, with a few words and a button. */
  #say(words, button, act) {
    const { found, searched, missed, from } = this.total;
    fill(this.said, h('p', {},
      h('strong', {}, t('foundIn', { n: number(found), of: number(searched) })), from && ` ${t('backTo', { at: minute(from) })}`,
      Object.entries(missed).map(([reason, n]) => ` · ${count(`missed.${reason}`, n)}`),
      words && ` · ${words}`, ' ', button && h('button', { type: 'button', class: 'button', onclick: act }, button)));
  }

  #add({ executions, searched, notSearched = {} }) {
    const { total } = this;
    total.found += executions.length;
    total.searched += searched.executions;
    for (const [reason, n] of Object.entries(notSearched)) total.missed[reason] = (total.missed[reason] ?? 0) + n;
    total.from = searched.from ?? total.from;
    this.table.hidden = total.found === 0;
    this.rows.append(...executions.map((execution) => this.#row(execution)));
  }

  #row({ id, workflowName, status, startedAt, hits, nodeName, path, value }) {
    const { q, path: asked } = this.state;
    return h('tr', {},
      h('th', { scope: 'row' },
        h('a', { class: 'cover', href: format({ id, view: 'search', q, path: asked }) }, `#${id}`),
        ' ',
        data(workflowName ?? '', 60)),
      h('td', {}, badge(status)), h('td', {}, minute(startedAt)),
      h('td', {}, data(nodeName, 60), ' ', h('span', { class: 'fine' }, data(path, 80))),
      h('td', {}, value === undefined ? '' : h('bdi', {}, marked(literal(value), q))),
      h('td', { class: 'number' }, number(hits)));
  }
}
