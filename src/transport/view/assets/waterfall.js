// The waterfall next to the table of nodes: a bar for each run on a common time axis, drawn on one canvas over the
// visible rows. Runs narrower than a pixel arrive as one bar; failed ones always have their own bar.

import { go, place } from './address.js';
import { call } from './api.js';
import { fill, h, shown } from './dom.js';
import { Strip } from './strip.js';
import { count, duration, instant, number, t } from './words.js';

/** The height of a row in pixels; the style sheet has the same. */
export const ROW = 32;
/** The most bars of a node: about one for each pixel of a wide window. */
export const BARS = 1000;
/** The length of the shortest time axis, milliseconds. */
const SHORTEST = 2;
/** Milliseconds without a change before finer bars are read, or the range is written to the address. */
const REST = 250;
// Indexes into a bar of `view_overview` and `view_timeline`; times in ms since the first run began.
const [FROM, TO, RUN, RUNS, FAILED, ITEMS, MS] = [0, 1, 2, 3, 4, 5, 6];

export class Waterfall {
  #finer = null;
  #reading = null;
  #frame = 0;
  #drag = null;
  #state = {};

  constructor(overview, scroller, axis, rows) {
    this.id = overview.id;
    this.start = overview.start;
    this.full = Math.max(SHORTEST, overview.end - overview.start);
    this.range = [0, this.full];
    this.scroller = scroller;
    this.axis = axis;
    this.rows = rows;
    this.canvas = h('canvas', {
      'aria-hidden': 'true',
      onwheel: (event) => this.#wheel(event), onpointerdown: (event) => this.#press(event), onpointermove: (event) => this.#move(event),
      onpointerup: (event) => this.#release(event), onpointercancel: () => { this.#drag = null; },
      onpointerleave: () => this.#hideTip(), ondblclick: () => this.zoom('0'),
    });
    this.element = h('div', { class: 'overlay' }, this.canvas);
    this.strip = new Strip(overview.nodes, this.full, (range) => this.#change(range));
    this.tip = h('div', { class: 'tip', hidden: true });
    const control = (key, label) => h('button', {
      type: 'button',
      onclick: () => this.zoom(key),
      'aria-label': label,
      title: `${label} (${key})`,
    }, key === '0' ? '⤢' : key === '-' ? '−' : key);
    this.controls = h('span', { class: 'zoom', role: 'group', 'aria-label': t('timeAxis') },
      control('-', t('zoomOut')), control('0', t('wholeTime')), control('+', t('zoomIn')));
    scroller.addEventListener('scroll', () => this.draw(), { passive: true });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(scroller);
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.recolour = () => { this.colours = null; this.draw(); };
    this.dark.addEventListener('change', this.recolour);
    addEventListener('themechange', this.recolour);
  }

  leave() {
    this.observer.disconnect();
    this.dark.removeEventListener('change', this.recolour);
    removeEventListener('themechange', this.recolour);
    this.#reading?.abort();
    clearTimeout(this.timer);
    clearTimeout(this.refining);
  }

  update(state) {
    this.#state = state;
    // A range that is not in the address yet is newer than the one that is.
    if (this.timer) return this.draw();
    const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(state.range ?? '');
    return this.#set(match ? [Number(match[1]), Number(match[2])] : [0, this.full]);
  }

  /** A key of the time axis: `+ - 0` zoom, `, .` pan. */
  zoom(key) {
    const [from, to] = this.range;
    const span = to - from;
    if (key === '0') this.#change([0, this.full]);
    else if (key === '+' || key === '-') this.#scale(key === '+' ? 0.5 : 2, (from + to) / 2);
    else this.#change(key === ',' ? [from - span / 4, to - span / 4] : [from + span / 4, to + span / 4]);
  }

  #scale(factor, at) {
    const [from, to] = this.range;
    this.#change([at - (at - from) * factor, at + (to - at) * factor]);
  }

