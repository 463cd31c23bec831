// The address: the whole state of the page, after `#`, so that no server or proxy logs search terms.
//
//     #/?status=error                                the list
//     #/1234?node=HTTP+Request&run=3&item=17         an execution

/** The parameters that an address can have. Numbers: `run`, `input`, `out`, `item`. */
const TEXTS = [
  'status', 'workflow', 'after', 'before', 'period', // the list, and the trend of a workflow
  'view', 'sort', 'filter', 'range', 'large', // an execution: which view of the whole; its table and time axis; any size
  'q', 'path', 'condition', 'value', 'regex', 'within', // the search, over one execution or all of them
  'with', // the comparison
  'node', 'tab', 'side', 'direction', // one node
];
const NUMBERS = ['run', 'input', 'out', 'item'];
/** The parameters of one node: removed when another node is selected. */
const OF_NODE = { run: null, input: null, out: null, item: null, side: null };

/** The state in an address. */
export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const state = { id: /^\d+$/.test(path) ? path : null };
  for (const name of TEXTS) state[name] = parameters.get(name) || null;
  for (const name of NUMBERS) {
    const text = parameters.get(name);
    state[name] = text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
  }
  return state;
}

/** The address of a state. */
export function format(state) {
  const parameters = new URLSearchParams();
  for (const name of [...TEXTS, ...NUMBERS]) {
    const value = state[name];
    if (value !== null && value !== undefined && value !== '') parameters.set(name, value);
  }
  const query = parameters.toString();
  return `#/${state.id ?? ''}${query ? `?${query}` : ''}`;
}

/** Where the address is kept: in the browser's own bar and history, unless the page has neither. */
let bar = {
  get: () => location.hash,
  set: (address, replace) => (replace ? history.replaceState(null, '', address) : history.pushState(null, '', address)),
};

/** Keeps the address elsewhere: `get` returns it, `set` takes the next one and whether it replaces this one. */
export function keepAddress(other) {
  bar = other;
}

/** The current state of the page. */
export function current() {
  return parse(bar.get());
}

/** The address of the current state with these changes; one that names another node drops the run and item. */
export function link(changes) {
  const state = current();
  const leaves = changes.node !== undefined && changes.node !== state.node;
  return format({ ...state, ...(leaves ? OF_NODE : {}), ...changes });
}

/**
 * Goes to the current state with these changes. `replace` leaves no entry in the history. The page shows the state before this returns,
 * so that a key pressed right after it counts from there.
 */
export function go(changes, { replace = false } = {}) {
  visit(link(changes), { replace });
}

/** Goes to an address in the same way. */
export function visit(address, { replace = false } = {}) {
  if (address === bar.get()) return;
  bar.set(address, replace);
  dispatchEvent(new Event('hashchange'));
}

/** The properties of a link that makes these changes to the state at the time it is followed. */
export function to(changes) {
  return { href: link(changes), goes: changes };
}

/** The changes that lead to a node, or to a run, an output or an item of it, and keep nothing of where one was. */
export function place(node, more = {}) {
  return { node, tab: null, run: null, input: null, out: null, item: null, side: null, ...more };
}

/** Brings the addresses of such links up to date after the state has changed. */
export function refreshLinks() {
  for (const anchor of document.querySelectorAll('a')) {
    if (anchor.goes) anchor.setAttribute('href', link(anchor.goes));
  }
}
