// The reason to open an execution: the cause of its failure, or anything unusual although it succeeded. The server writes the sentences,
// which the terminal shows, too; the first ones come with the first picture, the others as they are read.

import { format, place, to } from './address.js';
import { call } from './api.js';
import { clip, data, fill, h, shown } from './dom.js';
import { Prove } from './prove.js';
import { waits, waitsForCall } from './head.js';
import { duration, language, number, t } from './words.js';

export class Cause {
  #controller = new AbortController();

  constructor(overview, server) {
    this.overview = overview;
    this.server = server;
    this.more = h('div', {});
    this.found = h('div', {});
    // A button that looks for more, or what went wrong with that.
    this.offer = h('div', {});
    this.prove = new Prove(overview.id);
    this.element = h('div', { class: 'cause' }, this.#error(), this.#waits(), this.found, this.offer);
    this.#showFindings({});
  }

  leave() {
    this.#controller.abort();
    this.prove.leave();
  }

  /** Looks for the cause, or offers to if n8n itself would have to send a large execution again. */
  start() {
    const asked = this.#asked();
    if (!asked) return;
    if (this.overview.isNear) this.#read(asked);
    else fill(this.offer, h('p', { class: 'look' }, button('lookForCause', () => this.#read(asked))));
  }

  /** What to ask beyond the first picture; nothing if there is nothing to be examined. */
  #asked() {
    const { nodes, execution: { error, status, tooLarge, retryOf } } = this.overview;
    if (tooLarge || !nodes.length) return null;
    if (error && this.#ran(error.nodeName)) {
      const said = [error.message, error.description].filter(Boolean).join('\n');
      const run = failedRun(this.overview);
      return {
        nodeName: error.nodeName, ...(run === null ? {} : { runIndex: run }), ...(said ? { said } : {}), ...(retryOf ? { retryOf } : {}),
      };
    }
    if (status !== 'success') return null;
    const known = nodes.filter(({ failedRuns, errorItems }) => failedRuns > 0 || errorItems);
    return known.length ? { known: known.map(({ nodeName }) => nodeName).join('\n') } : {};
  }

  async #read(asked) {
    this.element.classList.add('looking');
    fill(asked.nodeName ? this.more : this.offer, h('p', { class: 'fine' }, t(asked.nodeName ? 'lookingForCause' : 'looking')));
    try {
      const parameters = { id: this.overview.id, language: language(), ...asked };
      const found = await call('view_findings', parameters, { signal: this.#controller.signal });
      fill(this.offer);
      this.#showMore(found);
      this.#showFindings(found);
      if (asked.nodeName && this.server.proof && !this.server.execution) await this.#offerProof();
    } catch (error) {
      if (error.name === 'AbortError') return;
      fill(this.more);
      fill(this.offer, h('div', { class: 'notice failed', role: 'alert' },
        h('p', {}, t('notExaminedFurther'), ' ', shown(error.message)),
        button('tryAgain', () => this.#read(asked))));
    } finally {
      this.element.classList.remove('looking');
    }
  }

  /** A proof is an offer: if it is unknown whether the draft differs, it is not made. */
  async #offerProof() {
    try {
      await this.prove.offer();
    } catch {
      // No offer.
    }
  }

  #ran(name) {
    const { moreNodes, nodes } = this.overview;
    return Boolean(name) && (moreNodes > 0 || nodes.some(({ nodeName }) => nodeName === name));
  }

  #error() {
    const { error } = this.overview.execution;
    if (!error) return null;
    const { nodeName, name, message, description, httpCode } = error;
    const kinds = [name, httpCode && (/^\d+$/.test(httpCode) ? `HTTP ${httpCode}` : httpCode)].filter(Boolean);
    const ran = this.#ran(nodeName);
    return h('section', { class: 'box error-box', 'aria-label': t('error') },
      h('p', { class: 'what' },
        nodeName && (ran ? h('a', { ...to(place(nodeName, { run: failedRun(this.overview), tab: 'error' })) }, data(nodeName, 80))
          : h('strong', {}, data(nodeName, 80))),
        nodeName && ': ',
        data(message ?? t('error'), 600), ' ',
        h('span', { class: 'fine' }, kinds.map((part, i) => [i ? ' · ' : '', data(part, 80)]))),
      description && h('p', {}, data(clip(description, 600), 700)),
      this.more, this.prove.element);
  }

  /** Where it waits, until when, and how long that is from now. */
  #waits() {
    const { execution: { status, waitTill }, nodes } = this.overview;
    if (status !== 'waiting' || !waitTill) return null;
    const node = nodes.findLast((one) => one.status === 'waiting');
    const left = waitsForCall(waitTill) ? 0 : Date.parse(waitTill) - Date.now();
    return h('p', { class: 'box waiting-box' },
      node && [h('a', { ...to({ node: node.nodeName }) }, data(node.nodeName, 80)), ': '], waits(waitTill),
      left > 0 && h('span', { class: 'fine' }, ` · ${t('waitsIn', { time: duration(left) })}`));
  }

  #showMore({ request, answered, items = [], edited }) {
    fill(this.more,
      request && h('p', { class: 'request' }, sentence(request)),
      answered && h('p', { class: 'fine' }, sentence(answered)),
      items.length > 0 && h('ul', { class: 'found' }, items.map((item) => h('li', {}, sentence(item)))),
      edited && h('p', {}, sentence(edited)));
  }

  /** What the first picture has, and what was found since. */
  #showFindings({ odd: outliers = [], nothing, unseen }) {
    const { findings = [], execution } = this.overview;
    const list = [...findings, ...outliers];
    const heading = t(execution.status === 'success' ? 'succeededBut' : 'unusual');
    fill(this.found,
      list.length > 0 && h('section', { class: 'box finding-box', 'aria-label': t('unusual') },
        h('h2', {}, heading),
        h('ul', { class: 'found' }, list.map((one) => h('li', {}, sentence(one))))),
      !list.length && nothing && h('p', { class: 'fine nothing-unusual' }, sentence(nothing)),
      unseen && h('p', { class: 'fine unseen-values' }, sentence(unseen)));
  }
}

/** The run that ended the execution, if its node failed in several; otherwise null: the only failed one is shown without being named. */
export function failedRun({ nodes, execution: { error } }) {
  return nodes.find(({ nodeName }) => nodeName === error?.nodeName)?.failedRun ?? null;
}

function button(word, onclick) {
  return h('button', { type: 'button', class: 'button', onclick }, t(word));
}

/** A sentence of the server: its parts as words, names and links. */
function sentence(parts) {
  return parts.map(({ text, strong, code, link }) => {
    if (link) return h('a', link.to.id ? { href: format(link.to) } : to(link.to), data(counted(link.text), 400));
    if (strong !== undefined) return h('strong', {}, data(strong, 400));
    return code === undefined ? data(counted(text), 2000) : h('code', {}, data(code, 400));
  });
}

/** A text whose numbers, which stand between marks, are written as the reader writes them. */
function counted(text) {
  return text.replace(/\u0001(\d+)\u0001/g, (_, n) => number(Number(n)));
}
