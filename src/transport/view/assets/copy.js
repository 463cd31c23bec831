// What one takes along: buttons that copy a text, and the items of a node as files.

import { file, hasFiles, itemsFile } from './api.js';
import { fill, h, shown } from './dom.js';
import { t } from './words.js';

/** How long a button confirms that it copied, milliseconds. */
const SAID = 1500;
/** Milliseconds within which a browser has begun to save a file. */
const KEPT = 60_000;

/** A button that copies what `text` returns, and says so. */
export function copyButton(word, text, kind = 'button', done = 'copied') {
  const said = h('span', { 'aria-live': 'polite' }, word);
  return h('button', { type: 'button', class: kind, onclick: async () => {
    fill(said, t(await copy(text()) ? done : 'notCopied'));
    setTimeout(() => fill(said, word), SAID);
  } }, said);
}

/** All items of an output as files: of this run, and of all `runs` if there are several. Nothing where there are no files. */
export function downloads(id, { nodeName, runIndex = 0, outputIndex = 0 }, runs) {
  if (!hasFiles()) return null;
  const said = h('p', { class: 'fine', role: 'status' });
  const forms = [['csv', 'CSV'], ['jsonl', t('jsonLines')]];
  const links = (word, place) => h('li', {}, word && h('span', { class: 'fine' }, word, ' '), forms.map(([form, name]) => {
    const href = itemsFile(id, place, form);
    const onclick = (event) => {
      event.preventDefault();
      take(href, said);
    };
    return [' ', h('a', { href, onclick }, name)];
  }));
  const all = { nodeName, outputIndex };
  return h('details', { class: 'menu' },
    h('summary', { class: 'button quiet' }, '⤓ ', t('download')),
    h('ul', {}, links(runs > 1 && t('thisRun'), { ...all, runIndex }), runs > 1 && links(t('allRuns'), all)),
    said);
}

/** Saves a file. A link of the browser's own would leave the page if there is no such file. */
async function take(href, said) {
  fill(said, t('reading'));
  try {
    const { name, blob } = await file(href);
    const url = URL.createObjectURL(blob);
    h('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), KEPT);
    fill(said);
  } catch (error) {
    fill(said, h('span', { class: 'bad' }, shown(error.message)));
  }
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
