// The trend of a workflow: changes at its nodes in the last period compared with the seven before it, with a sparkline over all eight.

import { format, to } from './address.js';
import { data, fill, h, refill, svg } from './dom.js';
import { scroll } from './fields.js';
import { Loader } from './loading.js';
import { count, duration, minute, number, percent, t, unread } from './words.js';

const PERIODS = ['1h', '6h', '24h', '7d'];
const DEFAULT = '24h';
/** How many workflows are offered. */
const MOST = 12;
/** A sparkline: its size, and the room for its marks. */
const [WIDTH, HEIGHT, EDGE] = [72, 18, 3];

export class Trends {
  #shown = null;
  #workflows = new Map();

  constructor() {
    this.choice = h('div', { class: 'chips' });
    this.body = h('div', {});
    this.element = h('section', { class: 'card pad trends', 'aria-labelledby': 'trends' },
      h('h2', { id: 'trends' }, t('trends')),
      this.choice,
      this.body);
    this.loader = new Loader(this.body);
  }

  leave() {
    if (this.loader.cancel()) this.#shown = null;
  }

  again() {
    this.#shown = null;
    this.update(this.state);
  }

  /** The listed workflows, by id. */
  offer(workflows) {
    this.#workflows = workflows;
    if (this.state) this.update(this.state);
  }

  update(state) {
    this.state = state;
    const { workflow } = state;
    const period = PERIODS.includes(state.period) ? state.period : DEFAULT;
    this.element.hidden = !workflow && !this.#workflows.size;
    refill(this.choice, workflow
      ? PERIODS.map((each) => chip({ period: each === DEFAULT ? null : each }, t(`period.${each}`), each === period))
      : [...this.#workflows].slice(0, MOST).map(([id, name]) => chip({ workflow: id }, data(name, 40), false)));
    const wanted = JSON.stringify([workflow, period]);
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    this.loader.cancel();
    fill(this.body);
    if (!workflow) fill(this.body, h('p', { class: 'fine' }, t('chooseWorkflow')));
    else this.loader.load('view_trend', { workflowId: workflow, period }, (answer) => show(answer, period));
  }
}

function chip(changes, word, isCurrent) {
  return h('a', { class: 'chip', ...to(changes), 'aria-current': isCurrent ? 'true' : null }, word);
}

function show({ periods, nodes, moreNodes = 0, moved, notRead, notEnded = 0 }, period) {
  const executions = periods.map((each) => each.executions);
  const missing = [unread(notRead), notEnded > 0 && count('notEnded', notEnded)].filter(Boolean).join(' · ');
  if (!executions.some(Boolean)) return h('p', { class: 'fine' }, missing || t('noneInPeriods'));
  const whole = { node: null, runs: executions, failed: periods.map((each) => each.failures), ms: [], items: [] };
  const heads = ['node', 'runs', 'failedShare', 'time', 'itemsWord'];
  return [
    moved.length ? h('ul', { class: 'found' }, moved.map((one) => h('li', {}, movement(one)))) : h('p', {}, t('nothingMoved')),
    scroll(t('nodes'), h('table', {},
      h('caption', { class: 'fine' }, t('trendCaption', { period: t(`period.${period}`), from: minute(periods[0].from) })),
      h('thead', {}, h('tr', {}, heads.map((word) => h('th', { scope: 'col' }, t(word))))),
      h('tbody', {}, [whole, ...nodes].map((node) => row(node, moved))))),
    moreNodes > 0 && h('p', { class: 'fine' }, `+${number(moreNodes)}`),
    missing && h('p', { class: 'fine' }, missing),
  ];
}

function row({ node, runs, failed, ms, items }, moved) {
  const changed = new Set(moved.filter((one) => one.node === node).map(({ what }) => MEASURE[what]));
  const shares = runs.map((n, i) => (n ? failed[i] / n : null));
  const cell = (name, values, write) => h('td', { class: changed.has(name) ? 'moved' : null }, line(values, write));
  return h('tr', {},
    h('th', { scope: 'row' }, node === null ? h('strong', {}, t('wholeWorkflow')) : data(node, 60)),
    cell('runs', runs, number), cell('failed', shares, percent), cell('ms', ms, duration), cell('items', items, number));
}

const MEASURE = { slower: 'ms', faster: 'ms', moreItems: 'items', fewerItems: 'items', failing: 'failed', empty: 'items', stopped: 'runs' };

/** Eight values as a line, and the last one in words; for readers who cannot see it, all of them. */
function line(values, write) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (!known.length) return '';
  const [low, high] = [Math.min(0, ...known), Math.max(...known) || 1];
  const x = (i) => EDGE + (i * (WIDTH - 2 * EDGE)) / Math.max(1, values.length - 1);
  const y = (value) => HEIGHT - EDGE - ((value - low) / (high - low)) * (HEIGHT - 2 * EDGE);
  const points = values.map((value, i) => (typeof value === 'number' ? [x(i), y(value)] : null)).filter(Boolean);
  const [lastX, lastY] = points.at(-1);
  const words = values.map((value) => (typeof value === 'number' ? write(value) : '–'));
  return [
    svg('svg', { class: 'line', width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true' },
      svg('polyline', { points: points.map((point) => point.map((n) => n.toFixed(1)).join(',')).join(' ') }),
      svg('circle', { cx: lastX, cy: lastY, r: 2.5 })),
    ' ', h('span', { class: 'number', title: words.join(' → ') }, words.at(-1)),
    h('span', { class: 'unseen' }, ` (${t('before')}: ${words.slice(0, -1).join(', ')})`),
  ];
}

/** A movement as a sentence. */
function movement({ node, what, before, after, since, edited }) {
  const write = MEASURE[what] === 'ms' ? duration : number;
  const share = ({ cases, runs }) => `${percent(cases / Math.max(1, runs))} (${number(cases)}/${number(runs)})`;
  const level = (side) => (side.cases === undefined ? write(side.p50) : share(side));
  const execution = [h('a', { href: format({ id: since.id }) }, `#${since.id}`), ` ${minute(since.at)}`];
  const subject = [h('strong', {}, data(node, 60)), ` ${t(`moved.${what}`)}`];
  // It ran in that execution for the last time: what changed came after it.
  if (what === 'stopped') return [subject, ` · ${t('before')} ${count('runsWord', before.runs)} · ${t('lastIn')} `, execution];
  return [
    subject, `: ${level(after)} · ${t('before')} ${level(before)} · `,
    t('since'), ' ', execution,
    [' · ', h('a', { href: format({ id: since.id, view: 'compare' }) }, edited ? t('editedThen') : t('whatDiffered'))],
  ];
}
