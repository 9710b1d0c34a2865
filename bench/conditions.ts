// Conditions: comparing columns into words of bits, and three-valued logic on those words.
import { Bench } from 'tinybench';
import { inspect } from '../src/engine/kernels/column.ts';
import { compareColumns, crossColumns } from '../src/engine/evaluate/leafConditions.ts';
import { and, or, withinRows } from '../src/engine/kernels/logic.ts';
import { rollingWindow } from '../src/engine/kernels/rollingCounts.ts';
import type { ConditionColumn, ValueColumn } from '../src/engine/kernels/column.ts';
import { wordCount } from '../src/engine/kernels/bits.ts';
import { seededRandom } from '../test/support/scale.ts';
import { barCount, measure, needs, onDemand, rounds } from './measure.ts';

export function suite(count = barCount(1_000_000)): Bench {
  const words = () => new Uint32Array(wordCount(count));
  const columns = onDemand(() => {
    const random = seededRandom(5);
    const column = () => inspect(Float64Array.from({ length: count }, random));
    return { left: column(), right: column() };
  });
  const conditions = onDemand(() => {
    const { left, right } = columns();
    const compared = (number: number): ConditionColumn => compareColumns('gt', left, number, 0, count, words());
    return [compared(0.2), compared(0.5), compareColumns('lt', left, right, 0, count, words())];
  });
  const bench = new Bench(rounds(30));
  const onColumns = (name: string, run: (left: ValueColumn, right: ValueColumn) => void): void =>
    void bench.add(`conditions/${name}/${count}`, () => run(columns().left, columns().right), needs(columns));
  const onConditions = (name: string, run: (conditions: readonly ConditionColumn[]) => void): void =>
    void bench.add(`conditions/${name}/${count}`, () => run(conditions()), needs(conditions));
  onColumns('compare two columns', (left, right) => compareColumns('gt', left, right, 0, count, words()));
  onColumns('compare with a number', (left) => compareColumns('gt', left, 0.5, 0, count, words()));
  onColumns('within a tolerance', (left, right) => compareColumns('eq', left, right, 0.1, count, words()));
  onColumns('cross_up', (left, right) => crossColumns('up', left, right, count, words()));
  onConditions('all of three', (all) => and(all, words()));
  onConditions('any of three', (all) => or(all, words()));
  onConditions('within 5 bars', ([, half]) => withinRows(half, 5, count));
  onConditions('count_gt 3 of 10', ([, half]) => rollingWindow(half, 10, 'count_gt', 3, count));
  return bench;
}

if (import.meta.main) await measure(suite());
