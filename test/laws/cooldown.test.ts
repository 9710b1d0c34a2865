// Cooldown over many re-entries: no entry order is made sooner than cooldownBars after a full exit of any kind
// (semantics §2.9).
import { describe, expect, it } from 'vitest';
import { simulateTask } from '../../src/engine/backtest.ts';
import type { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import type { ExitReason } from '../../src/engine/definitions/exitReasons/exitReasons.ts';
import type { Trade } from '../../src/engine/simulate/trade.ts';
import { diceOf } from '../support/dice.ts';
import { scaled } from '../support/scale.ts';
import { scenarioOf } from '../support/scenarios/scenario.ts';

const SCENARIOS = 3_000;
const KINDS: readonly ExitReason[] = [
  'signal', 'stop_loss', 'take_profit', 'trailing_stop', 'breakeven', 'time_stop', 'reverse', 'liquidation',
]; // prettier-ignore

/** Exits that are ordered at a close. */
const MARKET: readonly ExitReason[] = ['signal', 'time_stop'];

function withCooldown(ast: StrategyAst, seed: number): StrategyAst {
  const dice = diceOf(seed);
  const entry = [ast.strategy.entry!].flat().map((rule) => ({ ...rule, cooldownBars: dice.whole(1, 6) }));
  return { ...ast, strategy: { ...ast.strategy, entry } };
}

/** The row that closes each position wholly. */
const fullExits = (trades: readonly Trade[]): Trade[] => [
  ...new Map(trades.map((trade) => [trade.positionId, trade])).values(),
];

describe('a cooldown', { timeout: 600_000 }, () => {
  it('lets no entry order be made sooner after an exit of any kind', () => {
    const reentries = new Map<ExitReason, number>();
    const early: string[] = [];
    for (let seed = 1; seed <= scaled(SCENARIOS); seed++) {
      const { market, ast, settings, config } = scenarioOf(seed);
      const strategyAst = withCooldown(ast, seed);
      const cooldowns = [strategyAst.strategy.entry!].flat().map(({ cooldownBars }) => cooldownBars as number);
      const run = simulateTask({ id: 'law', strategyAst, settings, config, strategyHash: '' }, market, null, true);
      if (!run.ok) throw new Error(run.error.message);
      const isNextOpen = config.execution!.orderTiming === 'next_open';
      const { trades, orders } = run.report.simulation;
      const exits = fullExits(trades).filter(({ exitReason }) => exitReason !== 'end_of_data');
      for (const { purpose, row, rule } of orders!) {
        if (purpose !== 'entry') continue;
        const cooldown = cooldowns[Number(rule.split('/').at(-1))];
        for (const { exitRow, exitReason, positionId } of exits) {
          // Under next_open a market exit was ordered at the close before. A reversal at the close is the order's own.
          const isOrderedHere = isNextOpen && MARKET.includes(exitReason) && row === exitRow - 1;
          const isOwn = !isNextOpen && exitReason === 'reverse' && row === exitRow;
          const isEarly = isOrderedHere || (!isOwn && row >= exitRow && row - exitRow < cooldown);
          if (isEarly) early.push(`seed ${seed}: order of row ${row} after position ${positionId}, row ${exitRow}`);
        }
        const last = exits.filter(({ exitRow }) => exitRow <= row).at(-1);
        if (last !== undefined) reentries.set(last.exitReason, (reentries.get(last.exitReason) ?? 0) + 1);
      }
    }
    expect(early).toEqual([]);
    for (const kind of KINDS) expect(reentries.get(kind), `re-entries after ${kind}`).toBeGreaterThan(scaled(100));
  });
});
