// The reason to open an execution: the cause of its failure, or anything unusual although it succeeded. The server writes the sentences,
// which the terminal shows, too; the first ones come with the first picture, the others as they are read.

import { format, to } from './address.js';
import { call } from './api.js';
import { clip, data, fill, h } from './dom.js';
import { Prove } from './prove.js';
import { language, number, t } from './words.js';

export class Cause {
  #controller = new AbortController();

  constructor(overview, server) {
    this.overview = overview;
    this.server = server;
    this.more = h('div', {});
    this.found = h('div', {});
    this.prove = new Prove(overview.id);
    this.element = h('div', { class: 'looking' }, this.#error(), this.found);
    this.#showFindings(null);
  }

  leave() {
    this.#controller.abort();
    this.prove.leave();
  }

  /** Looks for the cause, or offers to if n8n itself would have to send a large execution again. */
  start() {
    if (this.overview.isNear) return this.read();
    this.element.classList.remove('looking');
    return fill(this.found, h('p', { class: 'look' }, h('button', { type: 'button', class: 'button', onclick: () => this.read() }, t('lookForCause'))));
  }

  /** Reads what the first picture does not have. None of it is essential: a call that fails leaves its lines out. */
  async read() {
    const { nodes, execution } = this.overview;
    const { error, status } = execution;
    this.element.classList.add('looking');
    this.#showFindings(null);
    const hasRun = !execution.tooLarge && nodes.length > 0;
    if (hasRun && error && this.#ran(error.nodeName)) {
      await this.#quiet(async () => {
        const said = [error.message, error.description].filter(Boolean).join('\n');
        this.#showMore(await this.#ask({ nodeName: error.nodeName, ...(said ? { said } : {}) }));
      });
      if (this.server.proof && !this.server.execution) await this.#quiet(() => this.prove.offer());
    } else if (hasRun && status === 'success') {
      const known = nodes.filter(({ failedRuns, errorItems }) => failedRuns > 0 || errorItems).map(({ nodeName }) => nodeName);
      await this.#quiet(async () => this.#showFindings(await this.#ask(known.length ? { known: known.join('\n') } : {})));
    }
    this.element.classList.remove('looking');
  }

  async #quiet(read) {
    try {
      if (!this.#controller.signal.aborted) await read();
    } catch {
      // Its lines are left out.
    }
  }

  #ask(parameters) {
    return call('view_findings', { id: this.overview.id, language: language(), ...parameters }, { signal: this.#controller.signal });
  }

  #ran(name) {
    return Boolean(name) && (this.overview.moreNodes > 0 || this.overview.nodes.some(({ nodeName }) => nodeName === name));
  }

  #error() {
    const { error } = this.overview.execution;
    if (!error) return null;
    const { nodeName, name, message, description, httpCode } = error;
    return h('section', { class: 'error-box', 'aria-label': t('error') },
      h('p', { class: 'what' },
        nodeName && (this.#ran(nodeName) ? h('a', { ...to({ node: nodeName, tab: 'error' }) }, data(nodeName, 80)) : h('strong', {}, data(nodeName, 80))),
        nodeName && ': ',
        data(unescaped(message ?? t('error')), 600), ' ',
        h('span', { class: 'fine' }, [name, httpCode && `HTTP ${httpCode}`].filter(Boolean).map((part, i) => [i ? ' · ' : '', data(part, 80)]))),
      description && h('p', {}, data(clip(unescaped(description), 600), 700)),
      this.more, this.prove.element);
  }

  #showMore({ request, answered, items = [], edited }) {
    fill(this.more,
      request && h('p', { class: 'request' }, sentence(request)), answered && h('p', { class: 'fine' }, sentence(answered)),
      items.length > 0 && h('ul', { class: 'found' }, items.map((item) => h('li', {}, sentence(item)))),
      edited && h('p', {}, sentence(edited)));
  }

  /** `more`: the outliers, and the sentence if nothing was found; null while they are read. */
  #showFindings(more) {
    const { findings = [], moreFindings = 0, execution, nodes } = this.overview;
    const list = [...findings.map(sentence), moreFindings > 0 && h('span', { class: 'fine' }, `+${number(moreFindings)}`), ...(more?.odd ?? []).map(sentence)].filter(Boolean);
    const good = execution.status === 'success' && nodes.length > 0;
    const box = () => h('section', { class: 'finding-box', 'aria-label': t('unusual') }, h('h2', {}, t(good ? 'succeededBut' : 'unusual')), h('ul', { class: 'found' }, list.map((one) => h('li', {}, one))));
    const nothing = () => good && h('p', { class: 'fine nothing-unusual' }, more ? sentence(more.nothing) : t('looking'));
    fill(this.found, list.length ? box() : nothing());
  }
}

/** A sentence of the server: its parts as words, names and links. */
function sentence(parts) {
  return parts.map(({ text, strong, code, link }) => {
    if (link) return h('a', link.to.id ? { href: format(link.to) } : to(link.to), data(link.text, 400));
    if (strong !== undefined) return h('strong', {}, data(strong, 400));
    return code === undefined ? data(text, 2000) : h('code', {}, data(code, 400));
  });
}

/** A text without the escapes of JSON inside a string: `500 - "{\"a\": 1}"` as `500 - {"a": 1}`. */
export function unescaped(text) {
  const match = /^(.{0,20}?)("(?:[^"\\]|\\.)*")$/s.exec(text);
  if (!match) return String(text);
  try {
    return match[1] + JSON.parse(match[2]);
  } catch {
    return text;
  }
}
