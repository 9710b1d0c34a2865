// The blocks of a summary that are not lists: results by exit and by side, the circumstances of a run, and conventions;
// and their JSON.
import { TIMEFRAME_MS, type Instrument } from '../bars/bars.ts';
import { periodsPerYear, periodsPerYearReason } from '../bars/periodsPerYear.ts';
import type { ResolvedConfig } from '../config.ts';
import { lostIn } from '../kernels/compensatedSum.ts';
import type { SimulationResult } from '../simulate/simulation.ts';
import { EXIT_REASONS } from '../definitions/exitReasons/exitReasons.ts';
import { dataQuality, dataQualityJson, type DataQuality } from './dataQuality.ts';
import type { ExitStatistics } from './exitStatistics.ts';
import { constantJson, type JsonWriter, type WrittenText } from './jsonWriter.ts';
import type { Positions } from './positions.ts';
import type { ReportInput } from './reportInput.ts';

interface SideResult {
  readonly positions: number;
  readonly pnl: number;
  readonly winRate: number | null;
}

export interface Breakdowns {
  readonly byExitReason: ExitStatistics['byReason'];
  readonly bySide: Readonly<Record<'long' | 'short', SideResult>>;
}

export interface Circumstances {
  readonly fees: {
    readonly total: number;
    readonly maker: number;
    readonly taker: number;
    readonly tiers: readonly object[];
  };
  readonly ambiguity: Ambiguity;
  readonly dataQuality: DataQuality;
  readonly evaluationWindow: EvaluationWindow;
}

interface Ambiguity extends Readonly<SimulationResult['ambiguity']> {
  readonly resolution: ResolvedConfig['ambiguityResolution'];
  readonly fallback: ResolvedConfig['ambiguityFallback'];
  readonly exitsByMethod: ExitStatistics['byMethod'];
  readonly band: ReportInput['band'] & { readonly note: typeof BAND_NOTE };
}

interface EvaluationWindow {
  readonly start: number | null;
  readonly end: number | null;
  readonly firstBar: number | null;
  readonly bars: number;
  readonly barsInRange: number;
  readonly warmupBars: number;
  readonly warmupSource: ReportInput['warmup']['source'];
}

/** Results by exit reason and by side. */
export const breakdownsOf = (positions: Positions, exits: ExitStatistics): Breakdowns => ({
  byExitReason: exits.byReason,
  bySide: { long: sideOf(positions, 1), short: sideOf(positions, -1) },
});

/** What the result depends on besides the rules: costs, ambiguous bars, data and window. */
export const circumstancesOf = (report: ReportInput, totalFees: number, exits: ExitStatistics): Circumstances => ({
  fees: feesBlock(report, totalFees),
  ambiguity: ambiguityBlock(report, exits.byMethod),
  dataQuality: dataQuality(report.input.bars, report.input.fine, report.firstRow, report.endRow),
  evaluationWindow: evaluationWindow(report),
});

function sideOf({ count, side, pnl }: Positions, wanted: 1 | -1): SideResult {
  let positions = 0;
  let wins = 0;
  // Compensated.
  let total = 0;
  let lost = 0;
  for (let index = 0; index < count; index++) {
    if (side[index] !== wanted) continue;
    const value = pnl[index];
    const next = total + value;
    lost += lostIn(total, value, next);
    total = next;
    positions++;
    wins += +(value > 0);
  }
  return { positions, pnl: total + lost, winRate: positions === 0 ? null : wins / positions };
}

function feesBlock({ simulation, input }: ReportInput, total: number): Circumstances['fees'] {
  const { totals } = simulation;
  const tiers = input.config.execution.feeModel.tiers.map((tier, index) => ({ ...tier, ...totals.tiers[index] }));
  return { total, maker: totals.makerFees, taker: totals.takerFees, tiers };
}

const BAND_NOTE = 'Returns with the fallback replaced by each extreme reading: a sensitivity, not a bound.';

function ambiguityBlock(
  { simulation, input, band }: ReportInput,
  exitsByMethod: ExitStatistics['byMethod'],
): Ambiguity {
  const { ambiguityResolution: resolution, ambiguityFallback: fallback } = input.config;
  const { undecidedBars, drilledBars, fallbackBars, childrenMissingBars } = simulation.ambiguity;
  const { low, high, pessimistic, optimistic } = band;
  return {
    resolution,
    fallback,
    undecidedBars,
    drilledBars,
    fallbackBars,
    childrenMissingBars,
    exitsByMethod,
    band: { low, high, pessimistic, optimistic, note: BAND_NOTE },
  };
}

function evaluationWindow({ input, firstRow, endRow, warmup }: ReportInput): EvaluationWindow {
  const { start, end, bars } = input;
  const hasRows = end > start;
  return {
    start: hasRows ? bars.time[start] : null,
    end: hasRows ? bars.time[end - 1] + TIMEFRAME_MS[bars.timeframe] : null,
    firstBar: hasRows ? start - firstRow : null,
    bars: Math.max(0, end - start),
    barsInRange: endRow - firstRow,
    warmupBars: warmup.bars,
    warmupSource: warmup.source,
  };
}

