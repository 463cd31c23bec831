// Tabs that are links: each has its own address.

import { to } from './address.js';
import { h } from './dom.js';

/** A bar of `{label, changes, current}`, labelled for screen readers; further elements go to its end. */
export function tabs(name, entries, ...more) {
  return h('nav', { class: 'tabs', 'aria-label': name },
    h('ul', {}, entries.map(({ label, changes, current, note }) =>
      h('li', {},
        h('a', { ...to(changes), 'aria-current': current ? 'page' : null },
          label,
          note && h('span', { class: 'note' }, ' ', note))))),
    more);
}
