// "Prove the draft": the changed workflow runs again with the data of the failed execution, after the reader has agreed to it.

import { call, prove } from './api.js';
import { data, fill, h, shown } from './dom.js';
import { json } from './json.js';
import { number, t } from './words.js';

/** Verdicts that are good news, as on the terminal. */
const GOOD = ['fixed', 'reproduced', 'sameOutputs'];
const NAMES = 5;

export class Prove {
  #controller = new AbortController();

  constructor(id) {
    this.id = id;
    this.element = h('div', { class: 'prove', hidden: true });
  }

  leave() {
    this.#controller.abort();
  }

  /** Offers a proof if there is a draft that differs from what ran. */
  async offer() {
    const { changed } = await call('view_draft', { id: this.id }, { signal: this.#controller.signal });
    if (!changed.length) return;
    this.element.hidden = false;
    const names = changed.slice(0, NAMES).map((name, i) => [i ? ', ' : '', data(name, 60)]);
    this.said = h('div', { 'aria-live': 'polite' });
    fill(this.element, h('p', {}, t('draftChanges'), ' ', names, changed.length > NAMES && ` +${number(changed.length - NAMES)}`, ' ',
      h('button', { type: 'button', class: 'button', onclick: () => this.#ask() }, t('proveDraft'))), this.said);
  }

  /** Announces what it creates in n8n beforehand. */
  #ask() {
    const dialog = h('dialog', { 'aria-labelledby': 'prove-title', 'aria-describedby': 'prove-words', onclose: () => dialog.remove() },
      h('h2', { id: 'prove-title' }, t('proveDraft')), h('p', { id: 'prove-words' }, t('proveWords')),
      h('div', { class: 'actions' },
        h('button', { type: 'button', class: 'button', onclick: () => dialog.close() }, t('cancel')),
        h('button', { type: 'button', class: 'button primary', onclick: () => { dialog.close(); this.#run(); } }, t('prove'))));
    document.body.append(dialog);
    dialog.showModal();
  }

  async #run() {
    this.#controller = new AbortController();
    const stop = h('button', { type: 'button', class: 'button', onclick: () => this.#controller.abort() }, t('cancel'));
    fill(this.said, h('p', { class: 'loading' }, h('span', {}, t('proving')), h('progress', { 'aria-label': t('proving') }), stop));
    this.said.setAttribute('aria-busy', 'true');
    try {
      fill(this.said, verdict(await prove(this.id, { signal: this.#controller.signal })));
    } catch (error) {
      fill(this.said,
        h('p', { class: error.name === 'AbortError' ? 'fine' : 'bad' },
          error.name === 'AbortError' ? t('proofCancelled') : shown(error.message)));
    } finally {
      this.said.removeAttribute('aria-busy');
    }
  }
}

/** The verdict in words, and the claim as an agent reads it. */
function verdict(answer) {
  const { verdict: name, claim, notProven = [] } = answer;
  const good = GOOD.includes(name);
  return h('div', { class: 'verdict' },
    h('p', {},
      h('span', { class: `badge ${good ? 'success' : 'error'}` }, good ? '✓ ' : '✕ ', t(`verdict.${name}`)),
      ' ',
      data(claim, 2000)),
    notProven.length > 0 && h('ul', { class: 'fine' }, notProven.map((line) => h('li', {}, data(line, 500)))),
    h('details', {}, h('summary', {}, t('proofDetails')), json(answer)));
}