const TEXTS = {
  comma: constantJson(','),
  byExitReason: constantJson('"byExitReason":{'),
  long: constantJson('},"bySide":{"long":{"positions":'),
  short: constantJson(',"short":{"positions":'),
  pnl: constantJson(',"pnl":'),
  winRate: constantJson(',"winRate":'),
  end: constantJson('}'),
  total: constantJson('"fees":{"total":'),
  maker: constantJson(',"maker":'),
  taker: constantJson(',"taker":'),
  undecidedBars: constantJson(',"undecidedBars":'),
  drilledBars: constantJson(',"drilledBars":'),
  fallbackBars: constantJson(',"fallbackBars":'),
  childrenMissingBars: constantJson(',"childrenMissingBars":'),
  direct: constantJson(',"exitsByMethod":{"direct":'),
  gap: constantJson(',"gap":'),
  drill: constantJson(',"drill":'),
  fallback: constantJson(',"fallback":'),
  low: constantJson('},"band":{"low":'),
  high: constantJson(',"high":'),
  pessimistic: constantJson(',"pessimistic":'),
  optimistic: constantJson(',"optimistic":'),
  note: constantJson(`,"note":${JSON.stringify(BAND_NOTE)}}},"dataQuality":`),
  start: constantJson(',"evaluationWindow":{"start":'),
  endTime: constantJson(',"end":'),
  firstBar: constantJson(',"firstBar":'),
  bars: constantJson(',"bars":'),
  barsInRange: constantJson(',"barsInRange":'),
  warmupBars: constantJson(',"warmupBars":'),
} as const;

const REASON_TEXTS: Readonly<Record<string, WrittenText>> = Object.fromEntries(
  EXIT_REASONS.map((reason) => [reason, constantJson(`"${reason}":{"trades":`)]),
);

/** Writes the members of the object as JSON.stringify does. */
export function writeBreakdowns(json: JsonWriter, { byExitReason, bySide }: Breakdowns): void {
  json.add(TEXTS.byExitReason);
  let isFirst = true;
  for (const reason in byExitReason) {
    const { trades, pnl, winRate } = byExitReason[reason];
    if (!isFirst) json.add(TEXTS.comma);
    isFirst = false;
    json.number(REASON_TEXTS[reason], trades).number(TEXTS.pnl, pnl).number(TEXTS.winRate, winRate).add(TEXTS.end);
  }
  const { long, short } = bySide;
  json.number(TEXTS.long, long.positions).number(TEXTS.pnl, long.pnl).number(TEXTS.winRate, long.winRate);
  json.add(TEXTS.end).number(TEXTS.short, short.positions).number(TEXTS.pnl, short.pnl);
  json.number(TEXTS.winRate, short.winRate).add(TEXTS.end).add(TEXTS.end);
}

/** Writes the members of the object as JSON.stringify does. */
export function writeCircumstances(json: JsonWriter, circumstances: Circumstances): void {
  const { fees, ambiguity, evaluationWindow } = circumstances;
  json.number(TEXTS.total, fees.total).number(TEXTS.maker, fees.maker).number(TEXTS.taker, fees.taker);
  json.addText(`,"tiers":${JSON.stringify(fees.tiers)}}`);
  writeAmbiguity(json, ambiguity);
  json.addText(dataQualityJson(circumstances.dataQuality));
  const { start, end, firstBar, bars, barsInRange, warmupBars, warmupSource } = evaluationWindow;
  json.number(TEXTS.start, start).number(TEXTS.endTime, end).number(TEXTS.firstBar, firstBar);
  json.number(TEXTS.bars, bars).number(TEXTS.barsInRange, barsInRange).number(TEXTS.warmupBars, warmupBars);
  json.addText(`,"warmupSource":"${warmupSource}"}`);
}

function writeAmbiguity(json: JsonWriter, ambiguity: Ambiguity): void {
  json.addText(`,"ambiguity":{"resolution":"${ambiguity.resolution}","fallback":"${ambiguity.fallback}"`);
  json.number(TEXTS.undecidedBars, ambiguity.undecidedBars).number(TEXTS.drilledBars, ambiguity.drilledBars);
  json.number(TEXTS.fallbackBars, ambiguity.fallbackBars);
  json.number(TEXTS.childrenMissingBars, ambiguity.childrenMissingBars);
  const { direct, gap, drill, fallback } = ambiguity.exitsByMethod;
  json.number(TEXTS.direct, direct).number(TEXTS.gap, gap).number(TEXTS.drill, drill).number(TEXTS.fallback, fallback);
  const { low, high, pessimistic, optimistic } = ambiguity.band;
  json.number(TEXTS.low, low).number(TEXTS.high, high).number(TEXTS.pessimistic, pessimistic);
  json.number(TEXTS.optimistic, optimistic).add(TEXTS.note);
}

interface Conventions {
  readonly block: object;
  readonly json: string;
}
const knownConventions = new WeakMap<Instrument, Conventions>();

/** All runs of an instrument share them. */
export function conventionsOf(instrument: Instrument): Conventions {
  let known = knownConventions.get(instrument);
  if (known === undefined) {
    const block = conventions(instrument);
    knownConventions.set(instrument, (known = { block, json: JSON.stringify(block) }));
  }
  return known;
}

const conventions = (instrument: Instrument): object => ({
  dailyEquity: 'last mark of each UTC day that has bars',
  periodsPerYear: periodsPerYear(instrument),
  periodsPerYearReason: periodsPerYearReason(instrument),
  riskFreeRate: 0,
  deviation: 'sample (ddof 1)',
  cagr: 'calendar years of 365.25 days',
  benchmark: 'buy and hold of the signal instrument from the first evaluated open',
  fractions: 'results are fractions (0.125 = 12.5 %)',
  undefined: 'null',
});