  /** Shows another range, and writes it to the address once it stops changing. */
  #change(range) {
    this.#set(range);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      const [from, to] = this.range;
      const whole = from <= 0 && to >= this.full;
      go({ range: whole ? null : `${+from.toFixed(2)}-${+to.toFixed(2)}` }, { replace: true });
    }, REST);
  }

  #set([from, to]) {
    const span = Math.min(this.full, Math.max(SHORTEST, to - from));
    const start = Math.min(Math.max(0, from), this.full - span);
    this.range = [start, start + span];
    this.draw();
    this.#refine();
  }

  /** Reads finer bars for the range, if the present ones combine more runs than necessary. */
  #refine() {
    clearTimeout(this.refining);
    const [from, to] = this.range;
    if (to - from > this.full / 2 || this.#covers(this.#finer)) return;
    const coarse = this.rows().some((node) => node.bars.some((bar) => bar[RUNS] > 1 && bar[TO] > from && bar[FROM] < to));
    if (!coarse) return;
    this.refining = setTimeout(async () => {
      this.#reading?.abort();
      this.#reading = new AbortController();
      const margin = (to - from) / 2;
      const asked = {
        id: this.id,
        start: this.start,
        bars: BARS * 2,
        from: Math.max(0, Math.floor(from - margin)),
        to: Math.ceil(to + margin),
      };
      try {
        const answer = await call('view_timeline', asked, { signal: this.#reading.signal });
        this.#finer = { range: [asked.from, asked.to], bars: new Map(answer.nodes) };
        this.draw();
      } catch {
        // The coarse bars stay; the next movement tries again.
      }
    }, REST);
  }

  #covers(finer) {
    const [from, to] = this.range;
    return finer && finer.range[0] <= from && finer.range[1] >= to && finer.range[1] - finer.range[0] <= (to - from) * 8;
  }

  /** The bars of a node at the best available resolution for the range. */
  #bars(node) {
    const [from, to] = this.range;
    const finer = this.#finer;
    const inside = finer && finer.range[0] <= from && finer.range[1] >= to;
    return inside ? finer.bars.get(node.nodeName) ?? [] : node.bars;
  }

  draw() {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const height = this.scroller.clientHeight;
    const width = this.axis.clientWidth;
    if (!height || !width || !this.canvas.isConnected) return;
    const ratio = devicePixelRatio || 1;
    const { canvas } = this;
    canvas.style.left = `${this.axis.offsetLeft}px`;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.width = width;
    this.inset = 8;
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.colours ??= colours(canvas);
    this.strip.update({ left: this.axis.offsetLeft, width, inset: this.inset }, this.range, this.colours);
    const marks = this.#marks(context, height);
    const { scrollTop } = this.scroller;
    const rows = this.rows();
    const first = Math.floor(scrollTop / ROW);
    const last = Math.min(rows.length, Math.ceil((scrollTop + height) / ROW));
    context.save();
    context.beginPath();
    context.rect(0, ROW, width, height);
    context.clip();
    for (let i = first; i < last; i += 1) this.#row(context, rows[i], ROW + i * ROW - scrollTop);
    context.restore();
    this.#labels(context, marks);
  }

  #x(ms) {
    const [from, to] = this.range;
    return this.inset + ((ms - from) / (to - from)) * (this.width - 2 * this.inset);
  }

  #ms(x) {
    const [from, to] = this.range;
    return from + ((x - this.inset) / (this.width - 2 * this.inset)) * (to - from);
  }

  #marks(context, height) {
    const [from, to] = this.range;
    const step = niceStep(Math.max(1, (to - from) / Math.max(2, this.width / 110)));
    context.fillStyle = this.colours.grid;
    const marks = [];
    for (let ms = Math.ceil(from / step) * step; ms <= to; ms += step) {
      const x = Math.round(this.#x(ms));
      context.fillRect(x, ROW, 1, height);
      marks.push([x, ms, step]);
    }
    return marks;
  }

  #labels(context, marks) {
    context.fillStyle = this.colours.label;
    context.font = this.colours.font;
    context.textBaseline = 'middle';
    let free = -Infinity;
    for (const [x, ms, step] of marks) {
      const text = instant(ms, step);
      const { width } = context.measureText(text);
      const left = Math.min(Math.max(2, x - width / 2), this.width - width - 2);
      if (left < free) continue;
      context.fillText(text, left, ROW / 2);
      free = left + width + 12;
    }
  }

  #row(context, node, top) {
    const { good, bad, select, waiting } = this.colours;
    const [from, to] = this.range;
    const chosen = node.nodeName === this.#state.node;
    const failed = [];
    for (const bar of this.#bars(node)) {
      if (bar[TO] < from || bar[FROM] > to) continue;
      const x = Math.max(-4, this.#x(bar[FROM]));
      const width = Math.max(2, Math.min(this.width + 4, this.#x(bar[TO])) - x);
      if (bar[FAILED]) {
        failed.push([x, width]);
        continue;
      }
      // Bars that combine runs with pauses are paler, the more pause they contain.
      const busy = bar[RUNS] > 1 ? bar[MS] / Math.max(1, bar[TO] - bar[FROM]) : 1;
      context.globalAlpha = 0.4 + 0.6 * Math.min(1, busy);
      context.fillStyle = node.status === 'waiting' && bar[RUN] + bar[RUNS] >= node.runs ? waiting : good;
      box(context, x, top + 10, width, ROW - 20);
    }
    context.globalAlpha = 1;
    context.fillStyle = bad;
    for (const [x, width] of failed) {
      // Taller than the others, with a cross above a short one: red is not the only sign.
      const wide = Math.max(3, width);
      box(context, x, top + 6, wide, ROW - 12);
      const inside = wide >= 11;
      cross(context, x + (inside ? Math.min(9, wide / 2) : wide / 2), inside ? top + ROW / 2 : top + 4, inside ? this.colours.onBad : bad);
    }
    for (const inner of node.inside ?? []) this.#inside(context, inner, node, top);
    const has = (bar) => bar[RUN] <= this.#state.run && this.#state.run < bar[RUN] + bar[RUNS];
    const run = chosen && this.#state.run !== null ? this.#bars(node).findLast(has) : null;
    if (run) {
      context.strokeStyle = select;
      context.lineWidth = 2;
      context.strokeRect(this.#x(run[FROM]) - 2, top + 4, Math.max(3, this.#x(run[TO]) - this.#x(run[FROM])) + 4, ROW - 8);
    }
  }

  /**
   * The runs of a sub-node, in the bars of the node that used it. Those before such a bar have its colour: an agent that is continued
   * after each call of a tool (from version 3 on) began, as n8n stores it, when it was continued last.
   */
  #inside(context, node, user, top) {
    const [from, to] = this.range;
    const outer = this.#bars(user);
    // Another node called what began after its last run.
    const end = Math.min(to, user.bars.at(-1)?.[TO] ?? to);
    let at = 0;
    for (const bar of this.#bars(node)) {
      if (bar[TO] < from || bar[FROM] > end) continue;
      while (outer[at + 1]?.[FROM] <= bar[FROM]) at += 1;
      const isCovered = outer[at]?.[FROM] <= bar[FROM] && bar[TO] <= outer[at][TO];
      const x = Math.max(-4, this.#x(bar[FROM]));
      context.fillStyle = bar[FAILED] ? this.colours.bad : isCovered ? this.colours.inside : this.colours.good;
      context.fillRect(x, top + ROW / 2 - 2, Math.max(2, Math.min(this.width + 4, this.#x(bar[TO])) - x), 4);
    }
  }

  #wheel(event) {
    const ruler = event.offsetY < ROW;
    if (event.ctrlKey || event.metaKey || ruler) {
      event.preventDefault();
      this.#scale(Math.exp(Math.sign(event.deltaY) * Math.min(0.5, Math.abs(event.deltaY) / 300)), this.#ms(event.offsetX));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const by = ((event.deltaX || event.deltaY) / this.width) * (this.range[1] - this.range[0]);
      this.#change([this.range[0] + by, this.range[1] + by]);
    }
  }

  #press(event) {
    this.#drag = { x: event.clientX, range: this.range, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const drag = this.#drag;
    if (drag && (drag.moved || Math.abs(event.clientX - drag.x) > 4)) {
      drag.moved = true;
      const by = ((drag.x - event.clientX) / (this.width - 2 * this.inset)) * (drag.range[1] - drag.range[0]);
      this.#hideTip();
      this.#change([drag.range[0] + by, drag.range[1] + by]);
      return;
    }
    this.#showTip(event);
  }

  #release(event) {
    const dragged = this.#drag?.moved;
    this.#drag = null;
    if (dragged) return;
    const hit = this.#hit(event);
    if (!hit.node) return;
    const run = hit.bar && hit.node.runs > 1 ? hit.bar[RUN] : null;
    go(place(hit.node.nodeName, { run }));
  }

  /** The node and the bar at a point; a failed one wins, since others may cover it. */
  #hit(event) {
    const at = Math.floor((event.offsetY - ROW + this.scroller.scrollTop) / ROW);
    const node = event.offsetY < ROW ? undefined : this.rows()[at];
    if (!node) return {};
    const x = event.offsetX;
    const isNear = (bar) => (
      this.#x(bar[FROM]) - 3 <= x && x <= Math.max(this.#x(bar[FROM]) + 2, this.#x(bar[TO])) + 3);
    const near = this.#bars(node).filter(isNear);
    return { node, bar: near.find((bar) => bar[FAILED]) ?? near[0] };
  }

  #showTip(event) {
    const { node, bar } = this.#hit(event);
    this.canvas.classList.toggle('over', Boolean(node));
    if (!bar) return this.#hideTip();
    const run = bar[RUNS] > 1 ? t('runsFrom', { n: number(bar[RUNS]), from: number(bar[RUN]) }) : t('runOf',
      { run: number(bar[RUN]), runs: count('runsWord', node.runs) });
    fill(this.tip, h('strong', {}, h('bdi', {}, shown(node.nodeName.slice(0, 60)))),
      h('span', {}, run, bar[FAILED] ? ` ✕ ${t('failed')}` : ''),
      h('span', {}, `${count('items', bar[ITEMS])}, ${duration(bar[MS])}`),
      h('span', { class: 'fine' }, t('startsAt', { at: instant(bar[FROM], 1) })));
    this.tip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    this.tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
    this.tip.style.top = `${Math.min(event.clientY + 16, innerHeight - height - 8)}px`;
  }

  #hideTip() {
    this.tip.hidden = true;
  }
}

