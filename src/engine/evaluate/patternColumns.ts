// Columns of patterns: all that a plan reads on the same bars are computed in one call, as numbers or as bits.
import { leadingOnes } from '../kernels/bits.ts';
import type { ConditionColumn, ValueColumn } from '../kernels/column.ts';
import { or } from '../kernels/logic.ts';
import { newKeptWords } from '../kernels/sharedBuffer.ts';
import { computePatterns, findPatterns, type PatternSide } from '../patterns/patternDefinition.ts';
import type { PriceColumns } from '../patterns/candles.ts';
import type { PatternSides } from '../patterns/signs.ts';
import type { ConditionStep, Step, ValueStep } from '../plan/plan.ts';
import type { ColumnStore } from './columnStore.ts';
import { compareColumns } from './leafConditions.ts';
import type { StepInputs } from './stepInputs.ts';

type PatternStep = ValueStep & { op: 'pattern' };
type PatternSideStep = ConditionStep & { op: 'pattern_side' };

/** Whether a step makes the values of a candlestick pattern. */
export const isPattern = (step: Step): step is PatternStep => step.op === 'pattern';

/** One call computes every pattern of these bars. The others go to the store, where their own steps find them. */
export function patternColumn(step: PatternStep, pattern: PatternStep, columns: StepInputs): ValueColumn;
export function patternColumn(step: PatternSideStep, pattern: PatternStep, columns: StepInputs): ConditionColumn;
export function patternColumn(
  step: PatternStep | PatternSideStep,
  pattern: PatternStep,
  columns: StepInputs,
): ValueColumn | ConditionColumn {
  const [open, high, low, close] = pattern.inputs.map((slot) => columns.value(slot).values);
  const isMissing = (other: Step): boolean => !columns.isKept(other.key);
  const make = step.type === 'value' ? patternValues : patternSides;
  const made = make({ open, high, low, close }, columns.plan.steps, pattern, step, isMissing, columns.store);
  for (const [other, column] of made) if (other !== step) columns.keep(other.key, column);
  return made.get(step)!;
}

/** The values of a pattern, and of the others on its bars that are not kept yet. */
function patternValues(
  prices: PriceColumns,
  steps: readonly Step[],
  pattern: PatternStep,
  asked: Step,
  isMissing: (step: Step) => boolean,
  store: ColumnStore,
): Map<Step, ValueColumn> {
  const n = prices.open.length;
  const readAsValues = new Set(steps.flatMap((step) => (step.op === 'pattern_side' ? [] : step.inputs)));
  const missing = steps.filter(
    (step): step is PatternStep =>
      isPattern(step) &&
      step.inputs.join() === pattern.inputs.join() &&
      (step === asked || (readAsValues.has(step.slot) && isMissing(step))),
  );
  const requests = missing.map(({ definition, args }) => ({ definition, args, out: store.allocate(n) }));
  computePatterns(prices, requests);
  return new Map(
    requests.map(({ definition, args, out }, index) => {
      const firstValid = Math.min(n, definition.lookback(args));
      out.fill(NaN, 0, firstValid);
      return [missing[index], { values: out, firstValid, hasHoles: false }];
    }),
  );
}

/** The side of a pattern whose values are not read, and those of the others on its bars that are not kept yet. */
function patternSides(
  prices: PriceColumns,
  steps: readonly Step[],
  pattern: PatternStep,
  asked: Step,
  isMissing: (step: Step) => boolean,
): Map<Step, ConditionColumn> {
  const n = prices.open.length;
  const missing = steps.flatMap((step) => {
    if (step.op !== 'pattern_side') return [];
    const of = steps[step.inputs[0]];
    const isHere = isPattern(of) && of.inputs.join() === pattern.inputs.join();
    return isHere && (step === asked || isMissing(step)) ? [{ step, of }] : [];
  });
  const patterns = [...new Set(missing.map(({ of }) => of))];
  const found = new Map(findPatterns(prices, patterns).map((sides, index) => [patterns[index], sides]));
  return new Map(
    missing.map(({ step, of }) => [
      step,
      {
        isTrue: bitsOf(step.side, found.get(of)!),
        isUnknown: leadingOnes(Math.min(n, of.definition.lookback(of.args))),
      },
    ]),
  );
}

const bitsOf = (side: PatternSide | 'any', { bullish, bearish }: PatternSides): Uint32Array =>
  side === 'any' ? bullish.map((word, at) => word | bearish[at]) : side === 'bullish' ? bullish : bearish;

/** The side of pattern values that have been shifted or are of another timeframe. */
export function patternSide(
  side: PatternSide | 'any',
  column: ValueColumn,
  n: number,
  out: Uint32Array,
): ConditionColumn {
  if (side === 'bullish') return compareColumns('gt', column, 0, 0, n, out);
  if (side === 'bearish') return compareColumns('lt', column, 0, 0, n, out);
  const bullish = compareColumns('gt', column, 0, 0, n, newKeptWords(out.length));
  return or([bullish, compareColumns('lt', column, 0, 0, n, newKeptWords(out.length))], out);
}
