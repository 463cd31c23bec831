// Runs of AI agents as conversations: what was asked, what the model answered, which tools it called and what they returned, as it
// happened. n8n stores each call as a run of the sub-node, which names the run that made it.

import { place, to } from './address.js';
import { call } from './api.js';
import { data, fill, h, nothing, remarks, shown } from './dom.js';
import { json } from './json.js';
import { count, duration, instant, number, t } from './words.js';

const TEXT = 4_000;
/** How many parts of a template are matched in a message. */
const EXPRESSIONS = 8;

/** Whether there is a conversation to show. */
export function talks({ nodes, graph }) {
  const ran = new Set(nodes.map(({ nodeName }) => nodeName));
  return graph.connections.some(([from, , to, , type]) => type !== 'main' && ran.has(from) && ran.has(to));
}

export class Talk {
  #controller = new AbortController();
  /** What has been read: by node and run, what stands for it. */
  #turns = new Map();
  #told = {};

  constructor({ id, start, graph }) {
    this.id = id;
    this.start = start;
    const links = graph.connections.filter(([, , , , type]) => type !== 'main');
    this.kinds = new Map(links.map(([from, , , , type]) => [from, type]));
    this.names = [...new Set(links.flatMap(([from, , to]) => [from, to]))];
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
    this.#read(null);
  }

