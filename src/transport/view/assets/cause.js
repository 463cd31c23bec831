// What an execution is opened for: the cause of its failure, or what is unusual although it succeeded. The first picture needs no
// further call; the item, its unusual values and the last good run follow as they are read.

import { format, to } from './address.js';
import { call } from './api.js';
import { clip, data, fill, h } from './dom.js';
import { oddText, oddLink } from './odd.js';
import { count, number, t } from './words.js';

const TOKENS = 8_000;
// Of a bar of `view_overview`.
const [RUN, FAILED] = [2, 4];
/** Findings, and names in a sentence, at most. */
const MOST = 5;
/** What n8n stores of an execution that it is asked for again without a word, bytes: each look makes it send all of it. */
const SENT_AGAIN = 50_000_000;

export class Cause {
  #controller = new AbortController();

  constructor(overview, server) {
    this.overview = overview;
    this.server = server;
    this.request = h('p', { class: 'request', hidden: true });
    this.response = h('p', { class: 'fine', hidden: true });
    this.item = h('ul', { class: 'found', hidden: true });
    this.good = h('p', { class: 'fine', hidden: true });
    this.found = h('div', {});
    this.element = h('div', { class: 'looking' }, this.#error(), this.found);
    this.#showFindings(null);
  }

  leave() {
    this.#controller.abort();
  }

  /** Looks for the cause, or offers it if n8n itself would have to send a large execution again. */
  start() {
    const isNear = this.server.execution || this.server.store;
    if (isNear || !(this.overview.execution.bytes > SENT_AGAIN)) return this.read();
    this.element.classList.remove('looking');
    return fill(this.found, h('p', {}, h('button', { type: 'button', class: 'button', onclick: () => this.read() }, t('lookForCause'))));
  }

  /** Reads what the first picture does not have. Nothing of it is necessary: a call that fails leaves its line out. */
  async read() {
    const { execution } = this.overview;
    this.element.classList.add('looking');
    this.#showFindings(null);
    const hasRun = !execution.tooLarge && this.overview.nodes.length > 0;
    if (hasRun && execution.error) await this.#quiet(() => this.#readError());
    if (hasRun && execution.status === 'success') await this.#quiet(() => this.#readOdd());
    if (hasRun && execution.error && !this.server.execution) await this.#quiet(() => this.#readGood());
    this.element.classList.remove('looking');
  }

  async #quiet(read) {
    try {
      if (!this.#controller.signal.aborted) await read();
    } catch {
      // Its line stays hidden.
    }
  }

  #call(tool, parameters) {
    return call(tool, { id: this.overview.id, ...parameters }, { signal: this.#controller.signal });
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
      this.request, this.response, this.item, this.good);
  }

  #ran(name) {
    return this.overview.moreNodes > 0 || this.overview.nodes.some(({ nodeName }) => nodeName === name);
  }

  async #readError() {
    const { nodeName, message, description } = this.overview.execution.error;
    if (!nodeName || !this.#ran(nodeName)) return;
    const { error, parameters, input, run } = await this.#call('get_execution_by_node', { nodeName, limit: 1, maxTokens: TOKENS });
    const request = requestOf(error ?? {}, parameters ?? {});
    if (request) {
      fill(this.request, h('code', {}, data(request, 300)));
      this.request.hidden = false;
    }
    const said = unescaped(error?.messages?.[0] ?? '');
    if (said && ![message, description].some((text) => text?.includes(said))) {
      fill(this.response, t('answered'), ' ', data(said, 400));
      this.response.hidden = false;
    }
    await this.#readItem(error ?? {}, input, { node: nodeName, run: run.index });
  }

