// Candidates: what an allocation reads of every member at the close of one instant.
import type { AllocationRule, LegRule, ValueSource } from '../../evaluate/tradingRules.ts';
import { hasBit } from '../../kernels/bits.ts';
import { readPrice } from '../levels.ts';
import type { Member } from './member.ts';
import type { Candidate, LegFacts } from './targets.ts';

/** The row of each member, by its place in the list; -1: it has no bar, or its warm-up has not ended. */
type Rows = Int32Array;
type Reading<T> = (rows: Rows) => T;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Makes a function that reads all members as candidates, in the order of the list, valid until its next call. It reads
 * one column of all members after the other, since the processor waits for several members at once then.
 */
export function candidateReader(members: readonly Member[]): (rows: Rows, equity: number) => readonly Candidate[] {
  const longOf = legReader(members, ({ long }) => long);
  const shortOf = legReader(members, ({ short }) => short);
  const weightOf = valueReader(members, ({ weights }) => weights.by, 1);
  const candidates = members.map(({ run }): Mutable<Candidate> => ({
    symbol: run.input.instrument.symbol,
    isPresent: false,
    long: null,
    short: null,
    weightBy: NaN,
    weight: NaN,
  }));
  return (rows, equity) => {
    const long = longOf(rows);
    const short = shortOf(rows);
    const weightBy = weightOf(rows);
    for (let at = 0; at < candidates.length; at++) {
      const candidate = candidates[at];
      const { open, quantity, mark } = members[at];
      candidate.isPresent = rows[at] >= 0;
      candidate.long = long && long[at];
      candidate.short = short && short[at];
      candidate.weightBy = weightBy[at];
      candidate.weight = open === 0 ? 0 : (quantity * mark) / equity;
    }
    return candidates;
  };
}

/** @param ruleOf null: the allocation has no such leg */
function legReader(
  members: readonly Member[],
  ruleOf: (allocation: AllocationRule) => LegRule | null,
): Reading<readonly LegFacts[] | null> {
  if (ruleOf(members[0].run.input.allocation!) === null) return () => null;
  const byOf = valueReader(members, (allocation) => ruleOf(allocation)!.by, 0);
  const whereOf = truthReader(members, (allocation) => ruleOf(allocation)!.where);
  const requireOf = truthReader(members, (allocation) => ruleOf(allocation)!.require);
  const facts = members.map((): Mutable<LegFacts> => ({ by: NaN, where: false, require: false }));
  return (rows) => {
    const by = byOf(rows);
    const where = whereOf(rows);
    const require = requireOf(rows);
    for (let at = 0; at < facts.length; at++) {
      const each = facts[at];
      each.by = by[at];
      each.where = where[at] === 1;
      each.require = require[at] === 1;
    }
    return facts;
  };
}

/** Values are NaN where a member has no row, and `otherwise` where the allocation does not ask. */
function valueReader(
  members: readonly Member[],
  sourceOf: (allocation: AllocationRule) => ValueSource | null,
  otherwise: number,
): Reading<Float64Array> {
  const sources = members.map(({ run }) => sourceOf(run.input.allocation!));
  // What most values are read from: the way to a column through its source takes longer than reading it.
  const columns = sources.map((source) => (source?.kind === 'column' ? source.values : null));
  const values = new Float64Array(members.length);
  return (rows) => {
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at];
      const column = columns[at];
      if (row < 0) values[at] = NaN;
      else if (column !== null) values[at] = column[row];
      else values[at] = otherwiseAt(members[at], sources[at], row, otherwise);
    }
    return values;
  };
}

const otherwiseAt = ({ run }: Member, source: ValueSource | null, row: number, otherwise: number): number =>
  source === null ? otherwise : readPrice(run, source, row);

/** 1: true, or the allocation does not ask; 0 where a member has no row. */
function truthReader(
  members: readonly Member[],
  bitsOf: (allocation: AllocationRule) => Uint32Array | null,
): Reading<Uint8Array> {
  const columns = members.map(({ run }) => bitsOf(run.input.allocation!));
  const truths = new Uint8Array(members.length);
  return (rows) => {
    for (let at = 0; at < rows.length; at++) {
      const bits = columns[at];
      truths[at] = Number(rows[at] >= 0 && (bits === null || hasBit(bits, rows[at])));
    }
    return truths;
  };
}
