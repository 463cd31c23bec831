// The parameters of a node as they ran, and the findings of a check of its expressions and connections.

import { copyButton } from './copy.js';
import { data, h, shown } from './dom.js';
import { jsonWithTools } from './json.js';
import { kinds } from './fields.js';
import { Loader } from './loading.js';
import { count, number, t } from './words.js';

export class Parameters {
  /** From the answer about a node. */
  constructor(id, answer) {
    const { nodeName, parameters, curl } = answer;
    this.place = { executionId: id, nodeName };
    this.found = h('div', {});
    this.loader = new Loader(this.found);
    this.element = h('div', { class: 'pad' }, this.found,
      curl && h('p', { class: 'look' }, copyButton(t('copyCurl'), () => curl)),
      jsonWithTools(parameters ?? {}));
  }

  leave() {
    this.loader.cancel();
  }

  update() {
    if (this.asked) return;
    this.asked = true;
    this.loader.load('check_workflow', this.place, ({ problems = [], more = 0 }) => problems.length > 0 && [
      h('h3', {}, t('problems')),
      h('ul', { class: 'problems' }, problems.map((problem) => problemView(problem))),
      more > 0 && h('p', { class: 'fine' }, count('moreProblems', more)),
    ]);
  }
}

function problemView({ rule, severity, parameter, reference, items, have, types, near, detail, times = 1 }) {
  const facts = [
    items !== undefined && have !== undefined && t('inItems', { have: number(have), items: number(items) }),
    types && kinds(types),
    near && t('meant', { near }),
    times > 1 && `×${number(times)}`,
  ].filter(Boolean);
  return h('li', { class: severity },
    h('strong', {}, t(`rule.${rule}`)), reference && [' ', h('code', {}, data(reference, 120))],
    facts.length > 0 && ` ${facts.join(' · ')}`,
    parameter && h('span', { class: 'fine' }, ' · ', shown(parameter.replace(/^\//, ''))),
    detail && h('p', { class: 'fine' }, shown(detail)));
}