  /** The item that the node was working on, and what is unusual in it. Without its number, what is unusual in all of them. */
  async #readItem({ context, itemIndex }, input, place) {
    const source = (input?.sources ?? []).find((source) => source.nodeName);
    const total = source?.total ?? input?.total ?? 0;
    const known = context?.itemIndex ?? itemIndex ?? (total === 1 ? 0 : null);
    const item = Number.isInteger(known) && known < total ? known : null;
    const line = (...more) => h('li', {}, h('a', { ...to({ ...place, tab: null, out: null, side: 'input', input: null, item }) }, `${t('item')} ${number(item)}`), ...more);
    const show = (...lines) => {
      fill(this.item, lines);
      this.item.hidden = !lines.flat().length;
    };
    if (item !== null) show(line(h('span', { class: 'fine' }, ` ${t('wasWorkedOn', { n: number(total) })}`)));
    if (!source) return;
    const { nodeName, runIndex = 0, outputIndex = 0 } = source;
    const answer = await this.#call('get_execution_fields', { nodeName, runIndex, outputIndex, maxTokens: TOKENS });
    const odd = (answer.fields ?? []).filter((field) => field.odd);
    const own = odd.filter((field) => field.odd.item === item).slice(0, MOST);
    if (own.length) show(own.map((field) => line(': ', oddText(field, answer.items))));
    else if (item === null && odd.length) {
      show(h('li', { class: 'fine' }, t('unusualInput')), odd.slice(0, MOST).map((field) =>
        h('li', {}, oddLink(nodeName, { run: runIndex, output: outputIndex, ...field.odd }), ' ', oddText(field, answer.items))));
    }
  }

  /** Whether the workflow is the one that was good the last time. */
  async #readGood() {
    const { with: other, workflow } = await this.#call('compare_executions', { maxTokens: TOKENS });
    const { changed = [], added = [], removed = [], connections } = workflow ?? {};
    const edited = [...changed, ...added, ...removed].map((node) => (typeof node === 'string' ? node : node.nodeName)).filter(Boolean);
    const good = h('a', { href: format({ id: other }) }, `#${other}`);
    const names = edited.slice(0, MOST).map((name, i) => [i ? ', ' : ' ', this.#ran(name) ? h('a', { ...to({ node: name, tab: 'parameters' }) }, data(name, 60)) : data(name, 60)]);
    const more = edited.length > MOST && ` +${number(edited.length - MOST)}`;
    fill(this.good, edited.length || connections
      ? [h('strong', {}, t('editedSince')), ' ', good, ':', names, more, connections && ` ${t('connectionsDiffer')}`, ' · ', h('a', { ...to({ view: 'compare' }) }, t('compare'))]
      : [t('notEditedSince'), ' ', good]);
    this.good.classList.toggle('fine', !edited.length && !connections);
    this.good.hidden = false;
  }

  async #readOdd() {
    const { odd = [] } = await this.#call('get_execution_fields', { maxTokens: TOKENS });
    this.#showFindings(odd);
  }

  /** `odd`: the odd values of all nodes; null while they are read. */
  #showFindings(odd) {
    const { nodes, execution } = this.overview;
    const findings = nodes.flatMap((node) => flow(node, Boolean(execution.error)));
    const values = notable(odd ?? [], nodes);
    const list = [
      ...findings.slice(0, MOST), findings.length > MOST && h('span', { class: 'fine' }, `+${number(findings.length - MOST)}`),
      ...values.slice(0, 3).map((one) => [h('strong', {}, data(one.nodeName, 60)), ': ', oddLink(one.nodeName, one), ' ', oddText(one)]),
      values.length > 3 && h('a', { ...to({ view: 'odd' }) }, t('moreOdd', { n: number(values.length - 3) })),
    ].filter(Boolean);
    const good = execution.status === 'success' && nodes.length > 0;
    if (list.length) fill(this.found, h('section', { class: 'finding-box', 'aria-label': t('unusual') }, h('h2', {}, t(good ? 'succeededBut' : 'unusual')), h('ul', { class: 'found' }, list.map((one) => h('li', {}, one)))));
    else if (!odd) fill(this.found, good && h('p', { class: 'fine nothing-unusual' }, t('looking')));
    else fill(this.found, good && h('p', { class: 'fine nothing-unusual' }, h('strong', {}, t('nothingUnusual')), ' ', t('lookedAt')));
  }
}

/** Odd values, one for each item; those of what failed say nothing new. */
function notable(odd, nodes) {
  const place = (name, { run = 0, output = 0, item }) => JSON.stringify([name, run, output, item]);
  const seen = new Set(nodes.filter(({ errorItems }) => errorItems).map(({ nodeName, errorItems }) => place(nodeName, errorItems)));
  const failed = new Set(nodes.filter(({ failedRuns }) => failedRuns > 0).map(({ nodeName }) => nodeName));
  return odd.filter((one) => {
    const key = place(one.nodeName, one);
    return !failed.has(one.nodeName) && !seen.has(key) && seen.add(key);
  });
}

/** Sentences about what a node did with its items that a person may not have meant. */
function flow({ nodeName, nodeType, runs, failedRuns, bars, errorItems, unconnected = [], emptyRuns, outputs, outputLabels = [] }, ended) {
  const name = h('strong', {}, data(nodeName, 60));
  const place = (changes) => to({ node: nodeName, tab: null, run: null, input: null, out: null, item: null, side: null, ...changes });
  // What a Filter discards leads nowhere on purpose.
  const nowhere = /\.filter$/.test(nodeType ?? '') ? [] : unconnected;
  const failed = bars.find((bar) => bar[FAILED])?.[RUN] ?? 0;
  return [
    failedRuns > 0 && !ended && [name.cloneNode(true), ': ', h('a', { ...place({ run: failed }) }, count('continuedRuns', failedRuns))],
    errorItems && [name, ': ', h('a', { ...place({ run: errorItems.run ?? 0, out: errorItems.output ?? 0, item: errorItems.item }) }, count('continued', errorItems.count)), ' ', data(unescaped(errorItems.message ?? ''), 200)],
    ...nowhere.map((out) => [name.cloneNode(true), ': ', h('a', { ...place({ out }) }, count('leftNowhere', outputs[out] ?? 0)), ' ', t('throughOutput', { out: clip(String(outputLabels[out] ?? out), 30) })]),
    emptyRuns > 0 && emptyRuns < runs && [name.cloneNode(true), ': ', h('a', { ...place({}) }, t('someEmpty', { n: number(emptyRuns), of: number(runs) }))],
  ].filter(Boolean);
}

/** Method and URL of an HTTP request that failed: as it was sent, or else as the parameters have it. */
function requestOf({ context }, { method, url }) {
  const sent = context?.request;
  const address = sent?.uri ?? sent?.url ?? (typeof url === 'string' ? url.replace(/^=/, '') : null);
  return typeof address === 'string' && address ? `${sent?.method ?? method ?? 'GET'} ${address}` : null;
}

/** A text in which JSON was put into a string, as it was before: `500 - "{\"a\": 1}"` as `500 - {"a": 1}`. */
export function unescaped(text) {
  const match = /^(.{0,20}?)("(?:[^"\\]|\\.)*")$/s.exec(text);
  if (!match) return String(text);
  try {
    return match[1] + JSON.parse(match[2]);
  } catch {
    return text;
  }
}
