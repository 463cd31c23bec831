// A part of the page that loads its content: progress, cancel, error, try again.

import { call } from './api.js';
import { fill, focusIn, h, shown } from './dom.js';
import { bytes, t } from './words.js';

/** No progress is shown for this many milliseconds: it would only flicker. */
const QUIET = 200;

/**
 * Fills `element` with the result of `show` for an answer. A later call on the same loader cancels the previous one.
 */
export class Loader {
  #element;
  #controller = null;

  constructor(element) {
    this.#element = element;
  }

  /** Cancels what is being read, if anything is; what is shown stays. */
  cancel() {
    const isReading = this.#controller !== null;
    this.#controller?.abort();
    this.#controller = null;
    return isReading;
  }

  /** Calls `tool` and passes its answer to `show`, which returns the content, or null if it has already shown it. */
  async load(tool, parameters, show) {
    this.cancel();
    const controller = (this.#controller = new AbortController());
    const bar = progressBar(() => {
      controller.abort();
      this.#say(t('cancelled'), () => this.load(tool, parameters, show));
    });
    const element = this.#element;
    const refocus = focusIn(element);
    element.setAttribute('aria-busy', 'true');
    const timer = setTimeout(() => fill(element, bar.element), QUIET);
    try {
      const answer = await call(tool, parameters, { signal: controller.signal, progress: bar.update });
      if (controller.signal.aborted) return;
      clearTimeout(timer);
      const content = show(answer);
      if (content) fill(element, content);
      refocus();
    } catch (error) {
      if (error.name === 'AbortError' || controller.signal.aborted) return;
      this.#say(error.message, () => this.load(tool, parameters, show), true);
    } finally {
      clearTimeout(timer);
      if (this.#controller === controller) this.#controller = null;
      if (!this.#controller) element.removeAttribute('aria-busy');
    }
  }

  #say(message, again, failed = false) {
    fill(
      this.#element,
      h('div', { class: failed ? 'notice failed' : 'notice', role: failed ? 'alert' : 'status' },
        h('p', {}, shown(message)),
        h('button', { type: 'button', onclick: again }, t('tryAgain'))),
    );
  }
}

function progressBar(cancel) {
  const text = h('span', { class: 'number' }, t('reading'));
  const bar = h('progress', { 'aria-label': t('reading') });
  const element = h('div', { class: 'loading', role: 'status' },
    text, bar, h('button', { type: 'button', onclick: cancel }, t('cancel')));
  return {
    element,
    update({ waiting, bytes: read, total }) {
      if (waiting) {
        bar.removeAttribute('value');
        fill(text, t('waiting'));
      } else if (total) {
        bar.max = total;
        bar.value = read;
        fill(text, t('readOf', { read: bytes(read), total: bytes(total) }));
      } else {
        fill(text, t('readSoFar', { read: bytes(read) }));
      }
    },
  };
}
