// A table with any number of items: 50 are fetched at a time, around the visible part, and only the visible rows exist.

import { go, to } from './address.js';
import { data, fill, h, literal, shown, unseen } from './dom.js';
import { bytes, number, t } from './words.js';

/** The height of a row in pixels; the style sheet has the same. */
const ROW = 28;
const PAGE = 50;
/** How many of the nearest pages are kept: memory does not grow with the number of items. */
const PAGES = 12;
/** Browsers can lay out slightly more than this many pixels; above it, a pixel of scrolling stands for several. */
const TALLEST = 12_000_000;
const COLUMNS = 40;
const CELL = 160;
/** Milliseconds without scrolling before a page is fetched. */
const REST = 70;
/** Rows beyond the visible ones, above and below. */
const SPARE = 6;

/**
 * `fetchPage(offset, limit, {signal, progress})` returns a list of `Map`, fewer than `limit` if the answer was full.
 * `changes(index)` is what selecting an item changes in the address.
 */
export class ItemTable {
  #pages = new Map();
  #columns = [];
  #widths = [];
  #numeric = new Set();
  #fetching = null;
  #selected = null;
  #drawn = '';

  constructor({ name, total, fetchPage, changes, first }) {
    Object.assign(this, { total, fetchPage, changes });
    this.body = h('tbody', { onclick: (event) => this.#clicked(event) });
    this.columns = h('colgroup', {});
    this.heads = h('tr', {});
    this.progress = h('p', { class: 'reading', role: 'status', hidden: true });
    this.cut = h('p', { class: 'fine pad', role: 'status', hidden: true }, t('firstColumns', { n: number(COLUMNS) }));
    this.said = h('p', { class: 'notice failed', role: 'alert', hidden: true });
    this.table = h('table', { class: 'items', 'aria-rowcount': total + 1 },
      h('caption', { class: 'unseen' }, name),
      this.columns,
      h('thead', {}, this.heads),
      this.body);
    this.element = h('div', {
      class: 'items-scroll',
      tabindex: '0',
      role: 'region',
      'aria-label': name,
      onscroll: () => this.#scrolled(),
    }, this.table);
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(this.element);
    if (first?.length) this.#keep(0, first);
    this.#draw();
    this.#fetch();
  }

  leave() {
    this.observer.disconnect();
    this.#fetching?.controller.abort();
    clearTimeout(this.timer);
  }

  /** Marks an item, and scrolls to it if it cannot be seen. */
  select(index) {
    if (index === this.#selected) return;
    this.#selected = index;
    this.#drawn = '';
    if (index !== null && index < this.total) {
      const [first, last] = this.#visible();
      if (index < first || index >= last - 1) this.#scrollTo(index);
    }
    this.#draw();
  }

  /** A click anywhere in a row selects its item, unless it ended a selection of text. */
  #clicked(event) {
    const anchor = event.target.closest('tr')?.querySelector('a');
    if (anchor && !event.target.closest('a') && getSelection().isCollapsed) go(anchor.goes);
  }

  get #height() {
    return Math.min(TALLEST, this.total * ROW);
  }

  #scrollTo(index) {
    const inside = this.element.clientHeight - 2 * ROW;
    const ratio = index / Math.max(1, this.total);
    this.element.scrollTop = this.total * ROW <= TALLEST ? Math.max(0, index * ROW - inside / 2) : ratio * this.#height;
  }

  /** The first visible item, and the one after the last. */
  #visible() {
    const { scrollTop, clientHeight } = this.element;
    const rows = Math.ceil((clientHeight || 400) / ROW);
    const room = Math.max(1, this.#height - (clientHeight || 400) + ROW);
    const first = this.total * ROW <= TALLEST
      ? Math.floor(scrollTop / ROW)
      : Math.floor(Math.min(1, scrollTop / room) * Math.max(0, this.total - rows + 2));
    return [Math.min(first, Math.max(0, this.total - 1)), Math.min(this.total, first + rows)];
  }

