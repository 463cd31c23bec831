// The page inside an MCP client (MCP Apps, 2026-01-26). The client stands between the page and everything else: it calls the tools,
// opens links, reports which execution to show, in which language and theme, and passes questions on to its agent. All of it is
// JSON-RPC over `postMessage`.

import { current, format, keepAddress, visit } from './address.js';
import { Failure, reach, written } from './api.js';
import { fill, h } from './dom.js';
import { chooseLanguage, t } from './words.js';

const PROTOCOL = '2026-01-26';
/** The height that the page requests inside a conversation, pixels: its parts scroll. */
const HEIGHT = 720;
/** How long a button shows the outcome of a question, milliseconds. */
const SAID = 2500;
/** Characters of a node's name in a question. */
const NAME = 120;
/** The views that show the tools' results. */
const VIEWS = { describe_execution: 'ran', compare_executions: 'compare' };

/** When the rules for a dark system apply. */
const DARK = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules])
  .filter(({ media }) => media?.mediaText === '(prefers-color-scheme: dark)').map(({ media }) => media);

/** The requests that wait for an answer, by id. */
const waiting = new Map();
let lastId = 0;
/** What the client said about itself, with later changes merged in. */
let context = {};
/** The height that was requested last, pixels; null where the client decides. */
let height = null;
/** The addresses before the current one. */
const past = [];
let address = '#/';

const asked = later();
const answered = later();

addEventListener('message', ({ source, data }) => {
  if (source === parent && data?.jsonrpc === '2.0') receive(data);
});
keepAddress({
  get: () => address,
  set(next, replace) {
    if (!replace) past.push(address);
    address = next;
  },
});
reach({ about, call });
addEventListener('click', follow);
const connected = connect();

async function connect() {
  const hello = {
    protocolVersion: PROTOCOL,
    appInfo: { name: 'n8n-lens', version: written().version },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  };
  const { hostContext } = await request('ui/initialize', hello);
  adopt(hostContext ?? {});
  notify('ui/notifications/initialized', {});
}

/** What the page knows about its server, once the client has said which execution to show. */
async function about() {
  await connected;
  const known = written();
  // The client's language takes precedence over the server's, which was chosen at setup.
  const locale = reader() ? null : known.locale;
  chooseLanguage(locale, reader());
  const notice = h('p', { class: 'pad', role: 'status' }, t('reading'));
  document.body.append(notice);
  // The page must not request an execution that n8n is still sending to the tool.
  const [given, result] = await Promise.all([asked.promise, answered.promise]);
  notice.remove();
  open(given, result);
  return { ...known, locale, reader: reader(), controls };
}

/** Shows the result that a tool was called for; fails as the call did if it named no execution. */
function open({ id, with: other, ignoreDataSizeLimit }, result) {
  const known = /^\d+$/.test(id);
  if (result.isError && !known) throw new Failure(textOf(result));
  const view = VIEWS[context.toolInfo?.tool?.name] ?? viewOf(result);
  const state = {
    id: known ? String(id) : null,
    view,
    with: other === undefined ? null : String(other),
    large: ignoreDataSizeLimit ? '1' : null,
  };
  visit(format(state), { replace: true });
}

/** The view for an answer, for a client that does not say which tool was called. */
function viewOf(result) {
  try {
    const { data } = JSON.parse(textOf(result));
    return 'with' in data ? VIEWS.compare_executions : data.nodes ? VIEWS.describe_execution : null;
  } catch {
    return null;
  }
}

/** Calls a tool. The client does not report a call's progress. */
async function call(name, given, { signal }) {
  const result = await request('tools/call', { name, arguments: given, _meta: { 'n8n-lens/reader': 'page' } }, signal);
  const text = textOf(result);
  if (result.isError) throw new Failure(text);
  const answer = JSON.parse(text);
  return 'success' in answer && answer.data ? answer.data : answer;
}

function textOf({ content = [] }) {
  return content.find(({ type }) => type === 'text')?.text ?? '';
}

/** The buttons in the bar: back, the whole window, and the question. */
function controls() {
  const said = h('span', { 'aria-live': 'polite' });
  const back = button('←', 'back', () => {
    address = past.pop() ?? address;
    dispatchEvent(new Event('hashchange'));
  });
  const whole = button('⤢', 'wholeWindow', resize);
  const ask = h('button', { type: 'button', class: 'button primary ask', onclick: () => askAgent(said) }, t('ask'));
  const update = () => {
    back.disabled = past.length === 0;
    whole.hidden = !modes().includes('fullscreen');
    ask.disabled = !current().id;
  };
  for (const name of ['hashchange', 'contextchange']) addEventListener(name, update);
  update();
  return [said, ask, back, whole];
}

function button(sign, word, onclick) {
  return h('button', { type: 'button', class: 'quiet', onclick, 'aria-label': t(word), title: t(word) }, sign);
}

