// Conditions: comparing columns into words of bits, and three-valued logic on those words.
import { Bench } from 'tinybench';
import { inspect } from '../src/engine/kernels/column.ts';
import { compareColumns, crossColumns } from '../src/engine/evaluate/leafConditions.ts';
import { and, or, rollingWindow, withinRows } from '../src/engine/kernels/logic.ts';
import { type ConditionColumn } from '../src/engine/kernels/column.ts';
import { wordCount } from '../src/engine/kernels/bits.ts';
import { seededRandom } from '../test/support/scale.ts';
import { barCount, measure, rounds } from './measure.ts';

export function suite(count = barCount(1_000_000)): Bench {
  const random = seededRandom(5);
  const column = () => inspect(Float64Array.from({ length: count }, random));
  const [left, right] = [column(), column()];
  const words = () => new Uint32Array(wordCount(count));
  const compared = (number: number): ConditionColumn => compareColumns('gt', left, number, 0, count, words());
  const conditions = [compared(0.2), compared(0.5), compareColumns('lt', left, right, 0, count, words())];
  const bench = new Bench(rounds(30));
  bench.add(`conditions/compare two columns/${count}`, () => compareColumns('gt', left, right, 0, count, words()));
  bench.add(`conditions/compare with a number/${count}`, () => compareColumns('gt', left, 0.5, 0, count, words()));
  bench.add(`conditions/within a tolerance/${count}`, () => compareColumns('eq', left, right, 0.1, count, words()));
  bench.add(`conditions/cross_up/${count}`, () => crossColumns('up', left, right, count, words()));
  bench.add(`conditions/all of three/${count}`, () => and(conditions, words()));
  bench.add(`conditions/any of three/${count}`, () => or(conditions, words()));
  bench.add(`conditions/within 5 bars/${count}`, () => withinRows(conditions[1], 5, count));
  bench.add(`conditions/count_gt 3 of 10/${count}`, () => rollingWindow(conditions[1], 10, 'count_gt', 3, count));
  return bench;
}

if (import.meta.main) await measure(suite());
