// Runs of AI agents as conversations: what was asked, what the model answered, which tools it called and what they returned, in
// order. n8n stores each call as a run of the sub-node; calls within a run of an agent are nested in it.

import { to } from './address.js';
import { call } from './api.js';
import { data, fill, h, shown } from './dom.js';
import { json } from './json.js';
import { count, duration, instant, number, t } from './words.js';

const TOKENS = 8_000;
/** How many calls are read at once; a button reads more. */
const PAGE = 30;
const TEXT = 4_000;
/** How many parts of a template are matched in a message. */
const EXPRESSIONS = 8;
// Indexes into a bar of `view_overview`.
const [FROM, TO, RUN, RUNS] = [0, 1, 2, 3];

/** Whether there is a conversation to show. */
export function talks({ nodes, graph }) {
  const ran = new Set(nodes.map(({ nodeName }) => nodeName));
  return graph.connections.some(([from, , to, , type]) => type !== 'main' && ran.has(from) && ran.has(to));
}

export class Talk {
  #controller = new AbortController();

  constructor({ id, start, nodes, graph }) {
    this.id = id;
    this.start = start;
    this.turns = turnsOf(nodes, graph.connections);
    this.list = h('ol', { class: 'talk' });
    this.foot = h('div', { role: 'status' });
    this.element = h('div', { class: 'pad' }, this.list, this.foot);
  }

  leave() {
    this.#controller.abort();
  }

  update() {
    if (this.asked) return;
    this.asked = true;
    const flat = (turns) => turns.flatMap((turn) => [turn, ...flat(turn.inside)]);
    fill(this.list, this.turns.map((turn) => place(turn)));
    this.left = flat(this.turns);
    for (const turn of this.left.slice(PAGE)) turn.element.hidden = true;
    this.#read();
  }

