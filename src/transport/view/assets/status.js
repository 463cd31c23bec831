// n8n's words and symbols for statuses: a colour never stands alone.

import { h } from './dom.js';
import { t } from './words.js';

const SIGNS = {
  success: '✓',
  error: '✕',
  crashed: '✕',
  canceled: '⊘',
  waiting: '◷',
  running: '◌',
  new: '…',
  unknown: '?',
};

/** The statuses that a list can be filtered by, in n8n's order. */
export const STATUSES = ['success', 'error', 'running', 'waiting', 'canceled', 'crashed', 'new', 'unknown'];

function known(status) {
  return Object.hasOwn(SIGNS, status ?? '') ? status : 'unknown';
}

/** n8n's word for a status. */
export function statusWord(status) {
  return t(`status.${known(status)}`);
}

/** A symbol and the word in n8n's colour. */
export function badge(status) {
  return h('span', { class: `badge ${known(status)}` }, sign(status), ' ', statusWord(status));
}

/** The symbol alone, with the word for screen readers. */
export function sign(status, word = false) {
  const mark = h('span', { class: `sign ${known(status)}`, 'aria-hidden': 'true' }, SIGNS[known(status)]);
  return word ? [mark, h('span', { class: 'unseen' }, `${statusWord(status)} `)] : mark;
}
