// The workflow's own nodes at their own positions, with the items that flowed along each connection.

import { to } from './address.js';
import { h, shown, svg } from './dom.js';
import { HEIGHT, Routes, WIDTH } from './route.js';
import { statusWord } from './status.js';
import { compact, count, number, t } from './words.js';

/** Converts n8n's node position: its square is 96 wide, ours is wider. */
const SHIFT = (WIDTH - 96) / 2;
/** The space on both sides of a node's name. */
const MARGIN = 14;
/** The narrowest and widest picture, in units of the workflow. */
const ZOOM = [300, 60_000];
/** The scale below which only names are shown, and the one below which no text is. */
const [SMALL, SMALLEST] = [0.55, 0.3];
/** On a screen narrower than this, pixels, a picture begins at this scale if it would have no text as a whole. */
const [NARROW, READABLE] = [700, 0.5];
/** The size of the map, pixels. */
const MAP = [168, 96];
const SIGN = { success: '✓', error: '✕', crashed: '✕' };

export class Graph {
  #links = new Map();
  #box;

  constructor({ nodes, moreNodes = 0, graph }) {
    this.missing = moreNodes ? t('notListed') : t('didNotRun');
    this.ran = new Map(nodes.map((node) => [node.nodeName, node]));
    this.places = new Map(graph.nodes.map((node) => [node.nodeName, { ...node, x: node.position[0] - SHIFT, y: node.position[1] }]));
    this.outputs = outputsOf(graph.connections);
    // Sub-nodes are round, as in n8n's editor.
    this.parts = new Set(graph.connections.filter(([, , , , type]) => type !== 'main').map(([from]) => from));
    this.subNodes = this.#subNodes(graph.connections);
    this.routes = new Routes([...this.places.values()]);
    const wires = this.#wires(graph.connections);
    this.#box = this.whole = bounds([...this.places.values()], this.routes.lowest);
    this.picture = svg('svg', {
      class: 'graph', role: 'group', 'aria-label': t('view.graph'), tabindex: '-1', preserveAspectRatio: 'xMidYMid meet',
      onwheel: (event) => this.#wheel(event), onpointerdown: (event) => this.#press(event),
      onpointermove: (event) => this.#move(event), onpointerup: () => { this.drag = null; }, onpointercancel: () => { this.drag = null; },
      onclick: (event) => this.dragged && event.preventDefault(),
    },
    wires,
    nodes.flatMap((node) => this.#nowhere(node)),
    [...this.places.values()].map((node) => this.#node(node)));
    const button = (key, text, label) => h('button', {
      type: 'button',
      onclick: () => this.zoom(key),
      'aria-label': label,
      title: `${label} (${key})`,
    }, text);
    this.tools = h('div', { class: 'tools' }, h('span', { class: 'fine' }, t('graphHint')),
      h('span', { class: 'zoom', role: 'group', 'aria-label': t('picture') },
        button('-', '−', t('zoomOut')), button('0', '⤢', t('wholePicture')), button('+', '+', t('zoomIn'))));
    this.map = this.#mapOf();
    this.observer = new ResizeObserver(() => this.#show());
    this.observer.observe(this.picture);
    this.element = h('div', {},
      this.places.size ? h('div', { class: 'drawing' }, this.picture, this.map) : h('p', { class: 'empty' }, t('noWorkflow')),
      graph.moreNodes > 0 && h('p', { class: 'fine pad' }, count('moreInGraph', graph.moreNodes)),
      graph.moreConnections > 0 && h('p', { class: 'fine pad' }, count('moreConnections', graph.moreConnections)),
      this.#table(graph.connections));
  }

  update({ node }) {
    for (const [name, anchor] of this.#links) anchor.classList.toggle('selected', name === node);
    this.selected = node;
    this.#show();
  }

  leave() {
    this.observer.disconnect();
  }

  zoom(key) {
    if (key === '0') this.#box = this.whole;
    else if (key === '+' || key === '-') this.#scale(key === '+' ? 0.7 : 1.4);
    else this.#box = { ...this.#box, x: this.#box.x + (key === ',' ? -0.2 : 0.2) * this.#box.width };
    this.#show();
  }

  #scale(factor, at = [0.5, 0.5]) {
    const { x, y, width, height } = this.#box;
    const wide = Math.min(ZOOM[1], Math.max(ZOOM[0], width * factor));
    const times = wide / width;
    this.#box = { x: x + width * (1 - times) * at[0], y: y + height * (1 - times) * at[1], width: wide, height: height * times };
  }

  #show() {
    const { clientWidth: wide, clientHeight: high } = this.picture;
    if (wide) this.#begin(wide, high);
    const { x, y, width, height } = this.#box;
    this.picture.setAttribute('viewBox', `${x} ${y} ${width} ${height}`);
    if (!wide) return;
    const scale = Math.min(wide / width, high / height);
    this.picture.classList.toggle('small-scale', scale < SMALL);
    this.picture.classList.toggle('far', scale < SMALLEST);
    // The visible part: the picture is wider or higher than its box.
    const seen = { width: wide / scale, height: high / scale };
    const at = { x: x + (width - seen.width) / 2, y: y + (height - seen.height) / 2 };
    this.map.hidden = seen.width >= this.whole.width && seen.height >= this.whole.height;
    for (const [name, value] of Object.entries({ ...at, ...seen })) this.sight.setAttribute(name, value);
  }

  /** Where there is no room for the names of the whole, it begins at the selected node, the one that failed or the first one. */
  #begin(wide, high) {
    if (this.begun || wide >= NARROW) return;
    this.begun = true;
    const { x, y, width, height } = this.whole;
    const failed = [...this.ran.values()].find(({ failedRuns }) => failedRuns)?.nodeName;
    const at = [this.selected, failed, ...this.ran.keys(), ...this.places.keys()].map((name) => this.places.get(name)).find(Boolean);
    if (!at || Math.min(wide / width, high / height) >= SMALLEST) return;
    const seen = { width: wide / READABLE, height: high / READABLE };
    const within = (middle, least, room) => Math.max(least, Math.min(middle, least + room));
    this.#box = {
      x: within(at.x + (WIDTH - seen.width) / 2, x, width - seen.width),
      y: within(at.y + (HEIGHT - seen.height) / 2, y, height - seen.height),
      ...seen,
    };
  }

  /** A map of the whole workflow with the visible part, unless everything is visible; a click or a drag moves there. */
  #mapOf() {
    const { x, y, width, height } = this.whole;
    const scale = Math.min(MAP[0] / width, MAP[1] / height);
    this.sight = svg('rect', { class: 'sight' });
    const move = (event) => {
      if (event.type === 'pointermove' && !event.buttons) return;
      const { left, top, width: wide, height: high } = map.getBoundingClientRect();
      const middle = [x + ((event.clientX - left) / wide) * width, y + ((event.clientY - top) / high) * height];
      this.#box = { ...this.#box, x: middle[0] - this.#box.width / 2, y: middle[1] - this.#box.height / 2 };
      this.#show();
    };
    const map = svg('svg', {
      viewBox: `${x} ${y} ${width} ${height}`, width: width * scale, height: height * scale, 'aria-hidden': 'true',
      onpointerdown: (event) => { map.setPointerCapture(event.pointerId); move(event); }, onpointermove: move,
    }, [...this.places.values()].map((node) => svg('rect', {
      class: this.ran.get(node.nodeName)?.status ?? 'idle',
      x: node.x,
      y: node.y,
      width: WIDTH,
      height: HEIGHT,
    })), this.sight);
    return h('div', { class: 'map', hidden: true }, map);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.picture.getBoundingClientRect();
    this.#scale(Math.exp(Math.sign(event.deltaY) * 0.15), [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]);
    this.#show();
  }

  #press(event) {
    this.drag = { x: event.clientX, y: event.clientY, box: this.#box };
    this.dragged = false;
  }

  #move(event) {
    if (!this.drag || !event.buttons) return;
    const { x, y, box } = this.drag;
    if (!this.dragged && Math.hypot(event.clientX - x, event.clientY - y) < 5) return;
    this.dragged = true;
    const shown = this.picture.getBoundingClientRect();
    const unit = Math.max(box.width / shown.width, box.height / shown.height);
    this.#box = { ...box, x: box.x - (event.clientX - x) * unit, y: box.y - (event.clientY - y) * unit };
    this.#show();
  }

