// Failures of all executions in groups of one kind: how many, the first, the last, the last good one before, and the edits in between.

import { format, to } from './address.js';
import { data, fill, h } from './dom.js';
import { selected } from './list.js';
import { Loader } from './loading.js';
import { count, minute, number, t, unread } from './words.js';

const TOKENS = 25_000;
/** How many groups are shown at first, and after a click. */
const [FEW, MANY] = [5, 100];

export class Failures {
  #shown = null;
  #limit = FEW;

  /** `often`: at once; n8n's API has to be asked for each failure, so that someone should want it. */
  constructor({ often }) {
    this.isWanted = often;
    this.body = h('div', {});
    this.element = h('section', { class: 'card pad failures', 'aria-labelledby': 'failures' },
      h('h2', { id: 'failures' }, t('failures')),
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

  update(state) {
    this.state = state;
    const { status, ...filters } = selected(state);
    const failed = !status || status === 'error';
    this.element.hidden = !failed;
    const wanted = JSON.stringify([filters, this.#limit]);
    if (!failed || wanted === this.#shown) return;
    if (!this.isWanted) {
      fill(this.body, h('p', {}, h('button', { type: 'button', class: 'button', onclick: () => this.#want() }, t('groupFailures'))));
      return;
    }
    this.#shown = wanted;
    this.loader.load('group_failures', { ...filters, limit: this.#limit, maxTokens: TOKENS }, (answer) => this.#show(answer, filters));
  }

  #want() {
    this.isWanted = true;
    this.update(this.state);
  }

  #show({ groups, moreGroups = 0, failures, canceled = 0, tooLarge = 0, notRead, notExamined }, { startedAfter, startedBefore }) {
    const until = startedBefore ? t('daysBefore', { n: 7, at: minute(startedBefore) }) : t('lastDays', { n: 7 });
    const range = startedAfter ? null : until;
    return [
      h('p', { class: 'fine' }, [
        failures || unread(notRead) ? count('failuresIn', failures) : t('noFailures'),
        unread(notRead),
        range,
        canceled > 0 && count('canceledToo', canceled),
        tooLarge > 0 && count('missed.tooLarge', tooLarge),
        notExamined && t('notExamined', { before: minute(notExamined.before) }),
      ].filter(Boolean).join(' · ')),
      groups.length > 0 && h('ol', { class: 'groups' }, groups.map((group) => groupView(group))),
      moreGroups > 0 && this.#limit === FEW && h('p', {},
        h('button', { type: 'button', class: 'button', onclick: () => this.#all() }, count('moreGroups', moreGroups))),
      moreGroups > 0 && this.#limit === MANY && h('p', { class: 'fine' }, `+${number(moreGroups)}`),
    ].filter(Boolean);
  }

  #all() {
    this.#limit = MANY;
    this.update(this.state);
  }
}

function groupView({
  workflowId,
  workflow,
  node,
  error,
  message,
  description,
  variants = 1,
  count: times,
  first,
  last,
  goodBefore,
  edited,
  goodAfter,
}) {
  const execution = (word, { id, at }) => h('span', {}, `${t(word)} `, h('a', { href: format({ id }) }, `#${id}`), at && ` ${minute(at)}`);
  const compare = goodBefore && h('a', { href: format({ id: first.id, view: 'compare', with: goodBefore.id }) },
    edited ? t('editedBetween') : t('whatDiffered'));
  return h('li', {},
    h('strong', { class: 'times number' }, `${number(times)} ×`),
    h('div', {},
      h('p', { class: 'what' },
        h('a', { href: format({ id: last.id }) }, node ? data(node, 60) : h('bdi', {}, `#${last.id}`)), ': ', data(message, 300), ' ',
        h('span', { class: 'fine' }, [error && data(error, 80), variants > 1 && ` · ${count('variants', variants)}`])),
      description && h('p', { class: 'fine' }, data(description, 300)),
      h('p', { class: 'fine when' },
        h('a', { ...to({ workflow: workflowId }), title: t('onlyThis') }, data(workflow ?? workflowId, 60)),
        times > 1 && execution('first', first), execution('last', last),
        goodBefore ? execution('goodBefore', goodBefore) : h('span', {}, t('noGoodBefore')),
        compare && (edited ? h('strong', {}, compare) : compare),
        goodAfter !== undefined && h('span', { class: goodAfter ? null : 'bad' }, goodAfter ? count('goodSince', goodAfter) : t('noGoodSince')))));
}
