// Conditions of a portfolio run: the counts of each condition and entry, summed over the instruments.
import { countBits } from '../../kernels/bits.ts';
import { meet, PAIRED_LEAVES, type ConditionBits, type Window } from '../conditionBits.ts';
import type { ConditionStats, SideStats } from '../conditionStatistics.ts';
import type { EntryFunnel } from '../funnel.ts';

/** The statistics of one condition over several instruments, in the order of their symbols. */
export function summedStats(stats: readonly ConditionStats[]): ConditionStats {
  const [first] = stats;
  if (stats.length === 1) return first;
  const sum = (read: (each: ConditionStats) => number): number => stats.reduce((total, each) => total + read(each), 0);
  const evaluated = sum((each) => each.evaluated);
  const trueCount = sum((each) => each.trueCount);
  return {
    nodeId: first.nodeId,
    path: first.path,
    role: first.role,
    kind: first.kind,
    text: first.text,
    evaluated,
    trueCount,
    falseCount: sum((each) => each.falseCount),
    unknownCount: sum((each) => each.unknownCount),
    trueRate: evaluated === 0 ? null : trueCount / evaluated,
    firstTrueAt: extreme(stats, (each) => each.firstTrueAt, Math.min),
    lastTrueAt: extreme(stats, (each) => each.lastTrueAt, Math.max),
    transitions: sum((each) => each.transitions),
    maxStreakTrue: stats.reduce((most, each) => Math.max(most, each.maxStreakTrue), 0),
    soleBlockerCount: first.soleBlockerCount === null ? null : sum((each) => each.soleBlockerCount ?? 0),
    leftStats: summedSides(stats.map((each) => each.leftStats)),
    rightStats: summedSides(stats.map((each) => each.rightStats)),
  };
}

/** The least or greatest of the values that there are. */
function extreme<Each>(
  list: readonly Each[],
  read: (each: Each) => number | null,
  choose: (a: number, b: number) => number,
): number | null {
  let found: number | null = null;
  for (const each of list) {
    const value = read(each);
    if (value !== null) found = found === null ? value : choose(found, value);
  }
  return found;
}

/** The mean weighs each instrument by its sampled bars; the last value is that of the first symbol that has one. */
function summedSides(sides: readonly (SideStats | null)[]): SideStats | null {
  const present = sides.filter((side) => side !== null);
  if (present.length === 0) return null;
  let [sampled, weighed, total] = [0, 0, 0];
  for (const side of present) {
    sampled += side.sampled;
    if (side.mean === null) continue;
    weighed += side.sampled;
    total += side.mean * side.sampled;
  }
  return {
    min: extreme(present, (side) => side.min, Math.min),
    max: extreme(present, (side) => side.max, Math.max),
    mean: weighed === 0 ? null : total / weighed,
    last: present.find((side) => side.last !== null)?.last ?? null,
    sampled,
  };
}

/** The funnel of one entry over several instruments. */
export function summedFunnel(entries: readonly EntryFunnel[]): EntryFunnel {
  const [first] = entries;
  const sum = (read: (each: EntryFunnel) => number): number => entries.reduce((total, each) => total + read(each), 0);
  return {
    rule: first.rule,
    barsUnknown: sum((each) => each.barsUnknown),
    setupTrue: first.setupTrue === null ? null : sum((each) => each.setupTrue ?? 0),
    triggerTrue: sum((each) => each.triggerTrue),
    setupAndTrigger: sum((each) => each.setupAndTrigger),
    afterFilter: first.afterFilter.map(({ nodeId, path }, index) => ({
      nodeId,
      path,
      count: sum((each) => each.afterFilter[index].count),
    })),
  };
}

/** The bits of all conditions of one instrument, and the rows on which it is evaluated. */
export interface InstrumentBits {
  readonly bits: readonly ConditionBits[];
  readonly window: Window;
}

/**
 * Pairs of conditions: each condition was true on some bar of some instrument, but no instrument had a bar on which
 * both were true.
 */
export function neverTogetherAnywhere(
  conjuncts: readonly ConditionBits[],
  all: readonly InstrumentBits[],
): [ConditionBits, ConditionBits][] {
  const [first] = all;
  const leaves = conjuncts
    .map((conjunct) => ({ conjunct, index: first.bits.indexOf(conjunct) }))
    .filter(
      ({ conjunct, index }) =>
        conjunct.evaluatedRows === null &&
        all.some(({ bits, window }) => countBits(bits[index].isTrue, window.start, window.end) > 0),
    )
    .slice(0, PAIRED_LEAVES);
  const pairs: [ConditionBits, ConditionBits][] = [];
  for (const [place, a] of leaves.entries()) {
    for (const b of leaves.slice(place + 1)) {
      const meetAnywhere = all.some(({ bits, window }) => meet(bits[a.index].isTrue, bits[b.index].isTrue, window));
      if (!meetAnywhere) pairs.push([a.conjunct, b.conjunct]);
    }
  }
  return pairs;
}
