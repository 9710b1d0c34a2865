// Config checks: what a backtest's config means for a strategy: the warnings and faults that validate cannot see.
import type { BacktestConfig } from '../simulate/config.ts';
import type { RunnableStrategy, StrategyAst } from './ast.ts';
import { IssueLog, type ValidationIssue } from './issues.ts';

/** DEFAULTS_OVERRIDDEN, SIZING_UNAFFORDABLE and MAKER_FILL_ASSUMED, for a backtest's `warnings`; paths begin `/config`. */
export function configWarnings(
  ast: StrategyAst,
  strategy: RunnableStrategy,
  config: BacktestConfig,
): ValidationIssue[] {
  const log = new IssueLog();
  const { timeframe, instrument } = ast.strategy.defaults ?? {};
  if (timeframe !== undefined && timeframe !== config.timeframe) {
    log.add('DEFAULTS_OVERRIDDEN', '/config/timeframe', {
      message: `the run is at ${config.timeframe}, the strategy's default is ${timeframe}`,
    });
  }
  const { symbol } = config.signalInstrument;
  if (instrument !== undefined && instrument.symbol !== symbol) {
    log.add('DEFAULTS_OVERRIDDEN', '/config/signalInstrument/symbol', {
      message: `the run trades ${symbol}, the strategy's default is ${instrument.symbol}`,
    });
  }
  checkSizes(strategy, config, log);
  checkRoles(strategy, config, log);
  return log.list();
}

function checkSizes(strategy: RunnableStrategy, config: BacktestConfig, log: IssueLog): void {
  const leverage = config.leverage ?? 1;
  for (const { action } of strategy.entries) {
    const { mode, value } = action.sizing;
    const percent = (mode === 'percent_equity' || mode === 'percent_balance') && value > 100 * leverage;
    if (percent || (mode === 'fixed_cash' && value > config.initialBalance * leverage)) {
      log.add('SIZING_UNAFFORDABLE', '/config/leverage', {
        message: `an entry of ${mode} ${value} is more than a balance of ${config.initialBalance} carries at a leverage of ${leverage}: it will be rejected`,
        suggestion:
          mode === 'fixed_cash'
            ? 'raise initialBalance or leverage, or enter less'
            : `raise leverage to ${Math.ceil(value / 100)}, or enter less`,
      });
    }
  }
}

/** Market and stop orders take liquidity; a maker's fee on them is a hope. */
function checkRoles(strategy: RunnableStrategy, { execution }: BacktestConfig, log: IssueLog): void {
  const takes = strategy.entries.some(({ action }) => action.order?.type !== 'limit');
  const warn = (member: 'entryOrderRole' | 'exitOrderRole' | 'riskOrderRole', what: string): void => {
    if (execution[member] !== 'maker') return;
    log.add('MAKER_FILL_ASSUMED', `/config/execution/${member}`, {
      message: `${what} are charged as maker fills, which a live market need not grant`,
      suggestion: `set execution.${member} to "taker"`,
    });
  };
  if (takes) warn('entryOrderRole', 'market and stop entries');
  warn('exitOrderRole', 'market exits');
  warn('riskOrderRole', 'stops');
}
