// Warnings of a backtest that need its config: they never block, and come back beside the result (design §3.4).
import type { RunnableStrategy, StrategyAst } from '../language/ast.ts';
import type { ValidationIssue } from '../language/issues.ts';
import type { ResolvedConfig } from '../simulate/config.ts';
import type { ReportInput } from './result.ts';

export function configWarnings(
  strategy: RunnableStrategy,
  config: ResolvedConfig,
  ast: StrategyAst,
  report: ReportInput,
): ValidationIssue[] {
  const found: ValidationIssue[] = [];
  const warn = (code: string, path: string, message: string, suggestion: string): void => {
    found.push({
      code: code as ValidationIssue['code'],
      path,
      field: 'config',
      severity: 'warning',
      message,
      suggestion,
    });
  };
  const { defaults } = ast.strategy;
  const { timeframe, signalInstrument, execution } = config;
  if (defaults?.timeframe !== undefined && defaults.timeframe !== timeframe) {
    const message = `The strategy's defaults name ${defaults.timeframe}; the config runs it on ${timeframe}, and the config decides.`;
    warn('DEFAULTS_OVERRIDDEN', '/config/timeframe', message, 'Nothing to do if that is what you want.');
  }
  if (defaults?.instrument !== undefined && defaults.instrument.symbol !== signalInstrument.symbol) {
    const message = `The strategy's defaults name ${defaults.instrument.symbol}; the config runs it on ${signalInstrument.symbol}, and the config decides.`;
    warn('DEFAULTS_OVERRIDDEN', '/config/signalInstrument/symbol', message, 'Nothing to do if that is what you want.');
  }
  if (isTooLarge(strategy, report)) {
    const message = `Orders were rejected for want of funds: the size is more than ${config.initialBalance} can pay.`;
    warn(
      'SIZING_UNAFFORDABLE',
      '/config/initialBalance',
      message,
      'Use percent_equity sizing, a smaller size, or a larger initialBalance.',
    );
  }
  const makerRoles = (['entryOrderRole', 'exitOrderRole'] as const).filter((role) => execution[role] === 'maker');
  const hasMarketEntry = strategy.entries.some((entry) => (entry.action.order?.type ?? 'market') !== 'limit');
  for (const role of makerRoles) {
    if (role === 'entryOrderRole' && !hasMarketEntry) continue;
    const message = `${role} is maker, but these are market orders: a real exchange would charge them as taker.`;
    warn('MAKER_FILL_ASSUMED', `/config/execution/${role}`, message, 'Use taker for market orders, or limit entries.');
  }
  if (config.ambiguityResolution === 'optimistic' || config.ambiguityFallback === 'optimistic') {
    const message = 'optimistic assumes the best order of prices inside a bar: for comparison only.';
    warn(
      'OPTIMISTIC_FILLS',
      '/config/ambiguityFallback',
      message,
      'Use pessimistic, or multi_resolution with finer bars.',
    );
  }
  return found;
}

const isTooLarge = (_: RunnableStrategy, { simulation }: ReportInput): boolean =>
  simulation.counts.ordersRejected.INSUFFICIENT_BALANCE > 0;
