// Warnings about a backtest and its config: they never block, and are returned beside the result.
import { CONTRADICTION_ADVICE, describeContradictions } from '../bars/contradictionCause.ts';
import { contradictionsIn } from '../bars/contradictions.ts';
import { isIntraday } from '../bars/timeframes.ts';
import type { RunnableExpression, RunnableStrategy, StrategyAst } from '../language/grammar/ast.ts';
import type { ValidationIssue } from '../language/issues/issues.ts';
import type {
  CONFIG_WARNING_CODES,
  PORTFOLIO_WARNING_CODES,
  TRADING_DAY_WARNING_CODES,
} from '../definitions/issueCodes.ts';
import { runnableKind } from '../definitions/expressions/expressionRegistry.ts';
import { HOURS_OF_DAILY_BARS } from '../language/check/expressionChecks.ts';
import { childrenOf, rootsOf } from '../language/grammar/visit.ts';
import { isFreeOfFees, isFreeSlippage, isPortfolio, policyInForce, symbolsOf, type ResolvedConfig } from '../config.ts';
import { rejectionAdvice } from './conditionAdvice.ts';
import type { ReportInput } from './reportInput.ts';

type Code =
  | (typeof CONFIG_WARNING_CODES)[number]
  | (typeof PORTFOLIO_WARNING_CODES)[number]
  | (typeof TRADING_DAY_WARNING_CODES)[number]
  | 'INTRADAY_WINDOW';

/** A warning about a config. */
export const configWarning = (code: Code, path: string, message: string, suggestion: string): ValidationIssue => ({
  code,
  path,
  field: 'config',
  severity: 'warning',
  message,
  suggestion,
});

/** Columns that a warning names. */
const MOST_COLUMNS = 10;

/** The warnings about a config and what it did to the run. @param ast the strategy as its author wrote it */
export function configWarnings(ast: StrategyAst, report: ReportInput): ValidationIssue[] {
  const { strategy } = report;
  const { config } = report.input;
  const found: ValidationIssue[] = [];
  const warn = (...warning: Parameters<typeof configWarning>): void => {
    found.push(configWarning(...warning));
  };
  const { defaults } = ast.strategy;
  const { timeframe, execution } = config;
  const symbols = symbolsOf(config);
  if (defaults?.timeframe !== undefined && defaults.timeframe !== timeframe) {
    const named = defaults.timeframe;
    const message = `The strategy's defaults name ${named}; the config, which decides, runs it on ${timeframe}.`;
    warn('DEFAULTS_OVERRIDDEN', '/config/timeframe', message, 'Nothing to do if that is what you want.');
  }
  if (defaults?.instrument !== undefined && !symbols.includes(defaults.instrument.symbol)) {
    const named = defaults.instrument.symbol;
    const others = symbols.length === 1 ? symbols[0] : `${symbols.length} other instruments`;
    const message = `The strategy's defaults name ${named}; the config, which decides, runs it on ${others}.`;
    const path = isPortfolio(config) ? '/config/instruments' : '/config/signalInstrument/symbol';
    warn('DEFAULTS_OVERRIDDEN', path, message, 'Nothing to do if that is what you want.');
  }
  if (report.simulation.counts.ordersRejected.INSUFFICIENT_BALANCE > 0) {
    const { initialBalance } = config;
    const message = `Orders were rejected for lack of funds: initialBalance ${initialBalance} cannot pay their size.`;
    const advice = rejectionAdvice('INSUFFICIENT_BALANCE', report);
    warn('SIZING_UNAFFORDABLE', '/config/initialBalance', message, advice);
  }
  if (isFree(execution)) {
    const message = 'The config has neither fees nor slippage: fills cost nothing, which no exchange offers.';
    warn('COSTS_NOT_MODELED', '/config/execution', message, 'Give execution.feeModel and execution.slippage.');
  }
  const named = new Set([...symbols, ...(config.benchmark === undefined ? [] : [config.benchmark.symbol])]);
  const unused = config.dividends?.find(({ symbol }) => !named.has(symbol));
  if (unused !== undefined) {
    const message = `The config has dividends of ${unused.symbol}, which the run neither trades nor compares with.`;
    warn('DIVIDENDS_UNUSED', '/config/dividends', message, 'Name the symbol as the instruments do, or remove them.');
  }
  const { dividendColumn } = config;
  const bars = report.portfolio?.instruments.map(({ input }) => input.bars) ?? [report.input.bars];
  if (dividendColumn !== undefined && !bars.some(({ series }) => series.has(dividendColumn))) {
    const columns = [...new Set(bars.flatMap(({ series }) => [...series.keys()]))].slice(0, MOST_COLUMNS);
    const message = `No instrument of the run has a column "${dividendColumn}" beside its bars.`;
    const known = columns.length === 0 ? 'Import the bars with that column' : `Name one of ${columns.join(', ')}`;
    warn('DIVIDENDS_UNUSED', '/config/dividendColumn', message, `${known}, or remove it.`);
  }
  const makerRoles = (['entryOrderRole', 'exitOrderRole'] as const).filter((role) => execution[role] === 'maker');
  const hasMarketEntry = strategy.entries.some((entry) => entry.action.order.type !== 'limit');
  for (const role of makerRoles) {
    if (role === 'entryOrderRole' && !hasMarketEntry) continue;
    const message = `${role} is maker, but these are market orders: a real exchange would charge them as taker.`;
    warn('MAKER_FILL_ASSUMED', `/config/execution/${role}`, message, 'Use taker for market orders, or limit entries.');
  }
  if (!isIntraday(timeframe) && readsHours(strategy, ast)) {
    const { message, suggestion } = HOURS_OF_DAILY_BARS;
    warn('INTRADAY_WINDOW', '/config/timeframe', message, suggestion);
  }
  if (policyInForce(config) === 'optimistic') {
    const member = config.ambiguityResolution === 'optimistic' ? 'ambiguityResolution' : 'ambiguityFallback';
    const message = 'optimistic assumes the best order of prices inside a bar: for comparison only.';
    warn('OPTIMISTIC_FILLS', `/config/${member}`, message, 'Use pessimistic, or multi_resolution with finer bars.');
  }
  if (report.portfolio === undefined || report.portfolio.instruments.length === 1)
    addCrossSection(strategy, ast, found);
  const contradiction = contradictionText(report);
  if (contradiction !== null) warn('FINER_BARS_CONTRADICT', '/config/timeframe', contradiction, CONTRADICTION_ADVICE);
  return found;
}

