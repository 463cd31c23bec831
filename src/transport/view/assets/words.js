// The words of the page in the reader's language, and numbers, times and sizes in the reader's own locale.

import { en } from './words.en.js';
import { ja } from './words.ja.js';

let words = en;

/** Chooses the language: the server's, or else the browser's. */
export function chooseLanguage(locale) {
  const language = (locale ?? navigator.language ?? 'en').toLowerCase().startsWith('ja') ? 'ja' : 'en';
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

const locale = navigator.languages?.length ? navigator.languages : undefined;
const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
const small = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 });
const smallest = new Intl.NumberFormat(locale, { notation: 'scientific', maximumSignificantDigits: 4 });
const unit = (name, digits, display) =>
  new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: display, maximumFractionDigits: digits });
const milliseconds = unit('millisecond', 0, 'narrow');
const seconds = { 0: unit('second', 0, 'narrow'), 1: unit('second', 1, 'narrow'), 2: unit('second', 2, 'narrow'), 3: unit('second', 3, 'narrow') };
const minutes = unit('minute', 0, 'narrow');
const hours = unit('hour', 0, 'narrow');
const sizes = ['byte', 'kilobyte', 'megabyte', 'gigabyte'].map((name) => unit(name, 1, 'short'));
const moment = new Intl.DateTimeFormat(locale, {
  year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit',
});
const shortMoment = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });
const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });

/** 50000 as 50,000, or as the reader writes it; never 0 or -0 for a number that is not. */
export function number(n) {
  if (n === 0) return plain.format(0);
  const size = Math.abs(n);
  return (size >= 0.001 ? plain : size >= 1e-6 ? small : smallest).format(n);
}

/** Milliseconds as n8n writes them: 294ms, 23.6s, 9m 16s. */
export function duration(ms) {
  if (ms === null || ms === undefined) return '';
  if (ms < 1000) return milliseconds.format(ms);
  if (ms < 59_950) return seconds[ms < 10_000 ? 2 : 1].format(ms / 1000);
  const total = Math.round(ms / 1000);
  if (total < 3600) return `${minutes.format(Math.floor(total / 60))} ${seconds[0].format(total % 60)}`;
  return `${hours.format(Math.floor(total / 3600))} ${minutes.format(Math.floor((total % 3600) / 60))}`;
}

/** A point of a time axis whose marks are `step` ms apart. */
export function instant(ms, step) {
  if (ms === 0) return '0';
  if (step < 1 || ms < 1000) return milliseconds.format(ms);
  if (ms < 60_000) return seconds[step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3].format(ms / 1000);
  return duration(ms);
}

/** A size in the largest unit that leaves a number above 1. */
export function bytes(n) {
  let power = 0;
  while (n >= 1000 && power < sizes.length - 1) {
    n /= 1000;
    power += 1;
  }
  return sizes[power].format(n);
}

/** An ISO time as the reader writes dates; empty if there is none. */
export function time(iso) {
  const date = new Date(iso ?? NaN);
  return Number.isNaN(date.getTime()) ? '' : moment.format(date);
}

/** The same without year and seconds, where the year is plain. */
export function minute(iso) {
  const date = new Date(iso ?? NaN);
  if (Number.isNaN(date.getTime())) return '';
  return Math.abs(Date.now() - date) < 180 * 86_400_000 ? shortMoment.format(date) : moment.format(date);
}

/** A part of 1 in hundredths. */
export function percent(part) {
  return percents.format(part);
}