  #node(place) {
    const { nodeName, x, y, disabled } = place;
    const ran = this.ran.get(nodeName);
    const status = ran?.status ?? 'idle';
    const name = shown(nodeName);
    const items = ran ? ran.outputs.reduce((sum, n) => sum + n, 0) : 0;
    const words = ran ? `${statusWord(status)}, ${count('items', items)}` : disabled ? t('disabled') : this.missing;
    const short = fitting(name);
    const small = ran ? `${SIGN[status] ?? ''} ${ran.failedRuns ? statusWord(status) : count('items', items)}` : words;
    // What can be read, first, and then what could not: those who speak to their computer say what they read.
    const anchor = svg('a', {
      class: `node ${status}`,
      ...to({ node: nodeName, tab: null }),
      'aria-label': `${short} ${small}${short === name ? '' : `, ${name.slice(0, 300)}`}`,
    },
      svg('title', {}, `${name.slice(0, 300)}\n${words}`),
      svg('rect', { x, y, width: WIDTH, height: HEIGHT, rx: this.parts.has(nodeName) ? HEIGHT / 2 : 10 }),
      svg('text', { x: x + MARGIN, y: y + 24, class: 'name' }, short), ' ',
      svg('text', { x: x + MARGIN, y: y + 43, class: 'small' }, small));
    this.#links.set(nodeName, anchor);
    return anchor;
  }

  /** The point at which the output of a node leaves its box. */
  #leaves(nodeName, output) {
    const place = this.places.get(nodeName);
    const outputs = Math.max(this.outputs.get(nodeName) ?? 1, this.ran.get(nodeName)?.outputs.length ?? 1);
    return [place.x + WIDTH, place.y + (HEIGHT * (output + 1)) / (outputs + 1)];
  }

  /** The connections: all lines are placed first, so that labels are placed around them. */
  #wires(connections) {
    const isDrawn = ([from, , to]) => this.places.has(from) && this.places.has(to);
    const wires = connections.filter(isDrawn).map((connection) => this.#wire(connection));
    return wires.map(({ route, items, part }) => part
      ? svg('path', { class: 'wire part', d: route.d })
      : svg('g', { class: items ? 'wire full' : 'wire', 'aria-hidden': 'true' },
        svg('path', { d: route.d }), items > 0 && svg('text', this.routes.label(route, compact(items)), compact(items))));
  }

  #wire([from, output, to, , type]) {
    const ends = [this.places.get(from), this.places.get(to)];
    const [source, target] = ends;
    if (type !== 'main') return { part: true, route: this.routes.upward(source, this.#port(source, target), ends) };
    const route = this.routes.across(this.#leaves(from, output), [target.x, target.y + HEIGHT / 2], ends);
    return { items: this.#flow(from, output), route };
  }

  /** The point at which a sub-node enters the node that uses it: side by side at its bottom, in their order from the left. */
  #port(source, target) {
    const all = this.subNodes.get(target.nodeName);
    return [target.x + (WIDTH * (all.indexOf(source.nodeName) + 1)) / (all.length + 1), target.y + HEIGHT];
  }

  /** The sub-nodes of each node that uses any, from the left. */
  #subNodes(connections) {
    const subNodes = new Map();
    for (const [from, , to, , type] of connections) {
      if (type === 'main' || !this.places.has(from)) continue;
      if (!subNodes.has(to)) subNodes.set(to, new Set());
      subNodes.get(to).add(from);
    }
    const x = (name) => this.places.get(name).x;
    return new Map([...subNodes].map(([to, names]) => [to, [...names].sort((one, other) => x(one) - x(other))]));
  }

  #flow(from, output) {
    return this.ran.get(from)?.outputs[output] ?? 0;
  }

  /** The outputs that hold items and lead nowhere: a stub with a ring. */
  #nowhere({ nodeName, unconnected = [] }) {
    if (!this.places.has(nodeName)) return [];
    return unconnected.map((output) => {
      const [x, y] = this.#leaves(nodeName, output);
      return svg('g', { class: 'nowhere', 'aria-hidden': 'true' },
        svg('path', { d: `M${x} ${y}h22` }), svg('circle', { cx: x + 27, cy: y, r: 5 }),
        svg('text', { x: x + 37, y: y + 4 }, compact(this.#flow(nodeName, output))));
    });
  }

  /** A description of the picture for readers who cannot see it. */
  #table(connections) {
    return h('div', { class: 'unseen' }, h('table', {},
      h('caption', {}, t('connections')),
      h('thead', {}, h('tr', {}, [t('from'), t('output'), t('to'), t('itemsWord')].map((word) => h('th', { scope: 'col' }, word)))),
      h('tbody', {}, connections.filter(([, , , , type]) => type === 'main').map(([from, output, to]) =>
        h('tr', {},
          [
            shown(from).slice(0, 120),
            number(output),
            shown(to).slice(0, 120),
            number(this.#flow(from, output)),
          ].map((text) => h('td', {}, text)))))));
  }
}

function outputsOf(connections) {
  const outputs = new Map();
  for (const [from, output, , , type] of connections) {
    if (type === 'main') outputs.set(from, Math.max(outputs.get(from) ?? 1, output + 1));
  }
  return outputs;
}

function bounds(places, lowest) {
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  const [left, top] = [Math.min(...xs, 0) - 60, Math.min(...ys, 0) - 70];
  return {
    x: left,
    y: top,
    width: Math.max(900, Math.max(...xs, 0) + WIDTH + 80 - left),
    height: Math.max(240, Math.max(...ys, lowest - HEIGHT, 0) + HEIGHT + 110 - top),
  };
}

let ruler = null;

/** As much of a node's name as fits into its box: characters are of very different widths. */
function fitting(name) {
  if (!ruler) {
    ruler = document.createElement('canvas').getContext('2d');
    ruler.font = `550 13px ${getComputedStyle(document.body).fontFamily}`;
  }
  const fits = (text) => ruler.measureText(text).width <= WIDTH - 2 * MARGIN;
  const start = name.slice(0, WIDTH);
  if (start === name && fits(name)) return name;
  const characters = [...new Intl.Segmenter().segment(start)].map(({ segment }) => segment);
  let [least, most] = [0, characters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(`${characters.slice(0, middle).join('')}…`)) least = middle;
    else most = middle - 1;
  }
  return `${characters.slice(0, least).join('')}…`;
}