  #drawnRows() {
    const [first, last] = this.#visible();
    return [Math.max(0, first - SPARE), Math.min(this.total, last + SPARE)];
  }

  /** Shown again after another tab, it stands where it stood: browsers forget how far a hidden element was scrolled. */
  #resized() {
    const seen = this.element.clientHeight > 0;
    if (seen && !this.seen && this.top !== undefined) this.element.scrollTop = this.top;
    this.seen = seen;
    this.#draw();
  }

  #scrolled() {
    if (this.element.clientHeight > 0) this.top = this.element.scrollTop;
    this.#draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#fetch(), REST);
  }

  /** Fetches the missing visible pages, one after the other; drops a fetch that is no longer visible. */
  async #fetch() {
    const missing = this.#missing();
    if (missing === null) return;
    if (this.#fetching?.page === missing) return;
    this.#fetching?.controller.abort();
    const fetching = (this.#fetching = { page: missing, controller: new AbortController() });
    try {
      const have = this.#pages.get(missing)?.length ?? 0;
      const offset = missing * PAGE + have;
      const values = await this.fetchPage(offset, Math.min(PAGE - have, this.total - offset), {
        signal: fetching.controller.signal,
        progress: ({ bytes: read, total }) => this.#showProgress(total ? t('readOf',
          { read: bytes(read), total: bytes(total) }) : t('readSoFar', { read: bytes(read) })),
      });
      if (fetching.controller.signal.aborted) return;
      this.said.hidden = true;
      this.#keep(missing, values.length ? values : [null]);
      this.#drawn = '';
      this.#draw();
    } catch (error) {
      if (error.name === 'AbortError') return;
      fill(this.said, shown(error.message), ' ', h('button', { type: 'button', onclick: () => this.#fetch() }, t('tryAgain')));
      this.said.hidden = false;
      return;
    } finally {
      if (this.#fetching === fetching) {
        this.#fetching = null;
        this.#showProgress(null);
      }
    }
    this.#fetch();
  }

  #showProgress(text) {
    this.progress.hidden = text === null;
    this.progress.textContent = text ?? '';
  }

  #missing() {
    const [first, last] = this.#drawnRows();
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page += 1) {
      if ((this.#pages.get(page)?.length ?? 0) < Math.min(PAGE, this.total - page * PAGE)) return page;
    }
    return null;
  }

  #keep(page, values) {
    this.#pages.set(page, [...(this.#pages.get(page) ?? []), ...values].slice(0, PAGE));
    const far = [...this.#pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page));
    for (const other of far.slice(0, Math.max(0, far.length - PAGES))) this.#pages.delete(other);
    this.#learn(values);
  }

  /** Adds the columns of new items: their widths and sides come from the first items that have them. */
  #learn(values) {
    const fresh = new Map();
    for (const item of values) {
      for (const name of item?.keys() ?? []) {
        if (!this.#columns.includes(name) && !fresh.has(name)) {
          if (this.#columns.length + fresh.size < COLUMNS) fresh.set(name, []);
          else this.cut.hidden = false;
        }
        if (fresh.has(name)) fresh.get(name).push(item.get(name));
      }
    }
    for (const [name, cells] of fresh) {
      // A reader looks for errors: their column comes first.
      const at = name === 'error' ? 0 : this.#columns.length;
      this.#columns.splice(at, 0, name);
      this.#widths.splice(at, 0, 0);
      if (cells.every((value) => typeof value === 'number')) this.#numeric.add(name);
      const longest = Math.max(name.length + 2, ...cells.map((value) => text(value).length));
      this.#widths[at] = Math.min(30, Math.max(6, longest)) * 8.4 + 24;
    }
    if (!fresh.size) return;
    const widths = [number(this.total).length * 8 + 32, ...this.#widths];
    fill(this.columns, widths.map((width) => h('col', { style: { width: `${width}px` } })), h('col', {}));
    fill(this.heads, h('th', { scope: 'col', class: 'number' }, '#'), this.#columns.map((name) =>
      h('th', { scope: 'col', class: this.#numeric.has(name) ? 'number' : null, title: shown(name).slice(0, 200) },
        data(name, 60))), h('td', {}));
  }

  #draw() {
    const [from, to] = this.#drawnRows();
    const key = `${from} ${to} ${this.#columns.length} ${this.#pages.size}`;
    if (key === this.#drawn) return;
    this.#drawn = key;
    const focused = this.body.contains(document.activeElement) ? document.activeElement.textContent : null;
    const before = this.total * ROW <= TALLEST ? from * ROW : Math.max(0,
      Math.min(this.element.scrollTop - SPARE * ROW, this.#height - (to - from) * ROW));
    const after = Math.max(0, this.#height - before - (to - from) * ROW);
    const rows = [];
    for (let index = from; index < to; index += 1) rows.push(this.#row(index));
    fill(this.body, space(before), rows, space(after));
    if (focused === null) return;
    const anchors = [...this.body.querySelectorAll('a')];
    anchors.find((anchor) => anchor.textContent === focused)?.focus({ preventScroll: true });
  }

  #row(index) {
    const item = this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
    const selected = index === this.#selected;
    return h('tr', { 'aria-rowindex': index + 2, class: selected ? 'selected' : null },
      h('th', { scope: 'row', class: 'number' },
        h('a', { class: 'cover', ...to(this.changes(index)), 'aria-current': selected ? 'true' : null },
          unseen(`${t('item')} `),
          number(index))),
      this.#columns.map((name) => cell(item, name, this.#numeric.has(name))),
      last(item, this.#columns.length > 0));
  }
}

function space(height) {
  return height > 0 && h('tr', { class: 'space', 'aria-hidden': 'true' }, h('td', { style: { height: `${height}px` } }));
}

/** The cell after the columns: it fills the row, says that an item has no fields, or stands for one that is not loaded yet. */
function last(item, hasColumns) {
  if (item) return h('td', { class: 'fine' }, item.size ? '' : t('hasNoFields'));
  return h('td', { class: hasColumns ? null : 'wait' });
}

function cell(item, name, numeric) {
  if (!item) return h('td', { class: 'wait' });
  if (!item.has(name)) return h('td', { class: 'missing' });
  const value = item.get(name);
  const kind = value === null ? 'null' : typeof value;
  return h('td', { class: `${kind}${numeric ? ' number' : ''}` }, data(text(value), CELL));
}

function text(value) {
  // A cell without anything in it is an empty text; one without a value has a sign.
  return value === '' ? '' : literal(typeof value === 'string' ? value.slice(0, CELL + 1) : value).slice(0, CELL + 1);
}

/**
 * The items of one side of `get_execution_by_node`'s answer, in either form: a `Map` of values for each. If there are
 * several outputs, those of `output`, if given.
 */
export function itemsOf({ rows, items }, output = null) {
  const wanted = (index) => output === null || index === undefined || index === output;
  if (rows) {
    const column = rows.columns.indexOf('outputIndex');
    return rows.rows.map((row, at) => wanted(row[column]) && fromRow(row, at, rows)).filter(Boolean);
  }
  return (items ?? []).filter((item) => wanted(item.outputIndex)).map(({ json, error, binary }) => {
    const values = new Map(json !== null && typeof json === 'object' ? Object.entries(json) : []);
    if (error) values.set('error', error);
    if (binary) values.set('binary', binary);
    return values;
  });
}

function fromRow(row, at, { columns, missing }) {
  const values = new Map();
  columns.forEach((column, i) => {
    const name = column.startsWith('json.') ? column.slice(5) : /^(error|binary)\b/.test(column) ? column : null;
    const absent = missing && Object.hasOwn(missing, column) && missing[column].includes(at);
    if (name !== null && !absent && i < row.length) values.set(name, row[i]);
  });
  return values;
}
