// The execution as it ran, from top to bottom: what each node did, its input and output, a sample, and how values are distributed.

import { format, place, to } from './address.js';
import { data, h, nothing, remarks, shown } from './dom.js';
import { fieldFacts, togetherFacts } from './facts.js';
import { json } from './json.js';
import { Loader } from './loading.js';
import { statusWord } from './status.js';
import { count, language, number, t } from './words.js';

export class Ran {
  constructor({ id }) {
    this.id = id;
    this.element = h('div', { class: 'pad' });
    this.loader = new Loader(this.element);
  }

  leave() {
    this.loader.cancel();
  }

  update() {
    if (this.asked) return;
    this.asked = true;
    this.loader.load('view_ran', { id: this.id, language: language() }, ({ nodes = [], notRun = [], error: ended, ...answer }) => [
      nodes.length ? remarks(answer) : nothing(answer, t('nothingRan')),
      nodes.length > 0 && h('ol', { class: 'path' },
        nodes.map((node) => (typeof node === 'string' ? h('li', {}, data(node, 200))
          : step(node.node === ended?.nodeName ? { ...node, error: ended.message } : node)))),
      notRun.length > 0 && h('p', { class: 'fine' }, t('didNotRunThese'), ' ', notRun.map((name, i) => [i ? ', ' : '', data(name, 80)])),
    ]);
  }
}

function step({
  node,
  type,
  from = [],
  runs,
  calls,
  status,
  does,
  input,
  sample,
  sampleOf,
  values = [],
  together = [],
  pinned,
  disabled,
  alwaysOutputData,
  subExecutions = [],
  ...rest
}) {
  return h('li', { class: status ? `ran ${status}` : 'ran' },
    h('div', { class: 'where' },
      h('a', { ...to(place(node)) }, data(node, 80)), ' ',
      h('span', { class: 'fine' }, [
        type && data(type, 60),
        flow(rest),
        runs && count('runsWord', runs),
        calls !== undefined && count('callsWord', calls),
        pinned && t('pinned'),
        disabled && t('disabled'),
        alwaysOutputData && t('alwaysOutputData'),
      ].filter(Boolean).map((part, i) => [i ? ' · ' : '', part]))),
    from.length > 0 && h('p', { class: 'fine' }, t('fromNode'), ' ', from.map((name, i) => [i ? ', ' : '', data(name, 80)])),
    unusual({ status, ...rest }),
    does && h('pre', { class: 'does', tabindex: '0', 'aria-label': t('does') }, shown(does)),
    (values.length > 0 || together.length > 0) && h('ul', { class: 'values' },
      [...values.map(fieldFacts), ...together.map(togetherFacts)].map((line) => h('li', {}, data(line, 400)))),
    input !== undefined && folded(t('input'), input),
    sampleOf !== undefined && h('p', { class: 'fine' }, t('sample'), ': ', data(t('sameSample', { node: sampleOf }), 120)),
    sample !== undefined && folded(t(sampleOf === undefined ? 'sample' : 'sampleBesides'), sample),
    subExecutions.length > 0 && h('p', {},
      t('startedThese'),
      subExecutions.map((id) => [' ', /^\d+$/.test(id) ? h('a', { href: format({ id }) }, `#${id}`) : data(id, 40)])));
}

function folded(name, value) {
  return h('details', {}, h('summary', {}, name), json(value));
}

/** Items in and out: `1,500 → kept 496, discarded 1,004`. */
function flow({ in: taken, out }) {
  if (out === undefined) return null;
  const named = ([name, n]) => `${shown(name).slice(0, 30)} ${number(n)}`;
  const outputs = out !== null && typeof out === 'object' ? Object.entries(out).map(named).join(', ') : number(out);
  return `${taken === undefined ? '' : `${number(taken)} → `}${outputs}`;
}

/** The findings that a person should see first. */
function unusual({ status, error, errorItems, emptyRuns, unconnected = [], onError }) {
  const list = [
    status && h('strong', { class: status === 'error' || status === 'crashed' ? 'bad' : null }, statusWord(status)),
    error && data(error, 200),
    errorItems && [
      h('strong', { class: 'bad' }, count('errorItems', errorItems.count)),
      errorItems.message && [': ', data(errorItems.message, 200)],
    ],
    unconnected.length > 0 && h('strong', { class: 'warned' },
      t('nowhereThese'),
      ' ',
      unconnected.map((name, i) => [i ? ', ' : '', data(name, 40)])),
    emptyRuns && count('emptyRuns', emptyRuns), onError && data(onError, 40),
  ].filter(Boolean);
  return list.length > 0 && h('p', {}, list.map((part, i) => [i ? ' · ' : '', part]));
}