  async #read() {
    this.element.setAttribute('aria-busy', 'true');
    const page = this.left.splice(0, PAGE);
    for (const turn of page) turn.element.hidden = false;
    fill(this.foot, h('p', { class: 'fine' }, t('reading')));
    for (const turn of page) {
      try {
        const answer = await call('get_execution_by_node', { id: this.id, nodeName: turn.node, runIndex: turn.run, limit: 1, maxTokens: TOKENS }, { signal: this.#controller.signal });
        turn.answer = answer;
        fill(turn.body, said(turn, answer));
        // The first call of its model shows what an agent was really asked.
        const { agent } = turn;
        if (turn.kind === 'ai_languageModel' && agent?.answer && !agent.asked) {
          agent.asked = messagesOf(answer);
          fill(agent.body, said(agent, agent.answer));
        }
      } catch (error) {
        if (error.name === 'AbortError') return;
        fill(turn.body, h('p', { class: 'bad' }, shown(error.message)));
      }
    }
    this.element.removeAttribute('aria-busy');
    fill(this.foot, this.left.length > 0 && h('button', { type: 'button', onclick: () => this.#read() }, count('moreTurns', this.left.length)));
  }
}

/** The runs of agents, each with the calls that began within it: `{node, run, from, to, kind, inside}`. */
function turnsOf(nodes, connections) {
  const links = connections.filter(([, , , , type]) => type !== 'main');
  const kinds = new Map(links.map(([from, , , , type]) => [from, type]));
  const involved = new Set(links.flatMap(([from, , to]) => [from, to]));
  const runs = new Map(nodes.filter(({ nodeName }) => involved.has(nodeName)).map(({ nodeName, bars }) => [nodeName, bars.flatMap((bar) => Array.from({ length: bar[RUNS] }, (_, i) => ({
    node: nodeName, run: bar[RUN] + i, from: bar[FROM], to: bar[TO], kind: kinds.get(nodeName) ?? 'agent',
  })))]));
  // A node that uses itself, through others, ends here.
  const within = (parent, seen) => {
    const users = links.filter(([from, , to]) => to === parent.node && !seen.has(from)).map(([from]) => from);
    return [...new Set(users)].flatMap((name) => runs.get(name) ?? []).filter(({ from }) => from >= parent.from && from <= parent.to)
      .sort((one, other) => one.from - other.from || one.run - other.run).map((turn) => ({ ...turn, inside: within(turn, new Set([...seen, turn.node])) }));
  };
  const agents = [...new Set(links.map(([, , to]) => to))].filter((name) => !kinds.has(name));
  return agents.flatMap((name) => runs.get(name) ?? []).sort((one, other) => one.from - other.from).map((turn) => ({ ...turn, inside: within(turn, new Set([turn.node])) }));
}

/** The place of a turn; its text arrives later. */
function place(turn) {
  turn.body = h('div', { class: 'said' });
  for (const inner of turn.inside) inner.agent = turn;
  turn.element = h('li', { class: `turn ${turn.kind.replace(/^ai_/, '')}` },
    h('div', { class: 'where' }, h('span', { class: 'kind' }, kindWord(turn.kind)), ' ',
      h('a', { ...to({ node: turn.node, run: turn.run, tab: null, out: null, item: null, side: null, input: null }) }, data(turn.node, 80)),
      h('span', { class: 'fine number' }, ` ${t('startsAt', { at: instant(turn.from, 1) })} · ${duration(turn.to - turn.from)}`)),
    turn.body, turn.inside.length > 0 && h('ol', { class: 'talk' }, turn.inside.map((inner) => place(inner))));
  return turn.element;
}

function kindWord(kind) {
  const known = ['agent', 'ai_languageModel', 'ai_tool', 'ai_memory'];
  return t(`talk.${known.includes(kind) ? kind : 'other'}`);
}

function said({ kind, asked: messages }, { input, output, error, parameters = {} }) {
  const [asked, answered] = [input, output].map((side) => side?.items?.[0]?.json);
  const failed = error && h('p', { class: 'bad' }, data(error.message ?? t('error'), TEXT));
  if (kind === 'ai_languageModel') return [...model(asked, answered), failed];
  if (kind === 'agent') {
    const { options, text } = parameters;
    return [template(t('instructions'), options?.systemMessage, 'System', messages), template(t('prompt'), text ?? asked?.chatInput, 'Human', messages), part(t('answer'), answered?.output ?? answered), failed];
  }
  return [part(t('calledWith'), asked?.query ?? asked), part(t('returned'), answered?.response ?? answered), failed];
}

/** A call of a model: its messages, the answer, and the tokens that n8n counted. */
function model(asked, answered) {
  const text = textOf(asked?.messages ?? asked);
  const generation = answered?.response?.generations?.[0]?.[0];
  const wants = generation?.generationInfo?.finish_reason === 'tool_calls';
  const usage = answered?.tokenUsage ?? answered?.tokenUsageEstimate;
  return [
    part(t('prompt'), text),
    generation && wants && !generation.text ? h('p', { class: 'fine' }, t('asksForTool')) : part(t('answer'), generation?.text ?? answered),
    usage && h('p', { class: 'fine number' }, t('tokens', { of: number(usage.promptTokens ?? 0), made: number(usage.completionTokens ?? 0) }), answered?.tokenUsage ? '' : ` ${t('estimated')}`),
  ];
}

function textOf(messages) {
  return Array.isArray(messages) ? messages.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n') : messages;
}

/** The text that a model received: n8n writes each message after the role of its author. */
function messagesOf({ input }) {
  const asked = input?.items?.[0]?.json;
  const text = textOf(asked?.messages ?? asked);
  return typeof text === 'string' ? text : '';
}

/** A parameter of an agent: with resolved expressions, if the messages of its model have them; otherwise as a template. */
function template(name, value, role, messages) {
  if (typeof value !== 'string' || !value.startsWith('=')) return part(name, value);
  const known = messages && resolved(value.slice(1), role, messages);
  return part(known ? name : `${name} ${t('asTemplate')}`, known || value.slice(1));
}

/** The last message of this role, if it is the template with something in place of each expression. */
function resolved(template, role, messages) {
  const literals = template.split(/\{\{[\s\S]*?\}\}/).map((text) => text.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (literals.length > EXPRESSIONS) return null;
  const message = new RegExp(`(?:^|\\n)${role}: (\\s*${literals.join('[\\s\\S]*?')}\\s*)(?=\\n(?:System|Human|AI|Tool): |$)`, 'g');
  return [...messages.matchAll(message)].at(-1)?.[1].trim() ?? null;
}

function part(name, value) {
  if (value === undefined || value === null || value === '') return null;
  const text = typeof value === 'string';
  return h('div', { class: 'part' }, h('span', { class: 'fine' }, name), text ? h('p', { class: 'speech' }, data(value, TEXT)) : json(value));
}