  async #read(after) {
    this.element.setAttribute('aria-busy', 'true');
    fill(this.foot, h('p', { class: 'fine' }, t('reading')));
    const button = (word, next) => h('button', { type: 'button', onclick: () => this.#read(next) }, word);
    try {
      const asked = { id: this.id, nodes: JSON.stringify(this.names), ...(after ? { after } : {}) };
      const answer = await call('view_talk', asked, { signal: this.#controller.signal });
      Object.assign(this.#told, answer.told);
      this.isWhole = !answer.after;
      for (const turn of answer.turns) this.#add(turn);
      if (this.isWhole) this.#sumUp();
      fill(this.foot,
        this.#turns.size ? remarks(answer) : nothing(answer, t('nothingRan')),
        answer.after && button(count('moreTurns', answer.more), answer.after));
    } catch (error) {
      if (error.name === 'AbortError') return;
      fill(this.foot, h('div', { class: 'notice failed', role: 'alert' }, h('p', {}, shown(error.message)), button(t('tryAgain'), after)));
    }
    this.element.removeAttribute('aria-busy');
  }

  /** Writes again what only the whole conversation tells: the sums are those of all calls, and no caller is still to be read. */
  #sumUp() {
    for (const turn of this.#turns.values()) if (turn.usage.length > 1 || !turn.isRead) this.#write(turn);
  }

  #write(turn) {
    const told = this.#told[turn.node] ?? {};
    fill(turn.where, ...where(turn, this.start));
    fill(turn.body, turn.isRead ? said({ ...turn, told }, this.isWhole) : this.isWhole && h('p', { class: 'fine' }, t('noRunStored')));
  }

  /** Puts a turn inside the one that called it. */
  #add(read) {
    const turn = Object.assign(this.#turnOf(read.node, read.run), read, { isRead: true });
    const caller = read.caller && this.#turnOf(...read.caller);
    if (caller) this.#goesInto(caller, turn);
    this.#write(turn);
    if (caller) this.#write(caller);
  }

  /**
   * The turn of a run. As n8n stores it, an agent that is continued after each call of a tool (from version 3 on) began when it was
   * continued last, and so after what it called: until it has been read, only its name is known.
   */
  #turnOf(node, run) {
    const key = JSON.stringify([node, run]);
    const known = this.#turns.get(key);
    if (known) return known;
    const kind = this.kinds.get(node) ?? 'agent';
    const parts = { where: h('div', { class: 'where' }), body: h('div', { class: 'said' }), inside: h('ol', { class: 'talk', hidden: true }) };
    const element = h('li', { class: `turn ${kind.replace(/^ai_/, '')}` }, parts.where, parts.body, parts.inside);
    const turn = { node, run, kind, element, ...parts, usage: [] };
    this.#turns.set(key, turn);
    this.list.append(element);
    return turn;
  }

  #goesInto(caller, turn) {
    caller.inside.hidden = false;
    caller.inside.append(turn.element);
    caller.firstCall = Math.min(caller.firstCall ?? Infinity, turn.firstCall ?? Infinity, turn.start);
    const usage = usageOf(turn.output);
    if (usage) caller.usage.push(usage);
    // The first call of its model knows what an agent was really asked.
    if (turn.kind === 'ai_languageModel') caller.messages ??= textOf(turn.input?.messages ?? turn.input) ?? '';
  }
}

/** Which run it is, and when: from its first call on, if n8n has stored a later start. */
function where({ node, run, kind, isRead, start, ms, firstCall = Infinity }, from) {
  const name = data(node, 80);
  const began = Math.min(start, firstCall);
  return [h('span', { class: 'kind' }, kindWord(kind)), ' ', isRead ? h('a', { ...to(place(node, { run })) }, name) : name,
    isRead && h('span', { class: 'fine number' }, ` ${t('startsAt', { at: instant(began - from, 1) })} · ${duration(start + ms - began)}`)];
}

function kindWord(kind) {
  const known = ['agent', 'ai_languageModel', 'ai_tool', 'ai_memory'];
  return t(`talk.${known.includes(kind) ? kind : 'other'}`);
}

/** What a turn says; `isWhole`: no part of the conversation is left to be read. */
function said({ node, run, kind, messages, told, input, output, items, continues, error, usage }, isWhole) {
  const failed = error !== undefined && h('p', { class: 'bad' }, data(error || t('error'), TEXT));
  if (kind === 'ai_languageModel') return [...model(input, output, continues), failed];
  const first = items > 1 && h('p', { class: 'fine number' },
    h('a', { ...to(place(node, { run })) }, t('firstOfItems', { n: number(items) })));
  if (kind !== 'agent') return [part(t('calledWith'), only('query', input)), part(t('returned'), only('response', output)), first, failed];
  const prompt = told.text === undefined ? part(t('prompt'), lastMessage('Human', messages)) : template(t('prompt'),
    told.text,
    'Human',
    messages);
  const all = usage.length > 1 && h('p', { class: 'fine number' }, t(isWhole ? 'allTokens' : 'shownTokens', { tokens: tokens(usage) }));
  return [
    template(t('instructions'), told.system, 'System', messages), prompt, part(t('answer'), only('output', output)), first, all, failed,
  ];
}

/** The value of the only member of an object, if it has this name; else the object. */
function only(name, value) {
  const names = Object.keys(value ?? {});
  return names.length === 1 && names[0] === name ? value[name] : value;
}

/** A call of a model: its messages since the call before, the answer, and the tokens that n8n counted. */
function model(asked, answered, continues) {
  const generation = answered?.response?.generations?.[0]?.[0];
  // What OpenAI's and Anthropic's models say; others say nothing of it.
  const { finish_reason: finish, stop_reason: stop } = generation?.generationInfo ?? {};
  const wordless = ['tool_calls', 'tool_use'].includes(finish ?? stop) ? t('asksForTool') : t('noText');
  const usage = usageOf(answered);
  return [
    part(continues ? t('newMessages') : t('prompt'), textOf(asked?.messages ?? asked)),
    generation && !generation.text ? h('p', { class: 'fine' }, wordless) : part(t('answer'), generation?.text ?? answered),
    usage && h('p', { class: 'fine number' }, tokens([usage])),
  ];
}

/** The tokens of a call of a model, as n8n counted or estimated them. */
function usageOf(answered) {
  const { tokenUsage, tokenUsageEstimate } = answered ?? {};
  return tokenUsage ?? (tokenUsageEstimate && { ...tokenUsageEstimate, isEstimate: true });
}

function tokens(usage) {
  const sum = (member) => number(usage.reduce((total, one) => total + (one[member] ?? 0), 0));
  const words = t('tokens', { of: sum('promptTokens'), made: sum('completionTokens') });
  return usage.some(({ isEstimate }) => isEstimate) ? `${words} ${t('estimated')}` : words;
}

function textOf(messages) {
  return Array.isArray(messages) ? messages.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n') : messages;
}

/** A parameter of an agent: with its expressions as they were resolved, if the messages of its model have them; else as a template. */
function template(name, value, role, messages) {
  if (typeof value !== 'string' || !value.startsWith('=')) return part(name, value);
  const known = typeof messages === 'string' ? resolved(value.slice(1), role, messages) : null;
  return part(known ? name : `${name} ${t('asTemplate')}`, known || value.slice(1));
}

/** What stands in the last message of this role, if it is the template with something in place of each expression. */
function resolved(text, role, messages) {
  const escaped = (literal) => literal.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const literals = text.split(/\{\{[\s\S]*?\}\}/).map(escaped);
  return literals.length > EXPRESSIONS ? null : lastMessage(role, messages, `\\s*${literals.join('[\\s\\S]*?')}\\s*`);
}

/** The last message of a role that matches a pattern: n8n writes each message after the role of its author. */
function lastMessage(role, messages, pattern = '[\\s\\S]*?') {
  if (typeof messages !== 'string') return null;
  const message = new RegExp(`(?:^|\\n)${role}: (${pattern})(?=\\n(?:System|Human|AI|Tool): |$)`, 'g');
  return [...messages.matchAll(message)].at(-1)?.[1].trim() ?? null;
}

function part(name, value) {
  if (value === undefined || value === null || value === '') return null;
  const text = typeof value === 'string';
  return h('div', { class: 'part' },
    h('span', { class: 'fine' }, name),
    text ? h('p', { class: 'speech' }, data(value, TEXT)) : json(value));
}
