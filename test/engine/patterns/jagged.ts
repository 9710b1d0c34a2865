// Jagged bars: coarse prices, gaps, doji and bare ends, so that ties with the averages are common and every pattern is
// met.
import { seededRandom } from '../../support/scale.ts';

export type PriceColumns = readonly [open: Float64Array, high: Float64Array, low: Float64Array, close: Float64Array];

export function jaggedBars(count: number, seed: number, tick = 0.5): PriceColumns {
  const random = seededRandom(seed);
  const bell = (): number => random() + random() + random() + random() - 2;
  const pick = (...values: readonly number[]): number => values[Math.floor(random() * values.length)];
  const snap = (value: number): number => Math.round(value / tick) * tick;
  const columns: PriceColumns = [
    new Float64Array(count),
    new Float64Array(count),
    new Float64Array(count),
    new Float64Array(count),
  ];
  const [open, high, low, close] = columns;
  let price = 100;
  let drift = 0;
  for (let row = 0; row < count; row++) {
    if (random() < 0.08) drift = bell() * 2;
    const opening = row > 0 && random() < 0.1 ? close[row - 1] : price + pick(0, 0, bell() * 2, bell() * 0.5);
    const size = random() < 0.2 ? 0 : drift + bell() * pick(0.5, 2, 4);
    const closing = row > 0 && random() < 0.1 ? pick(open[row - 1], close[row - 1], low[row - 1]) : opening + size;
    const shadow = (): number => pick(0, 0, Math.abs(bell()) * 0.4, Math.abs(bell()) * 3);
    open[row] = snap(opening);
    close[row] = snap(closing);
    high[row] = snap(Math.max(open[row], close[row]) + shadow());
    low[row] = snap(Math.min(open[row], close[row]) - shadow());
    price = 100 + (close[row] - 100) * 0.98;
  }
  return columns;
}
