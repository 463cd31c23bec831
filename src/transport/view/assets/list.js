// The list of executions: its filters, which are in the address, and the next page on scrolling.

import { format, go, to, visit } from './address.js';
import { call } from './api.js';
import { chooses, data, fill, h, refill, shown, svg } from './dom.js';
import { STATUSES, badge, statusWord } from './status.js';
import { waits } from './head.js';
import { bytes, count, duration, named, t, time } from './words.js';

const PAGE = 50;

export class List {
  /** The workflows of the executions that were listed, by id: names to choose from. */
  workflows = new Map();
  #body = h('tbody', {});
  #running = h('p', { class: 'fine look' });
  #foot = h('div', { class: 'foot', role: 'status' });
  #controller = new AbortController();
  #shown = null;
  #state = {};
  /** What is being read, and what comes after it. */
  #reading = null;
  #cursor = null;
  /** Whether the rows are those of other filters. */
  #isStale = false;
  #sizes = h('th', { scope: 'col', class: 'number', hidden: true }, t('size'));

  /** `learnt` is called when there are more workflows to choose from; `refresh` when the reader requests new entries. */
  constructor({ learnt, refresh }) {
    this.learnt = learnt;
    /** The form of the filters. */
    this.filters = form(refresh);
    this.element = h('div', {},
      this.#running,
      h('div', { class: 'card scroll-x', tabindex: '0', role: 'region', 'aria-label': t('executions') },
        h('table', { class: 'list' },
          h('thead', {}, h('tr', {},
            h('th', { scope: 'col' }, t('status')),
            h('th', { scope: 'col' }, t('workflow')),
            h('th', { scope: 'col', class: 'number id' }, t('execution')),
            h('th', { scope: 'col' }, t('started')),
            h('th', { scope: 'col', class: 'number' }, t('duration')),
            this.#sizes)),
          this.#body)),
      this.#foot);
    this.observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) this.#more();
    }, { rootMargin: '400px' });
  }

  /** Stops reading; `update` goes on with it. */
  leave() {
    this.#controller.abort();
    this.observer.disconnect();
  }

  update(state) {
    const { status, workflow, after, before } = state;
    const wanted = JSON.stringify([status, workflow, after, before]);
    this.#state = state;
    if (wanted !== this.#shown) {
      this.#shown = wanted;
      this.#isStale = true;
      this.showFilters(state);
      this.#first();
    } else if (this.#controller.signal.aborted && this.#reading) {
      this.#read(this.#reading);
    } else {
      this.observer.observe(this.#foot);
    }
  }

  /** Reads the first executions, which then replace what is shown. */
  #first() {
    this.#controller.abort();
    this.element.setAttribute('aria-busy', 'true');
    this.#read(selected(this.#state));
  }

  /** The filters from the address. */
  showFilters({ status, workflow, after, before }) {
    const { elements } = this.filters;
    this.#offer(workflow);
    Object.entries({ status, after, before, workflow }).forEach(([name, value]) => { elements[name].value = value ?? ''; });
  }

  /** Offers the workflows that were listed, and the one that the address names. */
  #offer(workflow) {
    const names = new Map([...(workflow ? [[workflow, workflow]] : []), ...this.workflows]);
    const sorted = [...names].sort(([, one], [, other]) => one.localeCompare(other));
    const select = this.filters.elements.workflow;
    const before = select.value;
    fill(select,
      h('option', { value: '' }, t('anyWorkflow')),
      sorted.map(([id, name]) => h('option', { value: id }, shown(name).slice(0, 60))));
    select.value = before;
  }

  /** Adds the workflows of a page to the choice. */
  #learn(executions) {
    const before = this.workflows.size;
    for (const { workflowId, workflowName } of executions) if (workflowId) this.workflows.set(workflowId, workflowName ?? workflowId);
    if (this.workflows.size === before) return;
    this.#offer(this.#state.workflow);
    this.learnt();
  }

  /** Whether only the first executions were read. */
  get isFirstPage() {
    return this.#body.childElementCount <= PAGE;
  }

  /** Requests the current entries again: the list changes in the meantime. */
  again() {
    this.#first();
  }

