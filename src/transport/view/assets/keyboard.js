// The keys of the page, and the list of them.

import { h } from './dom.js';
import { t } from './words.js';

const HELP = [
  [['/'], 'keySearch'], [['j', 'k'], 'keyNodes'], [['←', '→'], 'keyRuns'], [['n', 'p'], 'keyItems'], [['v'], 'keyViews'],
  [['+', '−', '0'], 'keyZoom'], [[',', '.'], 'keyPan'], [['Esc'], 'keyBack'], [['?'], 'keyHelp'],
];

/** Listens for keys, except in text fields; `page` returns the current page. */
export function listenToKeys(page) {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const writing = event.target.closest?.('input:not([type=checkbox]), select, textarea');
    if (writing) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    if (document.querySelector('dialog[open]')) return;
    if (act(event.key, page(), event)) event.preventDefault();
  });
}

function act(key, page, event) {
  switch (key) {
    case '/': page?.focusSearch?.(); return true;
    case '?': showHelp(); return true;
    case 'j': page?.step?.(1); return true;
    case 'k': page?.step?.(-1); return true;
    case 'n': page?.stepItem?.(1); return true;
    case 'p': page?.stepItem?.(-1); return true;
    case 'v': page?.nextView?.(); return true;
    case 'Escape': page?.close?.(); return true;
    case 'ArrowLeft':
    case 'ArrowRight':
      // A focused wide table scrolls with the same keys.
      if (scrolls(event.target)) return false;
      page?.stepRun?.(key === 'ArrowRight' ? 1 : -1);
      return true;
    case '+': case '=': page?.zoom?.('+'); return true;
    case '-': case '0': case ',': case '.': page?.zoom?.(key); return true;
    default: return false;
  }
}

function scrolls(element) {
  return element instanceof HTMLElement && element.tabIndex === 0 && element.scrollWidth > element.clientWidth + 1;
}

/** The list of keys, in a dialog that Escape closes. */
export function showHelp() {
  const dialog = h('dialog', {
    'aria-labelledby': 'help-title',
    onclose: () => dialog.remove(),
    onclick: (event) => event.target === dialog && dialog.close(),
  },
    h('h2', { id: 'help-title' }, t('keyboard')),
    h('dl', {}, HELP.map(([keys, word]) => h('div', {}, h('dt', {}, keys.map((key) => h('kbd', {}, key))), h('dd', {}, t(word))))),
    h('button', { type: 'button', class: 'button', onclick: () => dialog.close() }, t('close')));
  document.body.append(dialog);
  dialog.showModal();
}
