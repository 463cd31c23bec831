// Starts the page and shows the content of the address: the list of executions, or one of them.

import { current, format, refreshLinks, visit } from './address.js';
import { about, restart } from './api.js';
import { fill, h, shown } from './dom.js';
import { Execution } from './execution.js';
import { Home } from './home.js';
import { listenToKeys, showHelp } from './keyboard.js';
import { chooseLanguage, t } from './words.js';

const main = h('main', { id: 'main', tabindex: '-1' });
const trail = h('ol', {});
const search = h('div', { class: 'search-slot' });
let server = {};
let page = null;
/** The list, which is kept as it was left, and how far it was scrolled. */
let home = null;
let top = 0;

async function start() {
  chooseLanguage(null);
  try {
    server = await about();
  } catch (error) {
    document.body.append(h('p', { class: 'notice failed', role: 'alert' }, shown(error.message)));
    return;
  }
  chooseLanguage(server.locale, server.reader);
  // A file has no list: the page opens with its only execution.
  if (server.execution && !current().id) visit(format({ ...current(), id: server.execution }), { replace: true });
  document.body.append(
    h('a', { class: 'skip', href: '#main', onclick: skip }, t('skip')),
    h('header', { class: 'bar' },
      h('nav', { 'aria-label': t('whereYouAre') }, trail),
      search,
      server.controls?.(),
      h('button', { type: 'button', class: 'quiet', onclick: showHelp, 'aria-label': t('help'), title: t('help') }, '?')),
    main,
  );
  addEventListener('hashchange', show);
  listenToKeys(() => page);
  show();
}

/** The address is the state of the page, so the skip link must not change it. */
function skip(event) {
  event.preventDefault();
  main.focus();
}

function show() {
  const state = current();
  if (!page?.fits(state)) {
    if (page && page === home) top = scrollY;
    page?.leave();
    restart(state.large ? { ignoreDataSizeLimit: true } : {});
    fill(search);
    if (!state.id) home ??= new Home(server);
    page = state.id ? new Execution(state, server, { trail: showTrail, search }) : home;
    fill(main, page.element);
    page.enter?.(search);
    showTrail(state.id && !server.execution ? [`#${state.id}`] : []);
    scrollTo(0, page === home ? top : 0);
  }
  page.update(state);
  refreshLinks();
}

/** Where the reader is: the list, then the parts that the page names. */
function showTrail(parts) {
  const list = server.execution ? h('span', { class: 'brand' }, 'n8n-lens') : h('a', { class: 'brand', href: '#/' }, 'n8n-lens');
  const names = parts.length || server.execution ? parts : [t('executions')];
  fill(trail, h('li', {}, list), names.map((part, i) =>
    h('li', { 'aria-current': i === names.length - 1 ? 'page' : null }, h('bdi', {}, shown(part)))));
  document.title = [...names.map(shown).reverse(), 'n8n-lens'].join(' · ');
}

start();