  async #read(parameters) {
    const { signal } = (this.#controller = new AbortController());
    this.#reading = parameters;
    fill(this.#foot, h('p', {}, t('reading')));
    this.observer.disconnect();
    this.#cursor = null;
    try {
      const answer = await call('list_executions', { limit: PAGE, ...parameters }, { signal });
      if (signal.aborted) return;
      this.#reading = null;
      this.#show(answer, parameters);
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (this.#isStale) fill(this.#body);
      fill(this.#foot, h('div', { class: 'notice failed', role: 'alert' }, h('p', {}, shown(error.message)),
        h('button', { type: 'button', onclick: () => this.#read(parameters) }, t('tryAgain'))));
    }
    this.element.removeAttribute('aria-busy');
  }

  #show({ executions, nextCursor, leftOut }, { cursor }) {
    if (executions.some((execution) => execution.bytes)) this.#sizes.hidden = false;
    const rows = executions.map((execution) => this.#row(execution));
    this.#isStale = false;
    if (cursor) this.#body.append(...rows);
    else refill(this.#body, rows);
    this.#learn(executions);
    if (!cursor) {
      fill(this.#running, leftOut && h('a', { ...to({ status: 'running' }) }, count('running', leftOut.running), leftOut.more && ' +'));
    }
    if (!nextCursor) {
      fill(this.#foot, h('p', {}, this.#body.childElementCount ? t('noMore') : t('noExecutions')));
      return;
    }
    this.#cursor = nextCursor;
    fill(this.#foot, h('button', { type: 'button', onclick: () => this.#more() }, t('more')));
    this.observer.observe(this.#foot);
  }

  #more() {
    if (this.#cursor) this.#read({ cursor: this.#cursor });
  }

  #row({
    id,
    status,
    workflowId,
    workflowName,
    mode,
    retryOf,
    retrySuccessId,
    waitTill,
    failingNode,
    error,
    startedAt,
    executionTime,
    bytes: size,
  }) {
    const relations = [
      mode && shown(named('mode', mode)),
      retryOf && `${t('retryOf')} #${shown(retryOf)}`,
      retrySuccessId && `${t('retriedBy')} #${shown(retrySuccessId)}`,
      waitTill && waits(waitTill),
    ].filter(Boolean).join(' · ');
    return h('tr', {},
      h('td', {}, badge(status)),
      h('th', { scope: 'row' },
        h('a', { class: 'cover', href: format({ id }) }, data(workflowName ?? workflowId ?? '')),
        h('span', { class: 'fine number narrow' }, ` #${id}`),
        relations && h('span', { class: 'fine' }, ` ${relations}`),
        workflowId && h('a', {
          class: 'only',
          ...to({ workflow: workflowId }),
          title: t('onlyThis'),
          'aria-label': t('onlyThis'),
        }, funnel()),
        (failingNode || error) && h('p', { class: 'why' },
          failingNode && h('strong', {}, data(failingNode, 60)),
          failingNode && error && ': ',
          error && data(error.message ?? error, 200))),
      h('td', { class: 'number id' }, `#${id}`),
      h('td', {}, time(startedAt)),
      h('td', { class: 'number' }, duration(executionTime)),
      h('td', { class: 'number', hidden: this.#sizes.hidden }, size ? bytes(size) : ''));
  }

  /** `j` and `k`: the next and previous execution. */
  step(by) {
    const links = [...this.#body.querySelectorAll('a.cover')];
    const at = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  }
}

/** The form of the filters, which are filled in later. */
function form(refresh) {
  const changes = (name) => (value) => go({ [name]: value || null });
  const date = (name, label) => h('label', {}, label,
    h('input', { type: 'date', name, onchange: (event) => changes(name)(event.target.value) }));
  return h('form', { class: 'filters', onsubmit: (event) => event.preventDefault() },
    h('label', {}, t('status'),
      h('select', { name: 'status', ...chooses(changes('status')) },
        h('option', { value: '' }, t('anyStatus')),
        STATUSES.map((name) => h('option', { value: name }, statusWord(name))))),
    date('after', t('startedAfter')),
    date('before', t('startedBefore')),
    h('label', {}, t('openById'),
      h('input', { type: 'text', name: 'id', inputmode: 'numeric', size: '8', placeholder: '1234', onkeydown: openById })),
    h('label', {}, t('workflow'),
      h('select', { name: 'workflow', ...chooses(changes('workflow')) }, h('option', { value: '' }, t('anyWorkflow')))),
    h('button', { type: 'button', class: 'button', name: 'refresh', onclick: refresh }, '↻ ', t('refresh')));
}

/** Drawn, because few fonts have a sign for it. */
function funnel() {
  return svg('svg', { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', { d: 'M2 3h12l-4.5 5.5V13l-3 1.5v-6z' }));
}

function openById(event) {
  const id = event.target.value.trim().replace(/^#/, '');
  if (event.key === 'Enter' && /^\d+$/.test(id)) visit(format({ id }));
}

/** The filters of a state, in the form that the tools for all executions accept. */
export function selected({ status, workflow, after, before }) {
  const all = { status, workflowId: workflow, startedAfter: iso(after), startedBefore: iso(before, true) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
}

/** The first or the last millisecond of a day in the reader's own calendar. */
function iso(day, end = false) {
  const date = new Date(`${day}T${end ? '23:59:59.999' : '00:00:00'}`);
  return day && !Number.isNaN(date.getTime()) ? date.toISOString() : null;
}
