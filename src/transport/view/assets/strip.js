// The whole time axis as a strip above the waterfall: one line per node, with a window over the visible part.

import { h } from './dom.js';

const HEIGHT = 40;
/** A drag of fewer pixels is a click. */
const CLICK = 4;
// Indexes into a bar of `view_overview`.
const [FROM, TO, FAILED] = [0, 1, 4];

export class Strip {
  #drag = null;

  /** `full`: the length of the axis, ms; `choose` is called with the range that the reader chose. */
  constructor(nodes, full, choose) {
    Object.assign(this, { nodes, full, choose });
    this.canvas = h('canvas', {});
    this.window = h('div', { class: 'window' });
    this.element = h('div', {
      class: 'strip', 'aria-hidden': 'true', onpointerdown: (event) => this.#press(event), onpointermove: (event) => this.#move(event),
      onpointerup: (event) => this.#release(event), onpointercancel: () => { this.#drag = null; },
    }, this.canvas, this.window);
  }

  /** Aligns with the time axis, given its width and start, and shows which part of it is visible. */
  update({ left, width, inset }, [from, to], colours) {
    const size = `${left} ${width} ${colours.good}`;
    if (size !== this.size) {
      this.size = size;
      this.inset = inset;
      this.width = width;
      Object.assign(this.element.style, { marginLeft: `${left}px`, width: `${width}px`, height: `${HEIGHT}px` });
      this.#draw(colours);
    }
    Object.assign(this.window.style, { left: `${this.#x(from)}px`, width: `${Math.max(4, this.#x(to) - this.#x(from))}px` });
    this.range = [from, to];
    this.element.classList.toggle('part', from > 0 || to < this.full);
  }

  #x(ms) {
    return this.inset + (ms / this.full) * (this.width - 2 * this.inset);
  }

  #ms(event) {
    const { left } = this.element.getBoundingClientRect();
    return Math.min(this.full, Math.max(0, ((event.clientX - left - this.inset) / (this.width - 2 * this.inset)) * this.full));
  }

  #draw({ good, bad }) {
    const ratio = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(this.width * ratio), height: Math.round(HEIGHT * ratio) });
    Object.assign(this.canvas.style, { width: `${this.width}px`, height: `${HEIGHT}px` });
    const context = this.canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const row = (HEIGHT - 8) / Math.max(6, this.nodes.length);
    // Failed runs last, so that nothing covers them.
    for (const failed of [false, true]) {
      context.fillStyle = failed ? bad : good;
      this.nodes.forEach((node, at) => {
        for (const bar of node.bars) {
          if (Boolean(bar[FAILED]) === failed) context.fillRect(this.#x(bar[FROM]),
            4 + at * row,
            Math.max(failed ? 2 : 1, this.#x(bar[TO]) - this.#x(bar[FROM])),
            Math.max(failed ? 2 : 1, row - 1));
        }
      });
    }
  }

  #press(event) {
    const at = this.#ms(event);
    const [from, to] = this.range;
    const isPart = from > 0 || to < this.full;
    this.#drag = { x: event.clientX, at, range: this.range, moves: isPart && at >= from && at <= to };
    this.element.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag || (!drag.moved && Math.abs(event.clientX - drag.x) < CLICK)) return;
    drag.moved = true;
    const at = this.#ms(event);
    const by = at - drag.at;
    this.choose(drag.moves ? drag.range.map((ms) => ms + by) : [Math.min(drag.at, at), Math.max(drag.at, at)]);
  }

  /** A click outside the window moves it there. */
  #release(event) {
    const drag = this.#drag;
    this.#drag = null;
    if (!drag || drag.moved || drag.moves) return;
    const half = (drag.range[1] - drag.range[0]) / 2;
    const at = this.#ms(event);
    this.choose([at - half, at + half]);
  }
}
