// The registry of statistics: where each number is stored, and the rows of the report.
import { describe, expect, it } from 'vitest';
import { FLAT_KEYS, STATISTICS, type FlatKey } from '../../../src/engine/definitions/statistics/statistics.ts';
import { flatNumbersOf, type FlatParts } from '../../../src/engine/report/flatSummary.ts';

/** What is stored of a run, position by position. Results have no names: this list may only grow, at its end. */
const STORED: readonly FlatKey[] = [
  'returnPct', 'netProfit', 'initialBalance', 'finalEquity', 'buyHoldReturnPct', 'excessReturnPct',
  'equityPeak', 'cagr', 'calmarRatio', 'recoveryFactor', 'maxDrawdown', 'avgDrawdown', 'maxDrawdownDurationBars',
  'maxDrawdownStart', 'maxDrawdownEnd', 'maxDrawdownRecoveredAt', 'timeUnderwaterPct',
  'annualVolatility', 'sharpeRatio', 'sortinoRatio', 'omegaRatio', 'ulcerIndex', 'tailRatio', 'var95', 'cvar95', 'skew',
  'kurtosis', 'beta', 'alpha', 'probabilisticSharpe', 'minTrackRecordDays',
  'exposurePct', 'turnover',
  'totalPositions', 'longPositions', 'shortPositions', 'winRate', 'profitFactor', 'expectancy', 'expectancyR',
  'avgTradePct', 'medianTradePct', 'avgWin', 'avgLoss', 'winLossRatio', 'bestTradePct', 'worstTradePct',
  'maxConsecutiveWins',
  'maxConsecutiveLosses', 'avgBarsHeld', 'avgMaePct', 'avgMfePct', 'systemQualityNumber', 'kellyFraction',
  'totalFees', 'makerFees', 'takerFees', 'feesPctOfGross', 'slippageCost', 'fundingPaid', 'totalNotional',
]; // prettier-ignore

/** Parts whose values are the positions, with the members of each block in this order. */
const partsOf = (order: (keys: FlatKey[]) => FlatKey[]): FlatParts =>
  Object.fromEntries(
    [...Map.groupBy(STATISTICS, ({ block }) => block)].map(([block, members]) => [
      block,
      Object.fromEntries(order(members.map(({ key }) => key)).map((key) => [key, FLAT_KEYS.indexOf(key)])),
    ]),
  ) as unknown as FlatParts;

describe('the stored numbers', () => {
  it('keep the position that every stored result has them at', () => {
    const positions = Object.fromEntries(STATISTICS.map(({ key, position }) => [key, position]));
    expect(STORED.map((key) => [key, positions[key]])).toEqual(STORED.map((key, at) => [key, at]));
  });

  it('have one position each, without a gap', () => {
    expect(STATISTICS.map(({ position }) => position)).toEqual(STATISTICS.map((_, at) => at));
  });

  it('have one key each', () => {
    expect(new Set(FLAT_KEYS).size).toBe(FLAT_KEYS.length);
  });

  it.each([
    ['as defined', (keys: FlatKey[]) => keys],
    ['reversed', (keys: FlatKey[]) => keys.toReversed()],
    ['with the last one in the middle', (keys: FlatKey[]) => keys.toSpliced(1, 0, keys.pop()!)],
  ])('do not depend on the order of members: %s', (_, order) => {
    expect([...flatNumbersOf(partsOf(order))]).toEqual(FLAT_KEYS.map((_key, at) => at));
  });

  it('are none of a member that has no definition, which would otherwise move all after it', () => {
    const parts = partsOf((keys) => keys);
    const { annualVolatility, ...others } = parts.returns;
    const returns = { annualVolatility, planted: 777, ...others };
    expect(() => flatNumbersOf({ ...parts, returns })).toThrow('There is no statistic planted.');
  });
});

describe('the rows of the report', () => {
  it('have a place of their own in their table', () => {
    const places = STATISTICS.map(({ row }) => `${row.table} ${row.place}`);
    expect(places.filter((place, at) => places.indexOf(place) !== at)).toEqual([]);
  });

  it('have a name of their own', () => {
    const names = STATISTICS.map(({ row }) => `${row.table} ${row.name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
