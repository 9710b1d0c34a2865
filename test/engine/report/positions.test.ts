// Positions and what is counted of them and of trades, against formulas over plain objects: positions that close in
// parts, in another order than they opened, and with a result of exactly zero.
import { describe, expect, it } from 'vitest';
import { exitStatistics } from '../../../src/engine/report/exitStatistics.ts';
import { positionsOf } from '../../../src/engine/report/positions.ts';
import { positionStatistics } from '../../../src/engine/report/positionStatistics.ts';
import { breakdownsOf } from '../../../src/engine/report/summaryBlocks.ts';
import { EXIT_METHODS } from '../../../src/engine/simulate/instant.ts';
import { EXIT_REASONS } from '../../../src/engine/definitions/exitReasons/exitReasons.ts';
import { TRADE, TradeLog } from '../../../src/engine/simulate/tradeLog.ts';
import { diceOf, type Dice } from '../../support/dice.ts';
import { scaled } from '../../support/scale.ts';

/** Trades whose numbers are whole, so that every sum is exact. */
function randomLog(dice: Dice): TradeLog {
  const log = new TradeLog();
  const parts = dice.pick([1, 1, 3]);
  const opened: { id: number; side: number; entryRow: number; entryPrice: number; risk: number; left: number }[] = [];
  const count = dice.whole(0, 12);
  for (let id = 1; id <= count; id++) {
    const entryRow = dice.whole(0, 20);
    const risk = dice.pick([NaN, 0, 1, 4]);
    const side = dice.pick([1, -1]);
    opened.push({ id, side, entryRow, entryPrice: dice.pick([64, 128]), risk, left: dice.whole(1, parts) });
  }
  const isInOrder = dice.chance(0.5);
  let row = 20;
  while (opened.length > 0) {
    const at = isInOrder ? 0 : dice.whole(0, opened.length - 1);
    const position = opened[at];
    row += dice.whole(0, 2);
    const reason = dice.pick(EXIT_REASONS);
    const decision = { method: dice.pick(EXIT_METHODS), resolution: '1h', policy: null, fineTime: null } as const;
    const place = log.add(reason, decision);
    const numbers = {
      positionId: position.id,
      side: position.side,
      entryRow: position.entryRow,
      exitRow: row,
      entryPrice: position.entryPrice,
      quantity: dice.whole(1, 4),
      pnl: dice.pick([0, dice.whole(-9, 9)]),
      maePct: -dice.whole(0, 9),
      mfePct: dice.whole(0, 9),
      entryRule: position.id % 3,
      initialRisk: position.risk,
    };
    for (const [name, value] of Object.entries(numbers)) log.numbers[place + TRADE[name as keyof typeof TRADE]] = value;
    if (--position.left === 0) opened.splice(at, 1);
  }
  return log;
}

type Trades = ReturnType<TradeLog['rows']>;
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const mean = (values: readonly number[]): number | null => (values.length === 0 ? null : total(values) / values.length);
const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
const near = (value: number | null): unknown => (value === null ? null : expect.closeTo(value, 12));

/** One object per position, by last exit; of equal ones, the one whose first part closed first. */
function groupsOf(trades: Trades) {
  const ids = [...new Set(trades.map(({ positionId }) => positionId))];
  const groups = ids.map((id) => trades.filter(({ positionId }) => positionId === id));
  groups.sort((a, b) => a.at(-1)!.exitRow - b.at(-1)!.exitRow);
  return groups.map((parts) => {
    const { side, entryRule, entryRow, exitRow, entryPrice, initialRisk } = parts.at(-1)!;
    const quantity = total(parts.map((part) => part.quantity));
    const pnl = total(parts.map((part) => part.pnl));
    return {
      side,
      entryRule,
      pnl,
      returnPct: pnl / (quantity * entryPrice),
      barsHeld: exitRow - entryRow,
      maePct: Math.min(...parts.map((part) => part.maePct)),
      mfePct: Math.max(...parts.map((part) => part.mfePct)),
      pnlR: initialRisk === null || initialRisk === 0 ? NaN : pnl / (quantity * initialRisk),
    };
  });
}
type Group = ReturnType<typeof groupsOf>[number];

/** The most of one sign in a row; zeros are left out before. */
const longest = (pnls: readonly number[], sign: 1 | -1): number =>
  Math.max(
    ...pnls
      .filter((pnl) => pnl !== 0)
      .map((pnl) => (pnl * sign > 0 ? '1' : ' '))
      .join('')
      .split(' ')
      .map((streak) => streak.length),
  );

