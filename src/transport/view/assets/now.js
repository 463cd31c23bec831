// Running and waiting executions, and until when they wait: polled as long as this is visible.

import { format } from './address.js';
import { call } from './api.js';
import { data, h, refill } from './dom.js';
import { waits } from './head.js';
import { badge } from './status.js';
import { duration, t } from './words.js';

const STATUSES = ['running', 'waiting'];
const MOST = 10;
/** Milliseconds between two polls: of a store on this machine, and of n8n. */
const [OFTEN, SELDOM] = [3000, 10_000];

export class Now {
  #controller = new AbortController();
  #known = null;
  #executions = [];
  #more = false;
  /** What says how long each has been running. */
  #clocks = [];
  #workflow = undefined;

  /** `ended` is called when an execution is no longer among them. */
  constructor({ often, ended }) {
    this.every = often ? OFTEN : SELDOM;
    this.ended = ended;
    this.list = h('ul', {});
    this.element = h('section', { class: 'card pad now', hidden: true, 'aria-labelledby': 'now' },
      h('h2', { id: 'now' }, t('now')),
      this.list);
    this.seen = () => !document.hidden && this.#look();
  }

  leave() {
    this.#controller.abort();
    clearInterval(this.clock);
    this.clock = null;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.seen);
  }

  update({ workflow }) {
    if (!this.clock) {
      this.clock = setInterval(() => this.#tick(), 1000);
      document.addEventListener('visibilitychange', this.seen);
    } else if (workflow === this.#workflow) {
      return;
    }
    if (workflow !== this.#workflow) this.#known = null;
    this.#workflow = workflow;
    this.#look();
  }

  again() {
    this.#look();
  }

  async #look() {
    clearTimeout(this.timer);
    this.#controller.abort();
    const { signal } = (this.#controller = new AbortController());
    const of = this.#workflow ? { workflowId: this.#workflow } : {};
    try {
      const answers = await Promise.all(STATUSES.map((status) => call('list_executions',
        { status, limit: MOST, ...of },
        { signal, fresh: true })));
      this.#executions = answers.flatMap(({ executions }) => executions);
      this.#more = answers.some(({ nextCursor }) => nextCursor);
    } catch (error) {
      if (error.name === 'AbortError') return;
      // The list shows the error; the next poll may succeed.
    }
    const ids = new Set(this.#executions.map(({ id }) => id));
    const ended = [...this.#known ?? []].some((id) => !ids.has(id));
    this.#known = ids;
    this.#draw();
    if (ended) this.ended();
    if (!document.hidden) this.timer = setTimeout(() => this.#look(), this.every);
  }

  /** Draws what has changed since the last look; a click or a selection must not lose what it is on. */
  #draw() {
    const wanted = JSON.stringify([this.#executions, this.#more]);
    if (wanted !== this.drawn) {
      this.drawn = wanted;
      this.element.hidden = !this.#executions.length;
      this.#clocks = [];
      refill(this.list, this.#executions.map((execution) => this.#row(execution)), this.#more && h('li', { class: 'fine' }, '…'));
    }
    this.#tick();
  }

  #row({ id, status, workflowId, workflowName, startedAt, waitTill }) {
    const time = h('span', {});
    const word = status === 'waiting' ? 'startedAgo' : 'runsFor';
    this.#clocks.push({ time, word, start: Date.parse(startedAt) });
    return h('li', {}, badge(status), ' ',
      h('a', { href: format({ id }) }, data(workflowName ?? workflowId ?? '', 80), ` #${id}`),
      h('span', { class: 'fine number' }, ' ', waitTill && `${waits(waitTill)} · `, time));
  }

  #tick() {
    for (const { time, word, start } of this.#clocks) {
      const since = Date.now() - start;
      time.textContent = since >= 0 ? t(word, { time: duration(Math.floor(since / 1000) * 1000) }) : '';
    }
  }
}
