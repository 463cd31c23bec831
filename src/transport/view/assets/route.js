// Routes the connections of a workflow in its picture: around nodes, not underneath, and with labels clear of other lines.

/** The size of a node, in units of the workflow. */
export const WIDTH = 164;
export const HEIGHT = 56;
/** The distance between two lanes, and between a lane and a node. */
const GAP = 24;
/** How far a line bends before and after a lane. */
const BEND = 36;
/** How many lanes are tried for a connection: below them, one more overlap does not matter. */
const MOST_LANES = 30;
/** How many points of a curve are checked, and how far apart the points of a lane are. */
const POINTS = 32;
const STEP = 8;
/** Where along a curve, and how far above or below it, a label can be: the best place first. */
const PLACES = [0.5, 0.35, 0.65, 0.22, 0.78].flatMap((at) => [[at, -7], [at, 17]]);
/** The size of a character of a label. */
const CHARACTER = [7.5, 12];

export class Routes {
  #boxes;
  #lanes = [];
  #cells = new Map();
  #labels = [];
  /** The lowest point of all lanes. */
  lowest = -Infinity;

  /** `boxes`: the upper left corners of the nodes, `{x, y}`. */
  constructor(boxes) {
    this.#boxes = boxes;
  }

  /** From the right side of a node to the left side of another one: a curve, or a lane below the nodes in between. */
  across([x1, y1], [x2, y2], ends) {
    const bend = Math.max(24, Math.abs(x2 - x1) / 2);
    const curve = [[x1, y1], [x1 + bend, y1], [x2 - bend, y2], [x2, y2]];
    if (x2 >= x1 - 20 && this.#isFree(curve, ends)) return this.#curved(curve);
    const lane = this.#lane(Math.min(x1, x2) - BEND, Math.max(x1, x2) + BEND, Math.max(...ends.map(bottom)));
    const forward = x2 > x1 + 2 * BEND;
    const [a, b] = forward ? [x1 + BEND, x2 - BEND] : [x1 - 10, x2 + 10];
    return this.#along([
      [[x1, y1], [x1 + BEND, y1], [forward ? x1 : x1 + BEND, lane], [a, lane]],
      [[b, lane], [forward ? x2 : x2 - BEND, lane], [x2 - BEND, y2], [x2, y2]],
    ]);
  }

  /** From a sub-node to the port of the node that uses it: up from its top, down from its bottom, or through a lane below both. */
  upward(from, [x2, y2], ends) {
    const x1 = from.x + WIDTH / 2;
    const curve = [[x1, from.y], [x1, from.y - 50], [x2, y2 + 50], [x2, y2]];
    if (from.y > y2 + GAP && this.#isFree(curve, ends)) return this.#curved(curve);
    const { y: top } = ends[1];
    const down = [[x1, bottom(from)], [x1, bottom(from) + 50], [x2, top - 50], [x2, top]];
    if (bottom(from) + GAP < top && this.#isFree(down, ends)) return this.#curved(down);
    const lane = this.#lane(Math.min(x1, x2), Math.max(x1, x2), Math.max(...ends.map(bottom)));
    const turn = Math.sign(x2 - x1) * Math.min(BEND, Math.abs(x2 - x1) / 2);
    return this.#along([
      [[x1, bottom(from)], [x1, lane], [x1, lane], [x1 + turn, lane]],
      [[x2 - turn, lane], [x2, lane], [x2, lane], [x2, y2]],
    ]);
  }

  /** Where the label of a route goes: clear of other lines, if there is room. */
  label({ points, line }, text) {
    const size = [text.length * CHARACTER[0], CHARACTER[1]];
    const places = PLACES.map(([at, by]) => {
      const [x, y] = points[Math.round(at * (points.length - 1))];
      return { x, y: y + by, cost: this.#cost([x, y + by], size, line) };
    });
    const best = places.find(({ cost }) => cost === 0) ?? places.reduce((one, other) => (other.cost < one.cost ? other : one));
    this.#labels.push([best.x, best.y, size[0]]);
    return { x: best.x, y: best.y };
  }

  /** How many other things occupy the place of a label. */
  #cost([x, y], [width, height], line) {
    const box = [x - width / 2 - 3, y - height, x + width / 2 + 3, y + 4];
    const isInside = ([px, py]) => px >= box[0] && px <= box[2] && py >= box[1] && py <= box[3];
    let cost = 0;
    const isOther = ([px, py, other]) => other !== line && isInside([px, py]);
    for (const key of cells(box)) cost += (this.#cells.get(key) ?? []).filter(isOther).length;
    cost += 10 * this.#labels.filter(([lx, ly, wide]) => Math.abs(lx - x) < (wide + width) / 2 + 4 && Math.abs(ly - y) < height + 2).length;
    // A node covers what is under it.
    const hidden = this.#boxes.filter((node) => overlaps(node, box))
      .map(({ x: left }) => Math.min(box[2], left + WIDTH) - Math.max(box[0], left));
    return cost + hidden.reduce((sum, wide) => sum + 4 * wide, 0);
  }

  #isFree(curve, ends) {
    const points = sample(curve, POINTS);
    const [xs, ys] = [curve.map(([x]) => x), curve.map(([, y]) => y)];
    const around = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    const near = this.#boxes.filter((node) => !ends.includes(node) && overlaps(node, around));
    return !near.some((node) => points.some(([x, y]) => overlaps(node, [x - 4, y - 4, x + 4, y + 4])));
  }

  /** The height of a free lane below `from`, and below the nodes that are in its way. */
  #lane(left, right, from) {
    let y = from + GAP;
    for (let tries = 0; tries < MOST_LANES; tries += 1) {
      const band = [left, y - GAP / 2, right, y + GAP / 2];
      const node = this.#boxes.find((box) => overlaps(box, band));
      const lane = this.#lanes.find(([l, r, at]) => l < right && r > left && Math.abs(at - y) < GAP - 1);
      if (!node && !lane) break;
      y = node ? bottom(node) + GAP : lane[2] + GAP;
    }
    this.#lanes.push([left, right, y]);
    this.lowest = Math.max(this.lowest, y);
    return y;
  }

  #curved(curve) {
    return this.#drawn([curve], sample(curve, POINTS));
  }

  /** Two curves with a lane between them. */
  #along([first, second]) {
    const [[x1, y], [x2]] = [first[3], second[0]];
    const steps = Math.max(1, Math.round(Math.abs(x2 - x1) / STEP));
    const lane = Array.from({ length: steps + 1 }, (_, i) => [x1 + ((x2 - x1) * i) / steps, y]);
    return this.#drawn([first, second], [...sample(first, POINTS), ...lane, ...sample(second, POINTS)], lane);
  }

  /** The path of the curves; its label is at one of `points`, which are those of the lane, if there is one. */
  #drawn(curves, all, points = all) {
    const line = {};
    for (const [x, y] of all) {
      const key = cell(x, y);
      if (!this.#cells.has(key)) this.#cells.set(key, []);
      this.#cells.get(key).push([x, y, line]);
    }
    const d = curves.map(([start, ...rest], at) => `${at ? 'L' : 'M'}${start.join(' ')}C${rest.flat().join(' ')}`).join('');
    return { d, points, line };
  }
}

function bottom({ y }) {
  return y + HEIGHT;
}

function overlaps({ x, y }, [left, top, right, low]) {
  return x < right && x + WIDTH > left && y < low && y + HEIGHT > top;
}

function cell(x, y) {
  return `${Math.floor(x / 64)} ${Math.floor(y / 64)}`;
}

/** The cells that a box touches. */
function cells([left, top, right, low]) {
  const keys = new Set();
  for (let x = left; x < right + 64; x += 64) {
    for (let y = top; y < low + 64; y += 64) keys.add(cell(Math.min(x, right), Math.min(y, low)));
  }
  return keys;
}

/** Points of a cubic Bézier curve. */
function sample([a, b, c, d], count) {
  return Array.from({ length: count + 1 }, (_, i) => {
    const t = i / count;
    const at = (k) => (1 - t) ** 3 * a[k] + 3 * (1 - t) ** 2 * t * b[k] + 3 * (1 - t) * t ** 2 * c[k] + t ** 3 * d[k];
    return [at(0), at(1)];
  });
}
