// No fill depends on anything later inside its bar: everything after the time of a fill is replaced, and the fill must
// stay as it was.
import { describe, expect, it } from 'vitest';
import { simulateTask } from '../../src/engine/backtest.ts';
import { AMBIGUITY_FALLBACKS, type BacktestConfig } from '../../src/engine/config.ts';
import type { OrderRecord, SimulationResult } from '../../src/engine/simulate/simulation.ts';
import type { Trade } from '../../src/engine/simulate/trade.ts';
import { diceOf } from '../support/dice.ts';
import { isLong } from '../support/scale.ts';
import { marketOf, quarterHours, type MarketParts, type Row } from '../support/scenarios/markets.ts';
import { scenarioOf, type Scenario } from '../support/scenarios/scenario.ts';

const QUARTER_MS = 900_000;
const SCENARIOS = isLong ? 2_000 : 100;

function run(scenario: Scenario, parts: MarketParts, policy: BacktestConfig['ambiguityResolution']): SimulationResult {
  const { ast, settings, config } = scenario;
  const task = {
    id: 'law',
    strategyAst: ast,
    settings,
    strategyHash: '',
    config: { ...config, range: undefined, ambiguityResolution: policy },
  };
  const outcome = simulateTask(task, marketOf(parts), null, true);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.report.simulation;
}

/**
 * The same quarter hours up to and with `last`, then others. With `openOnly`, of the quarter after it only the open
 * stays.
 */
function withOtherFuture(parts: MarketParts, last: number, seed: number, openOnly: boolean): MarketParts {
  const { quarters } = parts;
  const kept = quarters.slice(0, last + 1);
  const next = quarters[last + 1];
  if (next === undefined) return parts;
  const start = openOnly ? next[1] : kept[last][4];
  const future = quarterHours(diceOf(seed), next[0], quarters.length - kept.length, { hourly: 0.1, inner: 0 }, start);
  // The first quarter of a later future opens where the old one did.
  const [time, , high, low, close] = future[0];
  const first: Row = [time, start, Math.max(high, start), Math.min(low, start), close];
  return { ...parts, quarters: [...kept, first, ...future.slice(1)] };
}

const key = ({ positionId, exitRow, exitReason, exitRule }: Trade): string =>
  JSON.stringify([positionId, exitRow, exitReason, exitRule]);
const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));

/** What is missing from, or other in, the changed run. */
function lostTrades(before: readonly Trade[], after: SimulationResult): string[] {
  const kept = new Map(after.trades.map((trade) => [key(trade), trade]));
  return before.flatMap((trade) => {
    const same = kept.get(key(trade));
    const isSame =
      same !== undefined &&
      near(trade.entryPrice, same.entryPrice) &&
      near(trade.exitPrice, same.exitPrice) &&
      near(trade.quantity, same.quantity) &&
      near(trade.entryFee, same.entryFee) &&
      near(trade.exitFee, same.exitFee) &&
      near(trade.pnl, same.pnl);
    return isSame ? [] : [`${JSON.stringify(trade)} became ${JSON.stringify(same)}`];
  });
}

function lostEntries(before: readonly OrderRecord[], after: SimulationResult): string[] {
  return before.flatMap((order) => {
    const same = after.orders!.find(({ row, rule }) => row === order.row && rule === order.rule);
    const isSame =
      same?.filledRow === order.filledRow &&
      near(order.fillPrice!, same.fillPrice ?? NaN) &&
      near(order.quantity!, same.quantity ?? NaN) &&
      near(order.fee!, same.fee ?? NaN);
    return isSame ? [] : [`${JSON.stringify(order)} became ${JSON.stringify(same)}`];
  });
}

/** Whether the quarters of an hour up to `last` reach the price of a pending order. */
function isReached(order: OrderRecord, quarters: readonly Row[]): boolean {
  const isBuy = order.side === 'buy';
  const waitsForFall = (order.type === 'limit') === isBuy;
  return quarters.some(([, open, high, low]) =>
    waitsForFall ? Math.min(open, low) <= order.price! : Math.max(open, high) >= order.price!,
  );
}

const filledEntries = ({ orders }: SimulationResult): OrderRecord[] =>
  orders!.filter(({ purpose, status }) => purpose === 'entry' && status === 'filled');

/** The quarter of its bar that first reaches a limit or stop entry that filled; none for a market order. */
function reachedAt(order: OrderRecord, { parts, market }: Scenario): number[] {
  if (order.type === 'market') return [];
  const from = market.base.time[order.filledRow!];
  const reached = parts.quarters.find((row) => row[0] >= from && isReached(order, [row]));
  return reached === undefined ? [] : [reached[0]];
}

/** The quarter of its bar in which a closing fill happens, as far as its row or the prices say it. */
function exitedAt(trade: Trade, { parts, market }: Scenario): number[] {
  const { exitRow, entryRow, exitFineTime, exitMethod, exitReason, exitPrice, side } = trade;
  if (exitFineTime !== null) return [exitFineTime];
  if (exitMethod !== 'direct' || entryRow === exitRow) return [];
  // A decided bar fills its level where the prices first come to it. A stop is slipped: its own price is not known.
  if (exitReason !== 'take_profit') return [];
  const from = market.base.time[exitRow];
  const touched = parts.quarters.find(
    ([time, , high, low]) => time >= from && (side > 0 ? high >= exitPrice : low <= exitPrice),
  );
  return touched === undefined ? [] : [touched[0]];
}