/** What the finer bars contradict and what that did to the run; null: nothing that the run would have drilled into. */
export function contradictionText({
  input,
  firstRow,
  endRow,
}: Pick<ReportInput, 'input' | 'firstRow' | 'endRow'>): string | null {
  const { bars, fine, config } = input;
  if (config.ambiguityResolution !== 'multi_resolution' || fine === null) return null;
  const inRange = contradictionsIn(bars, fine, firstRow, endRow);
  if (inRange === null) return null;
  const { found, count } = inRange;
  const settled = `the fallback (${policyInForce(config)}) settles`;
  const consequence = found.isDrillingOff
    ? `That is too many: no bar of the series is drilled into, and ${settled} every undecided bar.`
    : `Of these, ${count} ${count === 1 ? 'is' : 'are'} in the range. Contradicted bars are not drilled into: ` +
      `${settled} those that are undecided.`;
  return `${describeContradictions(found)} ${consequence}`;
}

/** A cross-section of one instrument compares it with nothing. */
function addCrossSection(strategy: RunnableStrategy, ast: StrategyAst, found: ValidationIssue[]): void {
  if (!readsCrossSections(strategy, ast)) return;
  const message = 'The strategy has a cross_section, and the run has one instrument: its rank is 1, and its zscore 0.';
  const advice = 'Give config.instruments in place of config.signalInstrument.';
  found.push(configWarning('CROSS_SECTION_OF_ONE', '/config/signalInstrument', message, advice));
}

/** The kind of expression that looks across instruments. */
const CROSS_SECTION: string = 'cross_section';

/** Whether any expression of the strategy depends on the hour of the day. */
const readsHours = searched((node) => runnableKind(node).readsHours?.(node) === true);
const readsCrossSections = searched(({ kind }) => kind === CROSS_SECTION);

/** A search for an expression, whose answer is kept by payload, because no param changes it. */
function searched(matches: (node: RunnableExpression) => boolean): (s: RunnableStrategy, ast: StrategyAst) => boolean {
  const known = new WeakMap<StrategyAst, boolean>();
  return (strategy, ast) => {
    let found = known.get(ast);
    if (found === undefined) known.set(ast, (found = hasExpression(strategy, matches)));
    return found;
  };
}

function hasExpression(strategy: RunnableStrategy, matches: (node: RunnableExpression) => boolean): boolean {
  const seen = new Set<object>();
  const stack = rootsOf(strategy).map(({ expression }) => expression);
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (matches(node)) return true;
    for (const child of childrenOf(node)) stack.push(child);
  }
  return false;
}

/**
 * A config that leaves execution out and one that writes zeros get the same warning, because both resolve to the same
 * run, which is stored once.
 */
const isFree = ({ feeModel, slippage }: ResolvedConfig['execution']): boolean =>
  isFreeOfFees(feeModel) && isFreeSlippage(slippage);
