// What became of a scenario, as features: exit reasons, how exits were decided, and what became of entry orders.
import type { ReferenceRun } from '../reference/reference.ts';

export function outcomesOf(run: ReferenceRun | null): string[] {
  if (run === null) return [];
  const { counts } = run;
  return [
    ...run.trades.flatMap(({ exitReason, exitMethod }) => [`exit by ${exitReason}`, `decided ${exitMethod}`]),
    ...run.orders.map(({ status, reason }) => `order ${reason ?? status}`),
    ...(['blockedCooldown', 'blockedInPosition', 'blockedMaxPositions'] as const).filter((name) => counts[name] > 0),
  ];
}

const named = (prefix: string, names: string): string[] => names.split(' ').map((name) => `${prefix} ${name}`);
const POLICIES = 'pessimistic optimistic bar_direction distance';

/** Every feature that must occur. */
export const EXPECTED_FEATURES: readonly string[] = [
  'long', 'short', 'several positions', 'several entry rules', 'market entry', 'limit entry', 'stop entry',
  'expiring entry', 'cooldown', 'bar_close', 'range', 'exit rule', 'exit of one side', 'exit priority',
  'partial exit', 'exit of a quantity', 'time stop', 'break-even', 'ladder', 'ladder on the remaining',
  'ladder moves the stop', 'trailing percent', 'trailing atr', 'trailing activation', 'leverage', 'funding',
  'no fees', 'fee tiers', 'fee tiers with a window', 'no slippage', 'no quantity step', 'drilling',
  'nothing to drill into', 'children missing', 'children contradict',
  'other timeframe', 'other instrument', 'price reads state',
  'blockedCooldown', 'blockedInPosition', 'blockedMaxPositions', 'entry reads account state',
  'entry reads position state', 'entry reads history of account state', 'entry reads history of position state',
  'exit reads account state', 'exit reads position state', 'exit reads history of account state',
  'exit reads history of position state',
  named('conflict', 'ignore close reverse'),
  named('size', 'fixed fixed_cash percent_equity percent_balance risk_percent volatility_target'),
  named('stop', 'percent fixed atr price update'),
  named('target', 'percent atr price r'),
  named('slippage in', 'bps ticks'),
  named('slippage by', 'bar_range_pct atr_pct'),
  named('quantity step', '1e-8 0.001 1'),
  named('policy', POLICIES),
  named('falls back on', POLICIES),
  named('exit by', 'signal stop_loss take_profit trailing_stop breakeven time_stop reverse liquidation end_of_data'),
  named('decided', 'direct gap drill fallback'),
  named('order', 'filled expired cancelled replaced INSUFFICIENT_BALANCE MIN_NOTIONAL ZERO_QTY LEVEL_MISSING'),
].flat(); // prettier-ignore
