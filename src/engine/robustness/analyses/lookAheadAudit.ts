// The look-ahead audit: the same run on bars that end earlier must have the same signals, fills and equity up to there.
import type { Market, Universe } from '../../bars/bars.ts';
import { previewIndexes } from '../../report/equityPreview.ts';
import { bound } from '../bound.ts';
import { marketUpTo } from '../cutMarket.ts';
import { universeKnownAt } from '../cutUniverse.ts';
import { simulateRun, type RobustnessContext, type CheckRun } from '../checkRuns.ts';
import { counted } from '../finding.ts';
import { compareSignals, signalRows, tradeKeys, type SignalDifference } from '../signalRows.ts';
import type { Analysis } from './analysis.ts';
import { wholeOf } from './partOutcomes.ts';

/** How many cuts are right after a signal, where reading later bars would show; the others are evenly spaced. */
const SIGNAL_CUTS = 12;
const EVEN_CUTS = 4;

interface LookAheadAudit {
  /** null: there is nothing to cut. */
  readonly passed: boolean | null;
  readonly cuts: number;
  readonly signalsCompared: number;
  readonly signalsDiffering: number;
  readonly tradesCompared: number;
  readonly tradesDiffering: number;
  readonly equityDiffering: number;
  readonly first: SignalDifference | null;
}

export const lookAheadAnalysis = {
  name: 'lookAheadAudit',
  about: 'the same signals and fills on data that ends earlier',
  partsOf: () => 1,
  runsPerPart: 9,
  runPart: (check) =>
    check.withBaseline((baseline) => ({ kind: 'whole', value: lookAheadAudit(check.context, baseline) })),
  resultOf: (ended) => wholeOf(ended) as LookAheadAudit,
  boundsOf: (result) => [
    bound(
      'lookAheadDifferences',
      'lookAheadAudit',
      result === undefined || result.passed === null
        ? null
        : result.signalsDiffering + result.tradesDiffering + result.equityDiffering,
      '<=',
      0,
    ),
  ],
  findingsOf({ passed, first, signalsDiffering, tradesDiffering }) {
    if (passed !== false) return {};
    const where = first === null ? '' : `; first ${ruleText(first)} at ${new Date(first.time).toISOString()}`;
    const message =
      `The run looks ahead: on bars that end earlier, ${counted(signalsDiffering, 'signal')} and ` +
      `${counted(tradesDiffering, 'trade')} before the end are different${where}.`;
    return { faults: [{ code: 'LOOKS_AHEAD', severity: 'error', message }] };
  },
  reportOf: ({ passed }) => ({ audit: { title: 'look-ahead audit', passed } }),
} as const satisfies Analysis<LookAheadAudit>;

/** A rule, and in a portfolio the instrument that it was read on. */
const ruleText = ({ rule, symbol }: SignalDifference): string => (symbol === undefined ? rule : `${rule} of ${symbol}`);

/** The bars that were known at the close of row `rows` - 1 of the account. */
const knownUpTo = (market: Market | Universe, rows: number): Market | Universe =>
  'instruments' in market ? universeKnownAt(market, rows - 1) : marketUpTo(market, rows);

/** @param cutMarket cuts a market after a number of rows of the account; a test plants a look-ahead here */
export function lookAheadAudit(context: RobustnessContext, whole: CheckRun, cutMarket = knownUpTo): LookAheadAudit {
  const { start, end } = whole.input;
  const offsets = whole.prepared.instruments.map(() => 0);
  const signals = signalRows(whole, start, end - 1);
  const evenly = previewIndexes(Math.max(0, end - 1 - start), EVEN_CUTS).map((at) => start + at);
  const rows = new Set([...previewIndexes(signals.length, SIGNAL_CUTS).map((at) => signals[at]), ...evenly]);
  const total = { signalsCompared: 0, signalsDiffering: 0, tradesCompared: 0, tradesDiffering: 0, equityDiffering: 0 };
  let first: SignalDifference | null = null;
  let cuts = 0;
  for (const last of [...rows].sort((a, b) => a - b)) {
    const cut = simulateRun(context, context.task, cutMarket(context.market, last + 1));
    if ('code' in cut) continue;
    cuts++;
    const found = compareSignals(whole, cut, { from: start, to: last + 1, offsets, withValues: true });
    total.signalsCompared += found.compared;
    total.signalsDiffering += found.differing;
    if (found.first !== null && (first === null || found.first.time < first.time)) first = found.first;
    // The cut run of a portfolio has bars beyond the cut, with prices that stand still.
    const until = whole.portfolio && last + 1;
    const trades = tradeKeys(cut, { offsets, withPrices: true, until });
    const expected = tradeKeys(whole, { offsets, withPrices: true, until });
    total.tradesCompared += trades.length;
    total.tradesDiffering += trades.filter((key, at) => key !== expected[at]).length;
    if (whole.portfolio) total.tradesDiffering += Math.max(0, expected.length - trades.length);
    // The last mark is after the close at the end of the data, which only the cut run has.
    const marks = whole.portfolio ? last + 1 - start : Math.max(0, cut.simulation.equity.length - 1);
    for (let at = 0; at < marks; at++)
      if (cut.simulation.equity[at] !== whole.simulation.equity[at]) total.equityDiffering++;
  }
  const isSame = total.signalsDiffering + total.tradesDiffering + total.equityDiffering === 0;
  return { passed: cuts === 0 ? null : isSame, cuts, ...total, first };
}
