// Elements without markup: every text, especially that of executions, becomes a text node.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An HTML element. `properties`: `class`, `onclick` and other listeners, `style` (an object), `value`,
 * `checked`, `goes` (what a link changes), and attributes; one that is null, undefined or false is left out. Children: nodes, texts,
 * lists of them.
 */
export function h(tag, properties, ...children) {
  return build(document.createElement(tag), properties, children);
}

/** An SVG element. */
export function svg(tag, properties, ...children) {
  return build(document.createElementNS(SVG, tag), properties, children);
}

function build(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.assign(element.style, value);
    else if (name === 'value' || name === 'checked' || name === 'goes') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Replaces the content of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** Like `fill`, but the focused control keeps the focus: the new one with the same name gets it. */
export function refill(element, ...children) {
  const refocus = focusIn(element);
  fill(element, ...children);
  refocus();
  return element;
}

/** What gives the focus to the control with the same name as the one in `element` that has it now, unless it is elsewhere by then. */
export function focusIn(element) {
  const before = element.contains(document.activeElement) ? document.activeElement : null;
  return () => {
    if (!before || ![document.body, null].includes(document.activeElement)) return;
    const named = [...element.querySelectorAll('a, button, input, select')].filter((control) => nameOf(control) === nameOf(before));
    // Rows of a list can have the same name, but lead elsewhere.
    const same = named.find((control) => control.getAttribute('href') === before.getAttribute('href')) ?? named[0];
    same?.focus({ preventScroll: true });
  };
}

/** What a select listens to that acts once a choice is made: arrow keys choose on the way, until Enter, or until it is left. */
export function chooses(act) {
  let typing = false;
  const settle = (select) => {
    typing = false;
    act(select.value, select);
  };
  return {
    onpointerdown: () => { typing = false; },
    onkeydown: ({ key, target }) => {
      if (key === 'Enter') settle(target);
      else if (key !== 'Tab') typing = true;
    },
    onchange: ({ target }) => { if (!typing) settle(target); },
    onblur: ({ target }) => { if (typing) settle(target); },
  };
}

function nameOf(control) {
  return `${control.tagName} ${control.name ?? ''} ${control.getAttribute('aria-label') ?? control.textContent}`;
}

// C0 controls, the marks that change the direction of a text, and those without a width.
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** A text in which no character can hide or reorder the others: such characters are written as JSON escapes. */
export function shown(text) {
  return String(text).replace(INVISIBLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The first characters of a text, with an ellipsis if it was cut; never half of a character. */
export function clip(text, length) {
  return text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** A value as text. A string that could be taken for another value is in quotes: the text "100" is not the number 100. */
export function literal(value) {
  return typeof value === 'string' && !/^(|null|true|false|-?\d+(\.\d+)?([eE][+-]?\d+)?|".*")$/s.test(value) ? value : JSON.stringify(value);
}

/** A text from an execution, in its own direction. */
export function data(text, length = 300) {
  return h('bdi', {}, shown(clip(String(text), length)));
}

/** Text for screen readers only. */
export function unseen(text) {
  return h('span', { class: 'unseen' }, text);
}

/** What an answer says about itself: why there is less than one would expect, and what it leaves out. */
export function remarks({ notes = [], truncated }) {
  return [
    notes.map((note) => h('p', { class: 'notice' }, shown(note))),
    truncated?.reason && h('p', { class: 'fine' }, shown(truncated.reason)),
  ];
}

/** The same, and if it says nothing of why there is nothing to show, these words. */
export function nothing(answer, words) {
  return [remarks(answer), !answer.notes?.length && h('p', { class: 'empty' }, words)];
}
