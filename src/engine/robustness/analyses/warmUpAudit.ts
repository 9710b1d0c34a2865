// The warm-up audit: whether signals change when the data before the first evaluated bar is only the warm-up, or a
// multiple of it, instead of everything there is.
import type { Market, Universe } from '../../bars/bars.ts';
import { lowerBound } from '../../kernels/search.ts';
import { bound } from '../bound.ts';
import { marketFrom } from '../cutMarket.ts';
import { universeFrom } from '../cutUniverse.ts';
import { simulateRun, type RobustnessContext, type CheckRun } from '../checkRuns.ts';
import { counted, warning } from '../finding.ts';
import { compareSignals, tradeKeys } from '../signalRows.ts';
import type { Analysis } from './analysis.ts';
import { wholeOf } from './partOutcomes.ts';

const MULTIPLES = [1, 2, 4, 8] as const;
/** Where in the evaluated range a run begins, as fractions. */
const STARTS = [0, 1 / 3, 2 / 3] as const;

interface WarmUpAudit {
  /** Whether the warm-up alone gives the signals of all the data; null: there is no bar before it to leave out. */
  readonly passed: boolean | null;
  readonly warmupBars: number;
  /** The smallest tested number of bars with which nothing differs; null: none of them. */
  readonly enoughBars: number | null;
  readonly byMultiple: readonly {
    readonly multiple: number;
    readonly starts: number;
    readonly signalsCompared: number;
    readonly signalsDiffering: number;
    readonly tradesDiffering: number;
    /** The largest difference of the return over the runs; null: no run. */
    readonly returnGap: number | null;
  }[];
}

export const warmUpAnalysis = {
  name: 'warmUpAudit',
  about: 'the same with only the warm-up before the range',
  partsOf: () => 1,
  runsPerPart: 8,
  runPart: (check) =>
    check.withBaseline((baseline) => ({ kind: 'whole', value: warmUpAudit(check.context, baseline) })),
  resultOf: (ended) => wholeOf(ended) as WarmUpAudit,
  boundsOf(result) {
    // Without a bar before the warm-up there is nothing that could differ.
    if (result?.passed === null) return [];
    const [shortest] = result?.byMultiple ?? [];
    const differing = shortest === undefined ? null : shortest.signalsDiffering + shortest.tradesDiffering;
    return [bound('warmUpDifferences', 'warmUpAudit', differing, '<=', 0)];
  },
  findingsOf({ passed, byMultiple: [shortest], enoughBars, warmupBars }) {
    if (passed !== false) return {};
    const enough = enoughBars === null ? 'No tested length is enough' : `${enoughBars} bars are enough`;
    const message =
      `With only the ${counted(warmupBars, 'bar')} of the warm-up before the start, ` +
      `${counted(shortest.signalsDiffering, 'signal')} and ${counted(shortest.tradesDiffering, 'trade')} are ` +
      `different. ${enough}; set settings.warmupPeriod.`;
    return { faults: [warning('WARMUP_TOO_SHORT', message)] };
  },
  reportOf: ({ passed }) => ({ audit: { title: 'warm-up audit', passed } }),
} as const satisfies Analysis<WarmUpAudit>;

/** Runs the backtest from several starts, with all the data before each and with multiples of the warm-up alone. */
export function warmUpAudit(context: RobustnessContext, whole: CheckRun): WarmUpAudit {
  const [{ warmup }] = whole.prepared.instruments;
  const { start, end, bars } = whole.input;
  const starts = STARTS.map((fraction) => start + Math.floor(fraction * (end - start)));
  const totals = MULTIPLES.map((multiple) => ({
    multiple,
    starts: 0,
    signalsCompared: 0,
    signalsDiffering: 0,
    tradesDiffering: 0,
    returnGap: null as number | null,
  }));
  for (const first of starts) {
    const task = {
      ...context.task,
      config: { ...context.task.config, range: { ...context.task.config.range, start: bars.time[first] } },
    };
    const full = simulateRun(context, task);
    if ('code' in full) continue;
    for (const total of totals) {
      const offsets = offsetsOf(full, first, total.multiple * warmup.bars);
      // With no bar left out there is nothing to compare.
      if (offsets.every((offset) => offset === 0)) continue;
      const cut = simulateRun(context, task, beginning(context.market, offsets));
      if ('code' in cut) continue;
      const { compared, differing } = compareSignals(full, cut, { from: first, to: end, offsets, withValues: false });
      total.starts++;
      total.signalsCompared += compared;
      total.signalsDiffering += differing;
      total.tradesDiffering += countDiffering(
        tradeKeys(full, { offsets: offsets.map(() => 0), withPrices: false }),
        tradeKeys(cut, { offsets, withPrices: false }),
      );
      total.returnGap = Math.max(total.returnGap ?? 0, Math.abs(returnOf(full) - returnOf(cut)));
    }
  }
  const tested = totals.filter((total) => total.starts > 0);
  const isStable = (total: (typeof totals)[number]): boolean => total.signalsDiffering + total.tradesDiffering === 0;
  // The longest warm-up is tested on the fewest starts; one that is enough must be followed by none that is not.
  const lastUnstable = tested.findLastIndex((total) => !isStable(total));
  const enough = tested[lastUnstable + 1];
  return {
    passed: tested[0]?.multiple === 1 ? isStable(tested[0]) : null,
    warmupBars: warmup.bars,
    enoughBars: enough === undefined ? null : enough.multiple * warmup.bars,
    byMultiple: tested,
  };
}

/** How many bars of each instrument lie more than a number of bars before row `first` of the account. */
function offsetsOf({ portfolio }: CheckRun, first: number, bars: number): readonly number[] {
  const rows =
    portfolio === undefined ? [first] : portfolio.axis.instants.map((instants) => lowerBound(instants, first));
  return rows.map((row) => Math.max(0, row - bars));
}

const beginning = (market: Market | Universe, offsets: readonly number[]): Market | Universe =>
  'instruments' in market ? universeFrom(market, offsets) : marketFrom(market, offsets[0]);

function countDiffering(a: readonly string[], b: readonly string[]): number {
  const [inA, inB] = [new Set(a), new Set(b)];
  return a.filter((key) => !inB.has(key)).length + b.filter((key) => !inA.has(key)).length;
}

function returnOf({ input, simulation }: CheckRun): number {
  const { initialBalance } = input.config;
  return (simulation.equity.at(-1) ?? initialBalance) / initialBalance - 1;
}