function modes() {
  return context.availableDisplayModes ?? [];
}

/** Expands to the whole window, or returns to the conversation. */
async function resize() {
  const mode = context.displayMode === 'fullscreen' ? 'inline' : 'fullscreen';
  if (modes().includes(mode)) adopt({ displayMode: (await request('ui/request-display-mode', { mode })).mode });
}

async function askAgent(said) {
  const content = [{ type: 'text', text: question(current()) }];
  const sent = await request('ui/message', { role: 'user', content }).then(({ isError }) => !isError, () => false);
  fill(said, t(sent ? 'wasAsked' : 'notAsked'));
  setTimeout(() => fill(said), SAID);
}

/** The question in the reader's own words: where they are, and nothing from the execution except the name of the node. */
function question({ id, node, run, side, out, item }) {
  const place = [
    t('askExecution', { id }),
    node && t('askNode', { name: JSON.stringify(node.slice(0, NAME)) }),
    node && run !== null && `${t('run')} ${run}`,
    node && side !== 'input' && out !== null && `${t('output')} ${out}`,
    node && item !== null && `${t(side === 'input' ? 'askInputItem' : 'askItem')} ${item}`,
  ];
  return t('askText', { place: place.filter(Boolean).join(', ') });
}

/** Links: the page's own change the address that is kept here, links to n8n are opened by the client. */
function follow(event) {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented) return;
  const href = link.getAttribute('href');
  if (!href.startsWith('#/') && !/^https?:/.test(href)) return;
  event.preventDefault();
  if (href.startsWith('#/')) visit(href);
  else request('ui/open-link', { url: href }).catch(() => {});
}

/** Takes over what the client says about itself, or which part of it has changed. */
function adopt(changes) {
  const before = context;
  context = { ...before, ...changes };
  if (context.theme && context.theme !== before.theme) recolour(context.theme);
  const { top = 0, right = 0, bottom = 0, left = 0 } = context.safeAreaInsets ?? {};
  document.body.style.padding = [top, right, bottom, left].map((pixels) => `${pixels}px`).join(' ');
  requestHeight();
  dispatchEvent(new Event('contextchange'));
}

/** Requests a height, but not the same one again: a client that is resizing its frame reports each step, and would begin anew. */
function requestHeight() {
  const { height: fixed, maxHeight = HEIGHT } = context.containerDimensions ?? {};
  const wanted = context.displayMode === 'fullscreen' || fixed !== undefined ? null : Math.min(HEIGHT, maxHeight);
  if (wanted !== null && wanted !== height) notify('ui/notifications/size-changed', { height: wanted });
  height = wanted;
}

/** The client's theme instead of the system's. */
function recolour(theme) {
  document.documentElement.style.colorScheme = theme;
  for (const media of DARK) media.mediaText = theme === 'dark' ? 'all' : 'not all';
  dispatchEvent(new Event('themechange'));
}

/** The reader's locale, if the client names one that exists. */
function reader() {
  try {
    return Intl.getCanonicalLocales(context.locale ?? [])[0];
  } catch {
    return undefined;
  }
}

function receive({ id, method, params = {}, result, error }) {
  if (method === undefined) return settle(id, result, error);
  if (id !== undefined) return answer(id, method);
  switch (method) {
    case 'ui/notifications/tool-input': return asked.resolve(params.arguments ?? {});
    case 'ui/notifications/tool-result': return answered.resolve(params);
    case 'ui/notifications/tool-cancelled': return answered.resolve({});
    case 'ui/notifications/host-context-changed': return adopt(params);
    default: return undefined;
  }
}

function settle(id, result, error) {
  const { resolve, reject } = waiting.get(id) ?? {};
  waiting.delete(id);
  if (error) reject?.(new Failure(error.message ?? ''));
  else resolve?.(result ?? {});
}

/** Answers a request of the client: it may ask whether the page is alive, and announces its removal. */
function answer(id, method) {
  const known = ['ping', 'ui/resource-teardown'].includes(method);
  post({ id, ...(known ? { result: {} } : { error: { code: -32601, message: `${method} is not supported.` } }) });
}

/** Sends a request; after `signal` it is cancelled, and fails with an `AbortError`. */
function request(method, params, signal) {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    const cancel = () => {
      if (waiting.delete(id)) notify('notifications/cancelled', { requestId: id });
      reject(new DOMException('Cancelled.', 'AbortError'));
    };
    if (signal?.aborted) return cancel();
    waiting.set(id, { resolve, reject });
    signal?.addEventListener('abort', cancel, { once: true });
    return post({ id, method, params });
  });
}

function notify(method, params) {
  post({ method, params });
}

function post(message) {
  parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
}

/** A promise, and its resolve function. */
function later() {
  let resolve;
  const promise = new Promise((fulfil) => { resolve = fulfil; });
  return { promise, resolve };
}
