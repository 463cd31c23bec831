// The page's words in the reader's language, and numbers, times and sizes in the reader's own locale.

import { en } from './words.en.js';
import { ja } from './words.ja.js';

let words = en;

/** Units of clocks, milliseconds. */
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** Chooses the language: the server's, or else the reader's; the reader's locale is the browser's unless given. */
export function chooseLanguage(locale, reader) {
  if (reader) formats = formatsOf(reader);
  const language = (locale ?? reader ?? navigator.language ?? 'en').toLowerCase().startsWith('ja') ? 'ja' : 'en';
  words = language === 'ja' ? ja : en;
  document.documentElement.lang = language;
}

/** The language of the words: `en` or `ja`. */
export function language() {
  return words === ja ? 'ja' : 'en';
}

/** The words for a key, with `{name}` replaced by values. */
export function t(key, values) {
  const text = words[key] ?? en[key] ?? key;
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '') : text;
}

/** Words that depend on a count: `key.one` for 1, otherwise `key`. */
export function count(key, n) {
  return t(n === 1 && words[`${key}.one`] ? `${key}.one` : key, { n: number(n) });
}

/** n8n's name for a kind of something (`mode.webhook`, `kind.string`) in words; the name itself where there are none. */
export function named(group, name) {
  return words[`${group}.${name}`] ?? name;
}

/** How many executions could not be read, for whatever reasons; `false` if none. */
export function unread(reasons = {}) {
  const n = Object.values(reasons).reduce((sum, one) => sum + one, 0);
  return n > 0 && count('notRead', n);
}

/** How numbers, sizes and times are written in a reader's locale. */
function formatsOf(locale) {
  const unit = (name, digits, display) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: display, maximumFractionDigits: digits });
  return {
    plain: new Intl.NumberFormat(locale, { maximumFractionDigits: 3 }),
    compact: new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }),
    small: new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 }),
    exact: new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }),
    exactSmallest: new Intl.NumberFormat(locale, { notation: 'scientific', maximumSignificantDigits: 17 }),
    smallest: new Intl.NumberFormat(locale, { notation: 'scientific', maximumSignificantDigits: 4 }),
    milliseconds: unit('millisecond', 0, 'narrow'),
    seconds: [0, 1, 2, 3].map((digits) => unit('second', digits, 'narrow')),
    minutes: unit('minute', 0, 'narrow'),
    hours: unit('hour', 0, 'narrow'),
    days: unit('day', 0, 'narrow'),
    sizes: ['byte', 'kilobyte', 'megabyte', 'gigabyte'].map((name) => unit(name, 1, 'short')),
    moment: new Intl.DateTimeFormat(locale, {
      year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit',
    }),
    thisYear: new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' }),
    shortMoment: new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }),
    percents: new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }),
  };
}

let formats = formatsOf(navigator.languages?.length ? navigator.languages : undefined);

/** 50000 as 50,000, or as the reader writes it; never 0 or -0 for a nonzero number. */
export function number(n) {
  if (n === 0) return formats.plain.format(0);
  const size = Math.abs(n);
  return (size >= 0.001 ? formats.plain : size >= 1e-6 ? formats.small : formats.smallest).format(n);
}

/** A value of an item, with all its digits: 52.5200129. */
export function exact(n) {
  if (n === 0) return formats.exact.format(0);
  return (Math.abs(n) >= 1e-6 ? formats.exact : formats.exactSmallest).format(n);
}

/** Where an item is: `Run 3 · Output 1 · Item 41`; run and output only if they are not the first. */
export function where({ run = 0, output = 0, item }) {
  const parts = [[run, 'run', run > 0], [output, 'output', output > 0], [item, 'item', item !== undefined]];
  return parts.filter(([, , isNamed]) => isNamed).map(([n, word]) => `${t(word)} ${number(n)}`).join(' · ');
}

/** A number where there is little room: 1.2M. */
export function compact(n) {
  return n < 1_000_000 ? number(n) : formats.compact.format(n);
}

/** Milliseconds as n8n writes them: 294ms, 23.6s, 9m 16s; above two days, 6d 16h. */
export function duration(ms) {
  if (ms === null || ms === undefined) return '';
  if (ms < 1000) return formats.milliseconds.format(ms);
  if (ms < 59_950) return formats.seconds[ms < 10_000 ? 2 : 1].format(ms / 1000);
  const total = Math.round(ms / 1000);
  if (total < 3600) return `${formats.minutes.format(Math.floor(total / 60))} ${formats.seconds[0].format(total % 60)}`;
  const hours = Math.floor(total / 3600);
  if (hours < 48) return `${formats.hours.format(hours)} ${formats.minutes.format(Math.floor((total % 3600) / 60))}`;
  return `${formats.days.format(Math.floor(hours / 24))} ${formats.hours.format(hours % 24)}`;
}

/** A point of a time axis whose marks are `step` ms apart. */
export function instant(ms, step) {
  if (ms === 0) return '0';
  if (step < 1 || ms < 1000) return formats.milliseconds.format(ms);
  const digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  return ms < MINUTE ? formats.seconds[digits].format(ms / 1000) : clock(ms, step, digits);
}

/** A time from a minute on, down to the smallest unit that tells marks apart: 5m, 30h 0m 0.2s. */
function clock(ms, step, digits) {
  const unit = [DAY, HOUR, MINUTE].find((one) => step % one === 0) ?? 1000 / 10 ** digits;
  const at = Math.round(ms / unit) * unit;
  const days = at >= 2 * DAY || unit === DAY ? Math.floor(at / DAY) : 0;
  const hours = Math.floor((at - days * DAY) / HOUR);
  return [
    days > 0 && formats.days.format(days),
    unit < DAY && (days > 0 || hours > 0) && formats.hours.format(hours),
    unit < HOUR && formats.minutes.format(Math.floor((at % HOUR) / MINUTE)),
    unit < MINUTE && formats.seconds[digits].format((at % MINUTE) / 1000),
  ].filter(Boolean).join(' ');
}

/** A size in the largest unit that leaves a number above 1. */
export function bytes(n) {
  let power = 0;
  while (n >= 1000 && power < formats.sizes.length - 1) {
    n /= 1000;
    power += 1;
  }
  return formats.sizes[power].format(n);
}

/** An ISO time in the reader's date format, without the year if it is obvious; empty if there is none. */
export function time(iso) {
  return near(iso, formats.thisYear);
}

/** The same without seconds. */
export function minute(iso) {
  return near(iso, formats.shortMoment);
}

/** A time within half a year in this format, and any other with its year. */
function near(iso, format) {
  const date = new Date(iso ?? NaN);
  if (Number.isNaN(date.getTime())) return '';
  return (Math.abs(Date.now() - date) < 180 * 86_400_000 ? format : formats.moment).format(date);
}

/** A fraction of 1, in percent; what is more than nothing is not shown as nothing. */
export function percent(part) {
  return part > 0 && part < 0.0005 ? `<${formats.percents.format(0.001)}` : formats.percents.format(part);
}
