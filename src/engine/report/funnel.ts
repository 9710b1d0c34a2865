// The funnel: how many bars of a run became signals, orders and entries.
import { countBits, wordCount } from '../kernels/bits.ts';
import type { PortfolioResult, RebalanceCounts } from '../simulate/portfolio/portfolioSimulation.ts';
import type { ReportInput } from './reportInput.ts';
import type { ConditionBits } from './conditionBits.ts';

export interface EntryFunnel {
  /** The entry's id. */
  readonly rule: string;
  /** Bars on which the whole entry was neither true nor false. */
  readonly barsUnknown: number;
  /** null: the entry has no setup. */
  readonly setupTrue: number | null;
  readonly triggerTrue: number;
  readonly setupAndTrigger: number;
  /** After each filter, in order: bars on which setup, trigger and the filters so far were true. */
  readonly afterFilter: readonly { readonly nodeId: string; readonly path: string; readonly count: number }[];
}

export interface Funnel extends Omit<EntryFunnel, 'rule'> {
  readonly barsTotal: number;
  readonly barsWarmup: number;
  readonly entrySignals: number;
  readonly blockedInPosition: number;
  readonly blockedCooldown: number;
  readonly blockedMaxPositions: number;
  readonly ordersRejected: Readonly<Record<string, number>>;
  readonly ordersExpired: number;
  readonly ordersReplaced: number;
  readonly entriesFilled: number;
  /** Signals that no free slot was left for; absent in runs of one instrument. */
  readonly rankedOut?: PortfolioResult['rankedOut'];
  /** Of an allocation; absent in runs of rules. */
  readonly allocation?: RebalanceCounts;
  readonly exits: Readonly<Record<string, number>>;
  /**
   * The same counts per entry rule. Those above are sums over all of them, and `afterFilter` above lists the filters of
   * one after the other.
   */
  readonly entries: readonly EntryFunnel[];
}

/** The counts of a run that are not of its conditions. */
type RunCounts = Pick<Funnel, 'barsTotal' | 'barsWarmup' | 'exits'> & Pick<ReportInput, 'simulation'>;

/** @param exits trades by reason, in the order in which the reasons first occur */
export const funnelOf = (report: ReportInput, bits: readonly ConditionBits[], exits: Funnel['exits']): Funnel =>
  funnelFrom(entryFunnels(report, bits), { ...barCounts(report), exits, simulation: report.simulation });

/** The counts of each entry rule. */
export const entryFunnels = (
  { boundRules, input }: Pick<ReportInput, 'boundRules' | 'input'>,
  bits: readonly ConditionBits[],
): EntryFunnel[] =>
  boundRules.entries.map((entry, index) => entryFunnel(entry.id, index, bits, input.start, input.end));

/** The bars of the range, and of these the ones before the first that may signal. */
export const barCounts = ({
  input,
  firstRow,
  endRow,
}: Pick<ReportInput, 'input' | 'firstRow' | 'endRow'>): Pick<Funnel, 'barsTotal' | 'barsWarmup'> => ({
  barsTotal: endRow - firstRow,
  barsWarmup: Math.max(0, Math.min(input.start, endRow) - firstRow),
});

export function funnelFrom(
  entries: readonly EntryFunnel[],
  { barsTotal, barsWarmup, exits, simulation: { counts } }: RunCounts,
): Funnel {
  const total = (read: (entry: EntryFunnel) => number): number => entries.reduce((sum, entry) => sum + read(entry), 0);
  return {
    barsTotal,
    barsWarmup,
    barsUnknown: total((entry) => entry.barsUnknown),
    setupTrue: entries.every((entry) => entry.setupTrue === null) ? null : total((entry) => entry.setupTrue ?? 0),
    triggerTrue: total((entry) => entry.triggerTrue),
    setupAndTrigger: total((entry) => entry.setupAndTrigger),
    afterFilter: entries.flatMap((entry) => entry.afterFilter),
    entrySignals: counts.entrySignals,
    blockedInPosition: counts.blockedInPosition,
    blockedCooldown: counts.blockedCooldown,
    blockedMaxPositions: counts.blockedMaxPositions,
    ordersRejected: counts.ordersRejected,
    ordersExpired: counts.ordersExpired,
    ordersReplaced: counts.ordersReplaced,
    entriesFilled: counts.entriesFilled,
    exits,
    entries,
  };
}

function entryFunnel(
  rule: string,
  index: number,
  bits: readonly ConditionBits[],
  start: number,
  end: number,
): EntryFunnel {
  const tops = bits.filter(({ node }) => node.ruleIndex === index && node.role !== 'exit' && node.parent === null);
  if (tops.length === 1) return triggerFunnel(rule, tops[0], start, end);
  const together = new Uint32Array(wordCount(end)).fill(0xffffffff);
  const maybe = together.slice();
  const narrow = (part: ConditionBits): number => {
    for (let w = 0; w < together.length; w++) {
      together[w] &= part.isTrue[w];
      maybe[w] &= part.isTrue[w] | (w < part.isUnknown.length ? part.isUnknown[w] : 0);
    }
    return countBits(together, start, end);
  };
  const [setup] = tops.filter(({ node }) => node.role === 'setup');
  const [trigger] = tops.filter(({ node }) => node.role === 'trigger');
  const setupTrue = setup ? narrow(setup) : null;
  const setupAndTrigger = narrow(trigger);
  const afterFilter = tops
    .filter(({ node }) => node.role === 'filter')
    .map((part) => ({ nodeId: part.node.nodeId, path: part.node.path, count: narrow(part) }));
  for (let w = 0; w < maybe.length; w++) maybe[w] &= ~together[w];
  return {
    rule,
    barsUnknown: countBits(maybe, start, end),
    setupTrue,
    triggerTrue: countBits(trigger.isTrue, start, end),
    setupAndTrigger,
    afterFilter,
  };
}

/** The funnel of an entry that has only a trigger. */
function triggerFunnel(rule: string, { isTrue, isUnknown }: ConditionBits, start: number, end: number): EntryFunnel {
  const triggerTrue = countBits(isTrue, start, end);
  return {
    rule,
    barsUnknown: countBits(isUnknown, start, end),
    setupTrue: null,
    triggerTrue,
    setupAndTrigger: triggerTrue,
    afterFilter: [],
  };
}