function box(context, x, y, width, height) {
  context.beginPath();
  context.roundRect(x, y, width, height, Math.min(3, width / 2));
  context.fill();
}

function cross(context, x, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.75;
  context.beginPath();
  for (const side of [-1, 1]) {
    context.moveTo(x - 3 * side, y - 3);
    context.lineTo(x + 3 * side, y + 3);
  }
  context.stroke();
}

/** 1, 2 or 5 times a power of ten below a minute, then the usual units of clocks. */
function niceStep(ms) {
  const clock = [60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000];
  if (ms > 30_000) return clock.find((step) => step >= ms) ?? Math.ceil(ms / 86_400_000) * 86_400_000;
  const power = 10 ** Math.floor(Math.log10(ms));
  const step = [1, 2, 5, 10].find((times) => times * power >= ms) * power;
  return step > 10_000 ? (step > 20_000 ? 30_000 : 20_000) : step;
}

function colours(element) {
  const style = getComputedStyle(element);
  const value = (name) => style.getPropertyValue(name).trim();
  return {
    good: value('--success-bar'), bad: value('--error-bar'), onBad: value('--on-error-bar'), waiting: value('--waiting'), grid: value('--line'), label: value('--quiet'),
    select: value('--focus'), inside: value('--on-bar'), font: `12px ${style.fontFamily}`,
  };
}
