// A value that differs from almost all others at its path, in words and as a link to its item.

import { to } from './address.js';
import { clip, data, h } from './dom.js';
import { number, t } from './words.js';

/** The item of an odd value. */
export function oddLink(node, { run = 0, output = 0, item }) {
  return h('a', { class: 'mark', ...to({ node, run, out: output, item, input: null, side: null, tab: null }) }, `${run > 0 ? `${t('run')} ${number(run)} · ` : ''}${t('item')} ${number(item)}`);
}

/**
 * What is odd: `customer.address is null; it is an object in the other 499`. Of a field of `get_execution_fields` with `odd`
 * inside it, or of an odd value alone, which does not say what the others are.
 */
export function oddText(field, items) {
  const { path, odd = field } = field;
  const what = odd.missing ? t('isAbsent') : t('isValue', { value: literal(odd.value ?? null) });
  const others = field.odd ? rest(field, items) : null;
  return [h('code', {}, data(path, 80)), ' ', data(what, 120), others && `${t('semicolon')}${others}`];
}

function rest({ types, type, values, missing = 0, odd }, items) {
  if (odd.missing) return t('isThere', { n: number(items - missing) });
  const kinds = Object.entries(types ?? {}).sort(([, one], [, other]) => other - one);
  if (kinds.length > 1) return t('isKindInOthers', { kind: t(`kind.${kinds[0][0]}`), n: number(kinds[0][1]) });
  const common = (values ?? []).filter(([value]) => value !== odd.value).sort(([, one], [, other]) => other - one);
  if (common.length === 1) return t('isValueInOthers', { value: literal(common[0][0]), n: number(common[0][1]) });
  return type ? t('unlikeOthers') : null;
}

function literal(value) {
  return clip(JSON.stringify(value), 60);
}
