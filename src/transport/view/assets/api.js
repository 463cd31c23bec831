// The tools, which are the only source of the page: calls with progress that can be cancelled.

import { language, t } from './words.js';

/** What the server said about a call that has no answer. */
export class Failure extends Error {}

const ANSWERS = 80;
const answers = new Map();

let always = {};

/** How the server is reached: over HTTP, unless the page is shown inside a client, which has no address for files. */
let server = { about: written, call: callOverHttp, hasFiles: true };

/** Reaches the server in another way: `about` and `call` as below, without the cache here. */
export function reach(other) {
  server = other;
}

/** Clears the cached answers; `parameters` are part of every call about an execution from now on. */
export function restart(parameters = {}) {
  answers.clear();
  always = parameters;
}

/**
 * Calls a tool. `progress` receives `{bytes, total}`, both in bytes, `total` null if unknown, or `{waiting: true}`.
 * Throws a `Failure` with the tool's message, or an `AbortError` after `signal`. `fresh`: bypass the cached answers.
 */
export async function call(tool, parameters, { signal, progress, fresh = false } = {}) {
  const given = parameters.id ? { ...parameters, ...always } : parameters;
  const key = JSON.stringify({ tool, arguments: given });
  const kept = fresh ? null : answers.get(key);
  if (kept) {
    answers.delete(key);
    answers.set(key, kept);
    return kept;
  }
  const result = await server.call(tool, given, { signal, progress });
  if (!fresh) keep(key, result);
  return result;
}

async function callOverHttp(tool, given, { signal, progress }) {
  return answered(await post('call', JSON.stringify({ tool, arguments: given }), signal), progress);
}

/** Proves the draft of the workflow of an execution, after a person has confirmed it. Only over HTTP. */
export async function prove(id, { signal, progress } = {}) {
  return answered(await post('prove', JSON.stringify({ id, confirmed: true, language: language() }), signal), progress);
}

/** The result at the end of the lines of a response. */
async function answered(response, progress) {
  for await (const message of lines(response.body)) {
    if (message.progress) progress?.(message.progress);
    if (message.error) throw new Failure(message.error.message);
    if (message.result) return message.result;
  }
  throw new Failure(t('connectionEnded'));
}

function post(route, body, signal) {
  return accepted(route, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
}

/** The response, unless there is none, or it is a refusal. */
async function accepted(route, options) {
  let response;
  try {
    response = await fetch(route, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure(t('noServer'));
  }
  if (response.ok) return response;
  const text = await response.text();
  let message = t('answeredWith', { status: response.status });
  try {
    message = JSON.parse(text).error.message;
  } catch {
    // Not JSON: only the status is left.
  }
  throw new Failure(message);
}

/** The JSON values of a body with one per line. */
async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let pieces = [];
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error) => {
        if (error.name === 'AbortError') throw error;
        throw new Failure(t('connectionEnded'));
      });
      if (done) break;
      const parts = value.split('\n');
      for (const part of parts.slice(0, -1)) {
        pieces.push(part);
        const line = pieces.join('');
        pieces = [];
        if (line) yield JSON.parse(line);
      }
      pieces.push(parts.at(-1));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function keep(key, result) {
  answers.set(key, result);
  if (answers.size > ANSWERS) answers.delete(answers.keys().next().value);
}

/** What the page must know about its server. */
export function about() {
  return server.about();
}

/** What the server wrote into the page about itself: version, locale, address of n8n, the execution it was opened with. */
export function written() {
  return JSON.parse(document.getElementById('about').textContent);
}

/** Whether items can be downloaded as a file. */
export function hasFiles() {
  return server.hasFiles === true;
}

/** The address of all items of an output as a file, of one run or of all; `format`: `csv` or `jsonl`. */
export function itemsFile(id, { nodeName, runIndex, outputIndex = 0 }, format) {
  const query = new URLSearchParams({ id, node: nodeName, output: outputIndex, format, ...always });
  if (runIndex !== undefined) query.set('run', runIndex);
  return `items?${query}`;
}

/** A file, and the name that the server suggests. */
export async function file(address) {
  const response = await accepted(address);
  const [, name] = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  try {
    return { name: decodeURIComponent(name ?? ''), blob: await response.blob() };
  } catch {
    throw new Failure(t('connectionEnded'));
  }
}