describe('no fill depends on anything later inside its bar', { timeout: 1_800_000 }, () => {
  it('where the bar is walked: with every later child changed, what had filled stays as it was, with its fees', () => {
    let trades = 0;
    let entries = 0;
    const lost: string[] = [];
    for (let seed = 1; seed <= SCENARIOS; seed++) {
      const scenario = scenarioOf(seed, { children: 'whole', innerGaps: 0 });
      const { parts, market } = scenario;
      const dice = diceOf(seed);
      const whole = run(scenario, parts, 'multi_resolution');
      const fills = filledEntries(whole).flatMap((order) => reachedAt(order, scenario));
      const exits = whole.trades.flatMap((trade) => exitedAt(trade, scenario));
      const cuts = [fills, exits].flatMap((times) => (times.length === 0 ? [] : [dice.pick(times), dice.pick(times)]));
      for (const time of new Set(cuts)) {
        const last = parts.quarters.findIndex(([open]) => open === time);
        const row = market.base.time.findLastIndex((open) => open <= time);
        if (last + 1 >= parts.quarters.length) continue;
        const changed = run(scenario, withOtherFuture(parts, last, seed, false), 'multi_resolution');
        const exited = whole.trades.filter(
          (trade) => trade.exitRow < row || exitedAt(trade, scenario).some((open) => open <= time),
        );
        const entered = filledEntries(whole).filter(
          (order) => order.filledRow! < row || reachedAt(order, scenario).some((open) => open <= time),
        );
        trades += exited.filter(({ exitRow }) => exitRow === row).length;
        entries += entered.filter(({ filledRow }) => filledRow === row).length;
        const gone = [...lostTrades(exited, changed), ...lostEntries(entered, changed)];
        lost.push(...gone.map((text) => `seed ${seed}, ${new Date(time).toISOString()}: ${text}`));
      }
    }
    expect(lost).toEqual([]);
    expect(trades).toBeGreaterThan(SCENARIOS / 2);
    expect(entries).toBeGreaterThan(SCENARIOS / 20);
  });

  it.each(AMBIGUITY_FALLBACKS)(
    'where it is not walked, under %s: what fills at the open needs no more than the open',
    (policy) => {
      let compared = 0;
      const lost: string[] = [];
      for (let seed = 1; seed <= SCENARIOS / 2; seed++) {
        const scenario = scenarioOf(seed, { children: 'whole', innerGaps: 0 });
        const { parts, market, config } = scenario;
        const whole = run(scenario, parts, policy);
        const isAtOpen = ({ exitMethod, exitReason }: Trade): boolean =>
          exitMethod === 'gap' ||
          (config.execution!.orderTiming === 'next_open' && ['signal', 'time_stop'].includes(exitReason));
        const atOpen = whole.trades.filter(isAtOpen);
        if (atOpen.length === 0) continue;
        const { exitRow } = diceOf(seed).pick(atOpen);
        const last = Math.round((market.base.time[exitRow] - parts.quarters[0][0]) / QUARTER_MS) - 1;
        const changed = run(scenario, withOtherFuture(parts, last, seed, true), policy);
        const filled = whole.trades.filter(
          (trade) => trade.exitRow < exitRow || (trade.exitRow === exitRow && isAtOpen(trade)),
        );
        compared += filled.filter((trade) => trade.exitRow === exitRow).length;
        lost.push(...lostTrades(filled, changed).map((text) => `${seed}: ${text}`));
      }
      expect(lost).toEqual([]);
      expect(compared).toBeGreaterThan(SCENARIOS / 10);
    },
  );

  it.each(AMBIGUITY_FALLBACKS)(
    'where it is not walked, under %s: no entry inside takes a slot or side that is freed inside',
    (policy) => {
      let entries = 0;
      const early: string[] = [];
      for (let seed = 1; seed <= SCENARIOS; seed++) {
        const scenario = scenarioOf(seed, { children: 'none' });
        const { trades, orders } = run(scenario, scenario.parts, policy);
        const slots = scenario.settings.maxConcurrentPositions!;
        // A reversal would have closed the other side itself.
        const inside = orders!.filter((order) => isFilledInside(order, scenario) && !reverses(order, scenario));
        for (const order of inside) {
          const held = trades.filter((trade) => isHeldInside(trade, order.filledRow!));
          const ids = new Set(held.map(({ positionId }) => positionId));
          const isOpposed = held.some(({ side }) => side !== (order.side === 'buy' ? 1 : -1));
          if (ids.size >= slots || isOpposed) early.push(`seed ${seed}: ${JSON.stringify(order)}`);
        }
        entries += inside.length;
      }
      expect(early).toEqual([]);
      expect(entries).toBeGreaterThan(SCENARIOS / 4);
    },
  );
});

/** A limit or stop entry at its price and not at the open. */
function isFilledInside(order: OrderRecord, { market }: Scenario): boolean {
  if (order.purpose !== 'entry' || order.status !== 'filled' || order.type === 'market') return false;
  const open = market.base.open[order.filledRow!];
  return !isReached(order, [[0, open, open, open, open]]);
}

function reverses({ rule }: OrderRecord, { ast }: Scenario): boolean {
  const index = Number(rule.split('/').at(-1));
  return [ast.strategy.entry!].flat()[index].conflict === 'reverse';
}

/** Held when the inside of the row begins, and not closed by an order of that row. */
const isHeldInside = ({ entryRow, exitRow, exitMethod, exitReason }: Trade, row: number): boolean =>
  entryRow < row &&
  (exitRow > row ||
    (exitRow === row && exitMethod !== 'gap' && !['signal', 'time_stop', 'reverse'].includes(exitReason)));
