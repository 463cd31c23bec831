// Buttons that copy a text, the items of a node as files, and the request of an HTTP Request node as a command.

import { hasFiles, itemsFile } from './api.js';
import { fill, h } from './dom.js';
import { t } from './words.js';

/** How long a button confirms that it copied, milliseconds. */
const SAID = 1500;
/** Names whose values are never copied. */
const SECRET = /auth|cookie|token|secret|passw|credential|signature|session|api-?key|[-_]key$|^key$|^sig$/i;
const PLACEHOLDER = '***';

/** A button that copies what `text` returns. */
export function copyButton(word, text, kind = 'button') {
  const said = h('span', { 'aria-live': 'polite' }, word);
  return h('button', { type: 'button', class: kind, onclick: async () => {
    fill(said, t(await copy(text()) ? 'copied' : 'notCopied'));
    setTimeout(() => fill(said, word), SAID);
  } }, said);
}

/** Links to all items of an output as files: of this run, and of all `runs` if there are several. Empty where files are not available. */
export function downloads(id, { nodeName, runIndex = 0, outputIndex = 0 }, runs) {
  if (!hasFiles()) return null;
  const links = (word, place) => h('li', {}, word && h('span', { class: 'fine' }, word, ' '), [['csv', 'CSV'], ['jsonl', t('jsonLines')]].map(([format, name]) =>
    [' ', h('a', { href: itemsFile(id, place, format) }, name)]));
  const all = { nodeName, outputIndex };
  return h('details', { class: 'menu' }, h('summary', { class: 'button quiet' }, '⤓ ', t('download')),
    h('ul', {}, links(runs > 1 && t('thisRun'), { ...all, runIndex }), runs > 1 && links(t('allRuns'), all)));
}

/** Puts a text on the clipboard; returns whether that worked. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOld(text);
  }
}

/** The only clipboard in browsers for a page that was loaded without TLS from another machine. */
function copyOld(text) {
  const area = h('textarea', { class: 'unseen', value: text, 'aria-hidden': 'true' });
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  focused?.focus();
  return copied;
}

/** The request of an HTTP Request node as a `curl` command: as sent, if its error has it, or else from its parameters. No secrets. */
export function curl({ parameters = {}, error }) {
  const sent = error?.context?.request;
  const { method, url, body, headers } = sent?.uri || sent?.url ? fromSent(sent) : fromParameters(parameters);
  if (typeof url !== 'string') return null;
  return ['curl', ...(method === 'GET' ? [] : ['-X', quoted(method)]), quoted(address(url)),
    ...headers.flatMap(([name, value]) => ['-H', quoted(`${name}: ${SECRET.test(name) ? PLACEHOLDER : value}`)]),
    ...(body === undefined ? [] : ['--data-raw', quoted(typeof body === 'string' ? withoutSecrets(body) : JSON.stringify(body, masked))])].join(' ');
}

function fromSent({ method = 'GET', uri, url, headers = {}, body }) {
  return { method, url: uri ?? url, headers: Object.entries(headers), body };
}

function fromParameters({ method = 'GET', url, sendQuery, queryParameters, sendHeaders, headerParameters, sendBody, jsonBody, bodyParameters }) {
  const pairs = (list) => (list?.parameters ?? []).filter(({ name }) => name).map(({ name, value }) => [plain(name), plain(value ?? '')]);
  const query = sendQuery ? pairs(queryParameters).map(([name, value]) => `${encodeURIComponent(name)}=${SECRET.test(name) ? PLACEHOLDER : encodeURIComponent(value)}`).join('&') : '';
  const fields = pairs(bodyParameters);
  const body = jsonBody !== undefined ? plain(jsonBody) : sendBody && fields.length ? Object.fromEntries(fields) : undefined;
  const address = plain(url);
  return { method, url: query ? `${address}${String(address).includes('?') ? '&' : '?'}${query}` : address, headers: sendHeaders ? pairs(headerParameters) : [], body };
}

/** An expression without the sign that n8n puts in front of it. */
function plain(value) {
  return typeof value === 'string' ? value.replace(/^=/, '') : value;
}

/** An address without a password, and without the values of parameters whose names suggest secrets. */
function address(url) {
  return url.replace(/^(\w+:\/\/)[^/@\s]*@/, '$1').replace(/([?&])([^=&#]+)=([^&#]*)/g, (all, sign, name) => (SECRET.test(name) ? `${sign}${name}=${PLACEHOLDER}` : all));
}

/** The text of a body, which may be JSON that contains expressions, or a form. */
function withoutSecrets(body) {
  return body.replace(/(["'])([^"'\n]{1,80})\1(\s*:\s*)(["'])(?:(?!\4)[^\\]|\\.)*\4/g, (all, quote, name, colon, other) => (SECRET.test(name) ? `${quote}${name}${quote}${colon}${other}${PLACEHOLDER}${other}` : all))
    .replace(/(^|&)([^=&\s]{1,80})=[^&\s]*/g, (all, sign, name) => (SECRET.test(name) ? `${sign}${name}=${PLACEHOLDER}` : all));
}

function masked(name, value) {
  return SECRET.test(name) && value !== null && typeof value !== 'object' ? PLACEHOLDER : value;
}

/** Quoted for a shell. */
function quoted(text) {
  return `'${String(text).replaceAll("'", "'\\''")}'`;
}
