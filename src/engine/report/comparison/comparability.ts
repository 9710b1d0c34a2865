// Comparability: differences between runs that make a comparison of their numbers misleading.
import { symbolsOf, type ResolvedConfig } from '../../config.ts';
import type { FlatKey } from '../../definitions/statistics/statistics.ts';
import { canonicalJson } from '../canonicalJson.ts';

/** Metrics that people compare by, in place of all sixty. */
export const COMPARED_METRICS: readonly FlatKey[] = [
  'returnPct', 'buyHoldReturnPct', 'cagr', 'annualVolatility', 'sharpeRatio', 'sortinoRatio', 'maxDrawdown',
  'totalPositions', 'winRate', 'profitFactor', 'exposurePct', 'totalFees', 'finalEquity',
]; // prettier-ignore

/** What is read of a run. */
export interface ComparableRun {
  readonly symbols: readonly string[];
  readonly config: ResolvedConfig;
  /** The first evaluated open and the last evaluated close, ms UTC; null: it had no bar. */
  readonly window: { readonly start: number; readonly end: number } | null;
  readonly periodsPerYear: number;
  /** The currency of its money; null: unknown. */
  readonly currency: string | null;
  readonly engineVersion: string;
  readonly dataHash: string;
}

/** A result as it is stored or written. */
interface ComparedResult {
  readonly summary: Readonly<Record<string, unknown>>;
  readonly resolvedConfig: ResolvedConfig;
  readonly reproducibility: { readonly engineVersion: string; readonly dataHash: string };
}

/** @param currencyOf that of an instrument; null: unknown */
export function comparableRun(
  { summary, resolvedConfig, reproducibility }: ComparedResult,
  currencyOf: (symbol: string) => string | null,
): ComparableRun {
  const { start = null, end = null } = (summary.evaluationWindow ?? {}) as Partial<Record<string, number | null>>;
  const { periodsPerYear = 252 } = (summary.conventions ?? {}) as Partial<Record<string, number>>;
  const symbols = symbolsOf(resolvedConfig);
  return {
    symbols,
    config: resolvedConfig,
    window: start === null || end === null ? null : { start, end },
    periodsPerYear,
    currency: currencyOf(symbols[0]),
    engineVersion: reproducibility.engineVersion,
    dataHash: reproducibility.dataHash,
  };
}

interface ComparisonWarning {
  readonly code: string;
  readonly message: string;
}

interface Check {
  readonly code: string;
  /** What must be equal; null: unknown, which counts as equal. */
  readonly of: (run: ComparableRun) => string | null;
  /** @param list the different values in words */
  readonly message: (list: string) => string;
  /** A value in words; absent: as it is. */
  readonly word?: (run: ComparableRun) => string;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const MAX_SYMBOLS = 3;
const symbolsText = ({ symbols }: ComparableRun): string =>
  symbols.length <= MAX_SYMBOLS
    ? symbols.join('+')
    : `${symbols.slice(0, MAX_SYMBOLS).join('+')} and ${symbols.length - MAX_SYMBOLS} more`;

const CHECKS: readonly Check[] = [
  {
    code: 'PERIODS_DIFFER',
    of: ({ window }) => window && `${dayOf(window.start)} to ${dayOf(window.end - 1)}`,
    message: (list) =>
      `The runs cover different periods: ${list}. Totals such as returnPct and totalPositions grow with the period, ` +
      'and every metric depends on the market of its years. Run all of them over one range to compare them.',
  },
  {
    code: 'MARKETS_DIFFER',
    of: ({ symbols }) => [...symbols].sort().join(','),
    word: symbolsText,
    message: (list) =>
      `The runs trade different instruments: ${list}. No position of one can be found in another with a different ` +
      'instrument, and a metric says as much of the market as of the strategy; compare excess over buyHoldReturnPct.',
  },
  {
    code: 'TIMEFRAMES_DIFFER',
    of: ({ config }) => config.timeframe,
    message: (list) =>
      `The runs have different timeframes: ${list}. Counts of bars, drawdowns and entry times depend on the ` +
      'timeframe, so that the same entry may be found at another time.',
  },
  {
    code: 'CURRENCIES_DIFFER',
    of: ({ currency }) => currency,
    message: (list) => `The runs have money in different currencies: ${list}. Compare returns, not amounts of money.`,
  },
  {
    code: 'BALANCES_DIFFER',
    of: ({ config }) => String(config.initialBalance),
    message: (list) =>
      `The runs begin with different balances: ${list}. Compare fractions such as returnPct, not amounts of money; ` +
      'fixed sizes and fees per order weigh more in a small account.',
  },
  {
    code: 'COSTS_DIFFER',
    of: ({ config: { execution, fundingRate, borrowRatePerYear } }) =>
      canonicalJson([execution.feeModel, execution.slippage, fundingRate ?? 0, borrowRatePerYear ?? 0]),
    word: ({ config: { execution } }) => costsOf(execution),
    message: (list) =>
      `The runs pay different costs: ${list}. Part of the difference between them is the costs, not the strategy.`,
  },
  {
    code: 'CALENDARS_DIFFER',
    of: ({ periodsPerYear }) => String(periodsPerYear),
    message: (list) =>
      `The runs are annualized with different numbers of days per year: ${list}. Sharpe, Sortino and volatility are ` +
      'of different calendars.',
  },
  {
    code: 'RISK_FREE_RATES_DIFFER',
    of: ({ config }) => String(config.riskFreeRatePerYear ?? 0),
    message: (list) =>
      `The runs measure Sharpe, Sortino and alpha against different risk-free rates: ${list} per year.`,
  },
  {
    code: 'ENGINES_DIFFER',
    of: ({ engineVersion }) => engineVersion,
    message: (list) =>
      `The runs were made by different engines: ${list}. Run them again with one engine to rule out its changes.`,
  },
];

/** A warning for each difference that misleads. */
export function comparisonWarnings(runs: readonly ComparableRun[]): ComparisonWarning[] {
  const warnings: ComparisonWarning[] = [];
  for (const { code, of, word, message } of CHECKS) {
    const values = new Map(runs.map((run) => [of(run), word?.(run) ?? of(run)]));
    values.delete(null);
    if (values.size > 1) warnings.push({ code, message: message([...values.values()].join('; ')) });
  }
  const data = dataWarning(runs);
  return data === null ? warnings : [...warnings, data];
}

/** Runs of one market and period that read other bars. */
function dataWarning(runs: readonly ComparableRun[]): ComparisonWarning | null {
  const sameMarket = (run: ComparableRun): string => canonicalJson([run.symbols, run.config.timeframe]);
  const [first] = runs;
  if (!runs.every((run) => sameMarket(run) === sameMarket(first))) return null;
  if (runs.every(({ dataHash }) => dataHash === first.dataHash)) return null;
  return {
    code: 'DATA_DIFFER',
    message:
      'The runs read different versions of the bars of their market, or other series beside it. Bars may have been ' +
      'imported again between them; run the older one again to compare them on the same bars.',
  };
}

function costsOf({ feeModel, slippage }: ResolvedConfig['execution']): string {
  const [{ makerRate, takerRate }] = feeModel.tiers;
  const rate = makerRate === takerRate ? percentOf(takerRate) : `${percentOf(makerRate)} to ${percentOf(takerRate)}`;
  return `fees from ${rate}, slippage ${slippage.kind}`;
}

const percentOf = (fraction: number): string => `${Number((100 * fraction).toPrecision(4))} %`;
