// Warnings about a portfolio run: bars that its instruments lack, prices not adjusted for splits, missing ranks, places
// that no instrument can take.
import { CONTRADICTION_ADVICE } from '../../bars/contradictionCause.ts';
import { DAY_MS } from '../../bars/bars.ts';
import type { ValidationIssue } from '../../language/issues/issues.ts';
import type { BacktestTask } from '../../task.ts';
import type { InstrumentRun, PortfolioRun, ReportInput } from '../reportInput.ts';
import { percent } from '../diagnosisFindings.ts';
import { tradingDayWarnings } from '../tradingDayWarnings.ts';
import { configWarning, configWarnings, contradictionText } from '../warnings.ts';
import { disagreements } from './disagreements.ts';
import { splitsWhileHeld } from './splitsWhileHeld.ts';
import { listed } from './symbolList.ts';

const INSTRUMENTS = '/config/instruments';
/** Data that ends less before the end of the run than this is closed with the others. */
const EARLY_MS = 7 * DAY_MS;
/** Holidays of one market that are none of another's make 1 to 3 % of the days. */
const MANY_MISSING = 0.05;

/** The warnings of a run of one instrument, and those about several. */
export function portfolioWarnings(task: BacktestTask, report: ReportInput, portfolio: PortfolioRun): ValidationIssue[] {
  const common = configWarnings(task.strategyAst, report);
  const instruments = portfolio.bySymbol.map((index) => portfolio.instruments[index]);
  const contradicted = contradictions(instruments, portfolio.isNamed);
  return [...common, ...tradingDayWarnings(report), ...contradicted, ...universeWarnings(task, report, portfolio)];
}

/** The warnings about several instruments in one account. */
export function universeWarnings(
  task: BacktestTask,
  report: Pick<ReportInput, 'input' | 'endRow'>,
  portfolio: PortfolioRun,
): ValidationIssue[] {
  if (!portfolio.isNamed) return [];
  return [
    ...withoutBars(portfolio.bySymbol.map((index) => portfolio.instruments[index])),
    ...endingEarly(report, portfolio),
    ...withoutRank(portfolio),
    ...morePlacesThanInstruments(portfolio),
    ...splits(portfolio),
    ...differentSessions(report, portfolio),
    ...disagreements(task, portfolio),
  ];
}

/** One warning about all instruments whose finer bars contradict their base bars. */
function contradictions(instruments: readonly InstrumentRun[], isNamed: boolean): ValidationIssue[] {
  const found = instruments.flatMap((instrument) => {
    const text = contradictionText(instrument);
    return text === null ? [] : [{ symbol: instrument.symbol, text }];
  });
  if (found.length === 0) return [];
  const others = found.slice(1).map(({ symbol }) => symbol);
  const more = others.length === 0 ? '' : ` The finer bars of ${listed(others)} contradict theirs, too.`;
  const message = isNamed ? `${found[0].symbol}: ${found[0].text}${more}` : found[0].text;
  return [configWarning('FINER_BARS_CONTRADICT', '/config/timeframe', message, CONTRADICTION_ADVICE)];
}

function withoutBars(instruments: readonly InstrumentRun[]): ValidationIssue[] {
  const absent = instruments.filter(({ firstRow, endRow }) => endRow <= firstRow);
  const short = instruments.filter(({ firstRow, endRow, input }) => endRow > firstRow && input.start >= input.end);
  const found: ValidationIssue[] = [];
  if (absent.length > 0) {
    const message = `There are no bars in the range of ${listed(symbolsOf(absent))}.`;
    const advice = 'Import their bars, use another range, or take them out of config.instruments.';
    found.push(configWarning('INSTRUMENT_WITHOUT_BARS', INSTRUMENTS, message, advice));
  }
  if (short.length > 0) {
    const message = `All bars in the range of ${listed(symbolsOf(short))} are warm-up: they never signal.`;
    const advice = 'Import earlier bars, use a longer range, or shorter periods.';
    found.push(configWarning('INSTRUMENT_WITHOUT_BARS', INSTRUMENTS, message, advice));
  }
  return found;
}

const symbolsOf = (instruments: readonly InstrumentRun[]): string[] => instruments.map(({ symbol }) => symbol);

