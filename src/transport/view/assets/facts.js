// What is known of the values of a field, in the reader's words.

import { kinds } from './fields.js';
import { count, exact, named, number, t } from './words.js';

/** The facts about a field, `status: paid (29,819), open (10,139)`. */
export function fieldFacts({ path, facts, more }) {
  if (more) return count('factMore', more);
  return `${path || '""'}: ${facts.map(fact).join(', ')}`;
}

function fact({ is, ...known }) {
  switch (is) {
    case 'kinds': return `${kinds(known.kinds)} (${place(known.place)}${known.value === undefined ? '' : `: ${known.value}`})`;
    case 'present': return `${t('factPresent', { n: number(known.count), of: number(known.of) })}${example(known.example)}`;
    case 'empty': return `${t('factEmpty', { n: number(known.count) })}${example(known.example)}`;
    case 'numericTexts': return count('factNumericTexts', known.count);
    case 'jsonTexts': return count('factJsonTexts', known.count);
    case 'repeated': {
      const [one, other] = known.places.map(place);
      const counted = t(known.more ? 'factDistinctInFirst' : 'factDistinct', { n: number(known.count), of: number(known.of) });
      return `${counted} (${t('factRepeated', { value: known.value, one, other })})`;
    }
    case 'values': return known.values.map(([value, n]) => `${value} (${number(n)})`).join(', ');
    case 'dates': return `${known.from} – ${known.to}`;
    case 'range': return `${exact(known.from)} – ${exact(known.to)}`;
    default: return t('always', { value: known.value });
  }
}

/** The first of the fewer items. */
function example(known) {
  return known ? ` (${known.holds ? place(known.place) : t('factNotIn', { place: place(known.place) })})` : '';
}

function place({ run = 0, output = 0, item }) {
  const parts = [run > 0 && `${t('run')} ${number(run)}`, output > 0 && `${t('output')} ${number(output)}`, `${t('item')} ${number(item)}`];
  return parts.filter(Boolean).join(' ');
}

/** Facts that hold for the same items. */
export function togetherFacts({ claims, more = 0, items }) {
  const [first, ...others] = claims.map(claim);
  const all = more ? [...others, count('factMore', more)] : others;
  return `${t('factTogether', { first, others: all.join(', ') })} (${count('items', items)})`;
}

function claim({ path, is, value }) {
  return t(`claim.${is}`, { path, value: is === 'kind' ? named('kind', value) : value });
}
