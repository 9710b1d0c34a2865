// Equality: which comparisons by eq and neq depend on the last digit, and what to write instead.
import type { Value } from '../grammar/ast.ts';
import { isDiscrete } from './ranges.ts';

/** Neither side is a count, flag or clock field, and one of them is computed. */
export const isInexact = (left: Value, right: Value): boolean =>
  !isDiscrete(left) && !isDiscrete(right) && !(isPrice(left) && isPrice(right));

/** A price or volume as the bars have it: `close` equals the highest close of 20 bars exactly where it is that one. */
function isPrice(value: Value): boolean {
  switch (value.kind) {
    case 'market':
      return ['open', 'high', 'low', 'close', 'volume'].includes(value.field);
    case 'rolling':
      return (value.op === 'max' || value.op === 'min') && isPrice(value.source);
    case 'shift':
      return isPrice(value.source);
    case 'value_when':
    case 'capture':
      return isPrice(value.value);
    default:
      return value.kind === 'pivot';
  }
}

/** What authors mean by equal numbers differs, so that there is no patch. */
export const equalityDetails = (op: 'eq' | 'neq') =>
  op === 'eq'
    ? {
        message: 'Computed numbers are rarely equal to the last digit, so this is true on few bars or none.',
        suggestion:
          'Use kind "cross" with op "cross_any" for the bar on which one reaches the other, or add a `tolerance` for ' +
          'numbers close to each other.',
      }
    : {
        message: 'Computed numbers differ in the last digit on nearly every bar, so this is nearly always true.',
        suggestion: 'Add a `tolerance`: how far apart they must be. Or use gt or lt.',
      };
