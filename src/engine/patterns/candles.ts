// Candles: the words in which a pattern is written. A value or condition names the candles it is about by how many bars
// back they are: 0 is the bar on which the pattern is complete, 1 the one before it.

export type Field = 'open' | 'high' | 'low' | 'close';
export type PriceColumns = Readonly<Record<Field, Float64Array>>;

/** A number per candle. */
export type Value =
  | { readonly op: 'field'; readonly field: Field; readonly back: number }
  | { readonly op: 'plus' | 'minus' | 'distance' | 'max' | 'min'; readonly left: Value; readonly right: Value }
  | { readonly op: 'times'; readonly of: Value; readonly factor: number }
  | { readonly op: 'mean'; readonly of: Value; readonly period: 5 | 10; readonly factor: number };

/** True or false per candle. */
export type Condition =
  | { readonly op: 'gt' | 'ge'; readonly left: Value; readonly right: Value }
  | { readonly op: 'all' | 'any'; readonly items: readonly Condition[] }
  | { readonly op: 'not'; readonly item: Condition };

// Prices.
const field =
  (name: Field) =>
  (back: number): Value => ({ op: 'field', field: name, back });
export const open = field('open');
export const high = field('high');
export const low = field('low');
export const close = field('close');

// Arithmetic, in the order in which it is written: the last bit of a sum can decide a tie.
const binary =
  (op: 'plus' | 'minus' | 'distance' | 'max' | 'min') =>
  (left: Value, right: Value): Value => ({ op, left, right });
export const plus = binary('plus');
export const minus = binary('minus');
/** |left - right| */
export const distance = binary('distance');
const max = binary('max');
const min = binary('min');
export const times = (of: Value, factor: number): Value => ({ op: 'times', of, factor });

// Parts of a candle.
export const body = (back: number): Value => distance(close(back), open(back));
export const bodyTop = (back: number): Value => max(open(back), close(back));
export const bodyBottom = (back: number): Value => min(open(back), close(back));
export const upperShadow = (back: number): Value => minus(high(back), bodyTop(back));
export const lowerShadow = (back: number): Value => minus(bodyBottom(back), low(back));
export const range = (back: number): Value => minus(high(back), low(back));

/**
 * `factor` times the average of one part over the `period` candles before the one that is measured.
 *
 * Real prices tie with their averages often, so that the last bit of the running sum decides whether a pattern is
 * there. The sum therefore takes TA-Lib's steps one by one: seeded over the candles before the place that the measured
 * candle has when the pattern's first value is due, which is where TA-Lib starts that very sum, then `sum += entering -
 * leaving`. Starting elsewhere gives different last bits.
 */
const scaledAverage =
  (part: (back: number) => Value, period: 5 | 10, factor: number) =>
  (back: number): Value => ({ op: 'mean', of: part(back), period, factor });

// TA-Lib's default candle settings (TA_CandleDefaultSettings in ta_global.c). Its averages of shadows are of one
// shadow.
const averageBody = scaledAverage(body, 10, 1);
export const averageShadow = scaledAverage((back) => plus(upperShadow(back), lowerShadow(back)), 10, 0.5);
/** The longest body of a doji, and the shortest shadow worth the name. */
export const tiny = scaledAverage(range, 10, 0.1);
export const near = scaledAverage(range, 5, 0.2);
export const far = scaledAverage(range, 5, 0.6);
export const equal = scaledAverage(range, 5, 0.05);

// Comparisons.
export const gt = (left: Value, right: Value): Condition => ({ op: 'gt', left, right });
export const ge = (left: Value, right: Value): Condition => ({ op: 'ge', left, right });
export const lt = (left: Value, right: Value): Condition => gt(right, left);
export const le = (left: Value, right: Value): Condition => ge(right, left);
export const allOf = (...items: readonly Condition[]): Condition => ({ op: 'all', items });
export const anyOf = (...items: readonly Condition[]): Condition => ({ op: 'any', items });
export const not = (item: Condition): Condition => ({ op: 'not', item });
/** Equal numbers. */
export const same = (left: Value, right: Value): Condition => allOf(ge(left, right), ge(right, left));
/** At most `margin` away from `price`, above or below. */
export const about = (value: Value, price: Value, margin: Value): Condition =>
  allOf(le(value, plus(price, margin)), ge(value, minus(price, margin)));
/** Strictly between two prices. */
export const between = (value: Value, lower: Value, upper: Value): Condition =>
  allOf(gt(value, lower), lt(value, upper));

// Colors. A candle that closes where it opened is white, as in TA-Lib.
export const white = (back: number): Condition => ge(close(back), open(back));
export const black = (back: number): Condition => not(white(back));
/** Conditions on the candles of one color: each of them white, or each black. */
export const whites = (...backs: readonly number[]): Condition => allOf(...backs.map(white));
export const blacks = (...backs: readonly number[]): Condition => allOf(...backs.map(black));

// Sizes, next to the candles before.
export const long = (back: number): Condition => gt(body(back), averageBody(back));
/** Shorter than the average. */
export const short = (back: number): Condition => lt(body(back), averageBody(back));
/** At most the average: what TA-Lib means by short where a candle is followed by others. */
export const notLong = (back: number): Condition => le(body(back), averageBody(back));
export const doji = (back: number): Condition => le(body(back), tiny(back));
export const noUpperShadow = (back: number): Condition => lt(upperShadow(back), tiny(back));
export const noLowerShadow = (back: number): Condition => lt(lowerShadow(back), tiny(back));
export const hasUpperShadow = (back: number): Condition => gt(upperShadow(back), tiny(back));
export const hasLowerShadow = (back: number): Condition => gt(lowerShadow(back), tiny(back));
/**
 * TA-Lib's ShadowLong has period 0: a long shadow is longer than the candle's own body, a very long one than twice it.
 */
export const longUpperShadow = (back: number): Condition => gt(upperShadow(back), body(back));
export const longLowerShadow = (back: number): Condition => gt(lowerShadow(back), body(back));
export const veryLongUpperShadow = (back: number): Condition => gt(upperShadow(back), times(body(back), 2));
export const veryLongLowerShadow = (back: number): Condition => gt(lowerShadow(back), times(body(back), 2));

// Gaps between two candles: of their bodies, or of the whole candles.
export const bodyGapUp = (later: number, earlier: number): Condition => gt(bodyBottom(later), bodyTop(earlier));
export const bodyGapDown = (later: number, earlier: number): Condition => lt(bodyTop(later), bodyBottom(earlier));
export const gapUp = (later: number, earlier: number): Condition => gt(low(later), high(earlier));
export const gapDown = (later: number, earlier: number): Condition => lt(high(later), low(earlier));
