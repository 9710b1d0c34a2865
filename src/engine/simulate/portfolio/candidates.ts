// Candidates: what an allocation reads of every member at the close of one instant.
import type { AllocationRule, LegRule, ValueSource } from '../../evaluate/tradingRules.ts';
import { hasBit } from '../../kernels/bits.ts';
import { readPrice } from '../levels.ts';
import type { Member } from './member.ts';
import type { Candidate, LegFacts } from './targets.ts';

/** The row of each member, by its place in the list; -1: it has no bar, or its warm-up has not ended. */
type Rows = Int32Array;
type Reading<T> = (rows: Rows) => T;

/**
 * Makes a function that reads all members as candidates, in the order of the list. It reads one column of all members
 * after the other, since the processor waits for several members at once then.
 */
export function candidateReader(members: readonly Member[]): (rows: Rows, equity: number) => Candidate[] {
  const longOf = legReader(members, ({ long }) => long);
  const shortOf = legReader(members, ({ short }) => short);
  const weightOf = valueReader(members, ({ weights }) => weights.by, 1);
  return (rows, equity) => {
    const long = longOf(rows);
    const short = shortOf(rows);
    const weightBy = weightOf(rows);
    return members.map(({ run, open, quantity, mark }, at) => ({
      symbol: run.input.instrument.symbol,
      isPresent: rows[at] >= 0,
      long: long && long[at],
      short: short && short[at],
      weightBy: weightBy[at],
      weight: open === 0 ? 0 : (quantity * mark) / equity,
    }));
  };
}

/** @param ruleOf null: the allocation has no such leg */
function legReader(
  members: readonly Member[],
  ruleOf: (allocation: AllocationRule) => LegRule | null,
): Reading<LegFacts[] | null> {
  if (ruleOf(members[0].run.input.allocation!) === null) return () => null;
  const byOf = valueReader(members, (allocation) => ruleOf(allocation)!.by, 0);
  const whereOf = truthReader(members, (allocation) => ruleOf(allocation)!.where);
  const requireOf = truthReader(members, (allocation) => ruleOf(allocation)!.require);
  return (rows) => {
    const by = byOf(rows);
    const where = whereOf(rows);
    const require = requireOf(rows);
    return members.map((_, at) => ({ by: by[at], where: where[at] === 1, require: require[at] === 1 }));
  };
}

/** Values are NaN where a member has no row, and `otherwise` where the allocation does not ask. */
function valueReader(
  members: readonly Member[],
  sourceOf: (allocation: AllocationRule) => ValueSource | null,
  otherwise: number,
): Reading<Float64Array> {
  const sources = members.map(({ run }) => sourceOf(run.input.allocation!));
  return (rows) => {
    const values = new Float64Array(rows.length);
    for (let at = 0; at < rows.length; at++) {
      const source = sources[at];
      if (rows[at] < 0) values[at] = NaN;
      else values[at] = source === null ? otherwise : readPrice(members[at].run, source, rows[at]);
    }
    return values;
  };
}

/** 1: true, or the allocation does not ask; 0 where a member has no row. */
function truthReader(
  members: readonly Member[],
  bitsOf: (allocation: AllocationRule) => Uint32Array | null,
): Reading<Uint8Array> {
  const columns = members.map(({ run }) => bitsOf(run.input.allocation!));
  return (rows) => {
    const truths = new Uint8Array(rows.length);
    for (let at = 0; at < rows.length; at++) {
      const bits = columns[at];
      truths[at] = Number(rows[at] >= 0 && (bits === null || hasBit(bits, rows[at])));
    }
    return truths;
  };
}