function endingEarly(
  { endRow }: Pick<ReportInput, 'endRow'>,
  { instruments, bySymbol, axis }: PortfolioRun,
): ValidationIssue[] {
  const last = endRow === 0 ? -Infinity : axis.time[endRow - 1];
  const early = bySymbol
    .map((index) => instruments[index])
    .filter(({ firstRow, endRow: end, input }) => end > firstRow && last - input.bars.time[end - 1] > EARLY_MS);
  if (early.length === 0) return [];
  const ends = early.map(({ symbol, endRow: end, input }) => `${symbol} (${dayOf(input.bars.time[end - 1])})`);
  const message = `The data of ${listed(ends)} ends before the run does (${dayOf(last)}); positions are closed there.`;
  const advice = 'Import the bars up to the end of the run; if trading ended there, nothing needs to be done.';
  return [configWarning('DATA_ENDS_EARLY', INSTRUMENTS, message, advice)];
}

function withoutRank({ simulation: { rankedOut } }: PortfolioRun): ValidationIssue[] {
  if (!rankedOut.isUnranked) return [];
  const message = 'More entries signaled at one close than there were slots, and the order of the list decided.';
  const advice = 'Give each entry a rank, so that the order of config.instruments decides nothing.';
  return [configWarning('SIGNALS_WITHOUT_RANK', '/config/portfolio/slots', message, advice)];
}

/** Places that no instrument can ever take: where legs count places, and not shares of what is eligible. */
function morePlacesThanInstruments({ instruments }: PortfolioRun): ValidationIssue[] {
  const { allocation } = instruments[0].boundRules;
  // Of fixed weights, an empty place has none.
  if (allocation === null || allocation.weights.values !== null) return [];
  const { long, short, fallback } = allocation;
  let places = 0;
  for (const leg of [long, short]) {
    if (leg === null) continue;
    if (leg.places.kind !== 'count') return [];
    places += leg.places.count;
  }
  const ranked = instruments.filter(({ symbol }) => symbol !== fallback).length;
  if (places <= ranked) return [];
  const empty = `${percent((places - ranked) / places)} of the gross or more`;
  const rest = fallback === null ? `${empty} stayed in cash` : `${fallback} took ${empty}`;
  const among = fallback === null ? '' : ` besides the fallback ${fallback}`;
  const message =
    `The allocation has ${places} places for ${ranked} ${ranked === 1 ? 'instrument' : 'instruments'}${among}: ` +
    `${rest} at every rebalance.`;
  const advice =
    `Use at most ${ranked} places (top and bottom), omit top to share the gross among all eligible instruments, ` +
    'or add instruments to config.instruments.';
  return [configWarning('PLACES_WITHOUT_INSTRUMENTS', INSTRUMENTS, message, advice)];
}

function splits(portfolio: PortfolioRun): ValidationIssue[] {
  const found = splitsWhileHeld(portfolio);
  if (found.length === 0) return [];
  const shown = found.map(({ symbol, time, ratio }) => `${symbol} on ${dayOf(time)} (${ratio})`);
  const message = `While held, the price jumped by the ratio of a split: ${listed(shown)}.`;
  const advice = 'Import prices that are adjusted for splits; if the jump is real, nothing needs to be done.';
  return [configWarning('SPLIT_WHILE_HELD', INSTRUMENTS, message, advice)];
}

/** Orders at a close know the closes of the others, which a market with other hours cannot have had. */
function differentSessions(
  { input }: Pick<ReportInput, 'input'>,
  { instruments, bySymbol, axis }: PortfolioRun,
): ValidationIssue[] {
  if (input.config.execution.orderTiming !== 'bar_close') return [];
  const apart = bySymbol.filter((index) => missingShare(instruments[index], axis.instants[index]) >= MANY_MISSING);
  const allDay = new Set(instruments.map((each) => each.input.instrument.tradesAllDay));
  if (apart.length === 0 && allDay.size === 1) return [];
  const named = apart.length === 0 ? '' : `: ${listed(apart.map((index) => instruments[index].symbol))}`;
  const message =
    `Under bar_close the instruments decide at the same close, but their sessions differ${named}. A market that has ` +
    'closed cannot know the closes of one that is still open.';
  const advice = 'Use next_open, or instruments with the same sessions.';
  return [configWarning('SESSIONS_DIFFER', '/config/execution/orderTiming', message, advice)];
}

/** The share of the instants between its first and its last bar on which an instrument has none. */
function missingShare({ firstRow, endRow }: InstrumentRun, instants: Int32Array): number {
  if (endRow <= firstRow) return 0;
  const span = instants[endRow - 1] - instants[firstRow] + 1;
  return 1 - (endRow - firstRow) / span;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