function statisticsOf(groups: readonly Group[]): object {
  const pnls = groups.map(({ pnl }) => pnl);
  const wins = pnls.filter((pnl) => pnl > 0);
  const losses = pnls.filter((pnl) => pnl < 0);
  const returns = groups.map(({ returnPct }) => returnPct).sort((a, b) => a - b);
  const [avgWin, avgLoss] = [mean(wins), mean(losses)];
  const winLossRatio = avgWin === null || avgLoss === null ? null : -avgWin / avgLoss;
  const middle = (returns.length - 1) / 2;
  const winRate = share(wins.length, pnls.length);
  return {
    totalPositions: groups.length,
    longPositions: groups.filter(({ side }) => side === 1).length,
    shortPositions: groups.filter(({ side }) => side === -1).length,
    winRate: near(winRate),
    profitFactor: losses.length === 0 ? null : near(-total(wins) / total(losses)),
    expectancy: near(mean(pnls)),
    expectancyR: near(mean(groups.map(({ pnlR }) => pnlR).filter((value) => !Number.isNaN(value)))),
    avgTradePct: near(mean(returns)),
    medianTradePct: near(mean(returns.slice(Math.floor(middle), Math.ceil(middle) + 1))),
    avgWin: near(avgWin),
    avgLoss: near(avgLoss),
    winLossRatio: near(winLossRatio),
    bestTradePct: returns.at(-1) ?? null,
    worstTradePct: returns[0] ?? null,
    maxConsecutiveWins: longest(pnls, 1),
    maxConsecutiveLosses: longest(pnls, -1),
    avgBarsHeld: near(mean(groups.map(({ barsHeld }) => barsHeld))),
    avgMaePct: near(mean(groups.map(({ maePct }) => maePct))),
    avgMfePct: near(mean(groups.map(({ mfePct }) => mfePct))),
    kellyFraction: winLossRatio === null ? null : near(winRate! - (1 - winRate!) / winLossRatio),
  };
}

const sideOf = (groups: readonly Group[]): object => ({
  positions: groups.length,
  pnl: total(groups.map(({ pnl }) => pnl)),
  winRate: share(groups.filter(({ pnl }) => pnl > 0).length, groups.length),
});

function exitsByReason(trades: Trades): Record<string, object> {
  const found: Record<string, object> = {};
  for (const reason of EXIT_REASONS) {
    const ended = trades.filter(({ exitReason }) => exitReason === reason);
    const wins = ended.filter(({ pnl }) => pnl > 0).length;
    if (ended.length > 0)
      found[reason] = { trades: ended.length, pnl: total(ended.map(({ pnl }) => pnl)), winRate: wins / ended.length };
  }
  return found;
}

const countBy = (words: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
};

describe('the positions of generated trades', () => {
  const dice = diceOf(41);
  const logs = Array.from({ length: scaled(4_000) }, () => randomLog(dice));

  it('are the sums of their parts, by last exit', () => {
    for (const log of logs) {
      const { count, ...columns } = positionsOf(log);
      const positions = Array.from({ length: count }, (_, at) =>
        Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[at] + 0])),
      );
      const expected = groupsOf(log.rows()).map((group) =>
        Object.fromEntries(Object.entries(group).map(([name, value]) => [name, value + 0])),
      );
      expect(positions).toEqual(expected);
    }
  });

  it('have the statistics of the formulas, overall and by side', () => {
    for (const log of logs) {
      const positions = positionsOf(log);
      const groups = groupsOf(log.rows());
      expect(positionStatistics(positions, 1)).toMatchObject(statisticsOf(groups));
      const { bySide } = breakdownsOf(positions, exitStatistics(log));
      expect(bySide).toEqual({
        long: sideOf(groups.filter(({ side }) => side === 1)),
        short: sideOf(groups.filter(({ side }) => side === -1)),
      });
    }
  });
});

describe('the exits of generated trades', () => {
  it('are counted by reason and by method', () => {
    const dice = diceOf(42);
    for (let round = 0; round < scaled(2_000); round++) {
      const log = randomLog(dice);
      const trades = log.rows();
      const found = exitStatistics(log);
      expect(Object.entries(found.byReason)).toEqual(Object.entries(exitsByReason(trades)));
      expect(Object.entries(found.counts)).toEqual(Object.entries(countBy(trades.map((trade) => trade.exitReason))));
      const methods = countBy(trades.map((trade) => trade.exitMethod));
      expect(found.byMethod).toEqual({ direct: 0, gap: 0, drill: 0, fallback: 0, ...methods });
    }
  });
});
