// The header of an execution: what it is, how it ended, and where else to look.

import { format, to } from './address.js';
import { copyButton } from './copy.js';
import { data, h, shown } from './dom.js';
import { badge } from './status.js';
import { bytes, count, duration, named, t, time } from './words.js';

/** The most executions that a header links to. */
const CHILDREN = 20;

/** The header, for `view_overview`'s answer and what the server said about itself. */
export function head({ execution, nodes, moreNodes = 0 }, server) {
  const { id, workflowId, workflowName, status, mode, startedAt, items, tooLarge } = execution;
  return h('div', { class: 'head' },
    h('div', { class: 'title' },
      h('h1', {}, data(workflowName || workflowId || (id ? `#${id}` : t('savedExecution')))),
      badge(status),
      h('span', { class: 'actions' },
        !server.execution && h('a', { class: 'button', ...to({ view: 'compare' }) },
          t(execution.retryOf ? 'compareWithRetried' : 'compareWithGood')),
        external(execution, server), !server.controls && copyButton(t('copyLink'), () => location.href))),
    h('ul', { class: 'facts' }, [
      id && h('span', { class: 'number' }, `#${id}`),
      mode && h('span', {}, shown(named('mode', mode))),
      startedAt && h('time', { datetime: startedAt }, time(startedAt)),
      execution.duration !== null && h('span', { class: 'number' }, duration(execution.duration)),
      !tooLarge && h('span', { class: 'number' }, count('nodesRan', nodes.length + moreNodes)),
      !tooLarge && h('span', { class: 'number' }, count('items', items)),
      execution.bytes && h('span', { class: 'number' }, t('storedSize', { size: bytes(execution.bytes) })),
      ...relatives(execution, nodes, server),
    ].filter(Boolean).map((fact) => h('li', {}, fact))),
    (execution.notes ?? []).map((note) => h('p', { class: 'notice' }, shown(note),
      execution.tooLarge && h('a', { class: 'button', ...to({ large: '1' }) }, t('readAnyway')))));
}

function external({ id, workflowId }, { n8nUrl }) {
  if (!n8nUrl || !/^https?:\/\//.test(n8nUrl) || !workflowId) return null;
  const href = `${n8nUrl.replace(/\/$/, '')}/workflow/${encodeURIComponent(workflowId)}/executions/${encodeURIComponent(id)}`;
  return h('a', { class: 'button', href, rel: 'noopener noreferrer', target: '_blank' }, t('openInN8n'), ' ↗');
}

/** Until when an execution waits. */
export function waits(till) {
  return waitsForCall(till) ? t('waitsForCall') : t('waitsUntil', { till: time(till) });
}

/** n8n writes the year 3000 for one that waits for a call. */
export function waitsForCall(till) {
  return till.startsWith('3000-01-01');
}

function relatives({ parentExecution, retryOf, retrySuccessId }, nodes, server) {
  const subExecutions = nodes.flatMap((node) => node.subExecutions ?? []);
  const other = (id) => (server.execution ? `#${id}` : h('a', { href: format({ id }) }, `#${id}`));
  const children = subExecutions.slice(0, CHILDREN).flatMap((id) => [' ', other(id)]);
  const more = nodes.reduce((sum, node) => sum + (node.moreSubExecutions ?? 0), Math.max(0, subExecutions.length - CHILDREN));
  return [
    parentExecution && h('span', {}, t('startedBy'), ' ', other(parentExecution)),
    retryOf && h('span', {}, t('retryOf'), ' ', other(retryOf)),
    retrySuccessId && h('span', {}, t('retriedBy'), ' ', other(retrySuccessId)),
    children.length && h('span', {}, t('startedThese'), children, more > 0 && ` +${more}`),
  ];
}
