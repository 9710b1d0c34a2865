// The diagnosis of a portfolio run: what stands out between its instruments.
import type { FlatParts } from '../flatSummary.ts';
import { text } from '../conditionAdvice.ts';
import { info, percent, warning, type Diagnosis } from '../diagnosisFindings.ts';
import { rejectionAdvice } from '../conditionAdvice.ts';
import type { PortfolioRun, ReportInput } from '../reportInput.ts';
import type { InstrumentRow } from './instrumentRows.ts';
import { neverHeld } from './allocationFindings.ts';
import { listed } from './symbolList.ts';

/** An instrument that made more than this share of the net profit is named. */
const DOMINANT_SHARE = 0.5;
/** Held on at least this share of the instants, an instrument counts as always held. */
const NEARLY_ALWAYS = 0.9;
/** A mean weight within this share of the mean of all counts as equal to the others. */
const NEARLY_EQUAL = 0.25;
/** With a smaller share of equity at work, on average, cash is part of the result, and the benchmark has none. */
const NEARLY_INVESTED = 0.95;

/** @param rows all instruments, the largest contribution first */
export function portfolioDiagnosis(
  report: ReportInput,
  portfolio: PortfolioRun,
  rows: readonly InstrumentRow[],
  flat: Pick<FlatParts, 'money'>,
): Diagnosis[] {
  return [
    ...heldNothing(report, portfolio),
    ...lostSignals(report, portfolio),
    ...dominance(rows, flat.money.netProfit),
    ...closedMarkets(portfolio, rows),
    ...holdsItsBenchmark(report, rows),
  ];
}

function heldNothing({ input }: ReportInput, { simulation: { counts, rebalancing } }: PortfolioRun): Diagnosis[] {
  if (rebalancing === null || counts.entriesFilled > 0 || input.end <= input.start) return [];
  return [neverHeld(rebalancing)];
}

/** Signals that found no slot or no cash. */
function lostSignals(report: ReportInput, { simulation }: PortfolioRun): Diagnosis[] {
  const { rankedOut, counts, contestedFunds } = simulation;
  const unpaid = counts.ordersRejected.INSUFFICIENT_BALANCE;
  if (rankedOut.count === 0 && unpaid === 0) return [];
  const { count, atClose, atFill, mostAtOnce, largestLost, smallestTaken } = rankedOut;
  const ranks =
    largestLost === null || smallestTaken === null
      ? ''
      : ` The largest rank that lost was ${text(largestLost)}, the smallest that got in ${text(smallestTaken)}.`;
  const atOnce =
    mostAtOnce === 0
      ? ', each when its order would have filled'
      : `. At most ${mostAtOnce} ${mostAtOnce === 1 ? 'signal was' : 'signals were'} lost at the same close`;
  const later = atClose > 0 && atFill > 0 ? `, ${atFill} of them when their order would have filled` : '';
  const slots =
    count === 0 ? '' : `${count} of ${counts.entrySignals} entry signals found no free slot${later}${atOnce}.${ranks}`;
  const contested =
    contestedFunds === 0
      ? ''
      : `${contestedFunds} ${contestedFunds === 1 ? 'fill' : 'fills'} lacked cash or a slot that another instrument ` +
        'freed in the same bar.';
  const cash = unpaid === 0 ? '' : `${unpaid} ${unpaid === 1 ? 'order was' : 'orders were'} rejected for lack of cash.`;
  const advice =
    count === 0
      ? rejectionAdvice('INSUFFICIENT_BALANCE', report)
      : 'Raise config.portfolio.slots with smaller sizes, or give entries a rank that picks the better ones.';
  return [warning('SIGNALS_LOST', null, [slots, cash, contested].filter((part) => part !== '').join(' '), advice)];
}

function dominance([largest, ...others]: readonly InstrumentRow[], netProfit: number): Diagnosis[] {
  // Of two instruments one nearly always made more than half.
  if (!(netProfit > 0) || others.filter(({ trades }) => trades > 0).length < 2) return [];
  if (!(largest.netPnl > DOMINANT_SHARE * netProfit)) return [];
  const share = percent(largest.netPnl / netProfit);
  const message = `${largest.symbol} made ${text(largest.netPnl)}, ${share} of the net profit of ${text(netProfit)}.`;
  const advice = `Run it without ${largest.symbol}: a result that rests on one instrument may be luck.`;
  return [warning('ONE_INSTRUMENT_DOMINATES', null, message, advice)];
}

/** Markets that close on some days and still paid funding, which only perpetual futures have. */
function closedMarkets({ instruments, bySymbol }: PortfolioRun, rows: readonly InstrumentRow[]): Diagnosis[] {
  const paid = new Map(rows.map(({ symbol, funding }) => [symbol, funding]));
  const closed = bySymbol
    .map((index) => instruments[index])
    .filter(({ symbol, input }) => !input.instrument.tradesAllDay && paid.get(symbol) !== 0)
    .map(({ symbol }) => symbol);
  if (closed.length === 0) return [];
  const verb = closed.length === 1 ? 'does' : 'do';
  const message = `${listed(closed)} ${verb} not trade all week and still paid or received funding.`;
  const advice = 'Set config.fundingRate to 0, or run perpetual futures apart from these instruments.';
  return [warning('FUNDING_OF_CLOSED_MARKETS', null, message, advice)];
}

/** Whether every instrument is held nearly always and in nearly equal parts, as the benchmark holds them. */
function holdsItsBenchmark({ benchmark }: ReportInput, rows: readonly InstrumentRow[]): Diagnosis[] {
  if (benchmark !== undefined || rows.length < 2) return [];
  const invested = rows.reduce((sum, { averageWeightPct }) => sum + (averageWeightPct ?? 0), 0);
  if (invested < NEARLY_INVESTED) return [];
  const mean = invested / rows.length;
  const isLike = rows.every(
    ({ averageWeightPct, timeHeldPct }) =>
      (timeHeldPct ?? 0) >= NEARLY_ALWAYS && Math.abs((averageWeightPct ?? 0) - mean) <= NEARLY_EQUAL * mean,
  );
  if (!isLike) return [];
  const message = 'Every instrument was held nearly all the time, in nearly equal parts: what the benchmark holds.';
  const advice = 'Compare the costs: the benchmark pays none. Select fewer instruments if the rules are to matter.';
  return [info('HOLDS_ITS_BENCHMARK', null, message, advice)];
}
