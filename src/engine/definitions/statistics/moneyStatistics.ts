// Definitions: returns in money and percent, from the first and the last mark, and how much of the time and of the
// account a run used (report/flatSummary.ts computes them).
import type { Statistics } from './statistic.ts';

export const MONEY_STATISTICS = {
  returnPct: {
    position: 0,
    about: 'finalEquity / initialBalance - 1.',
    unit: 'fraction',
    range: 'Below 0 is a loss.',
    canBeNull: false,
    reads: 'dayMarks',
    better: 'higher',
    isHeadline: true,
    row: { table: 'return', place: 10, name: 'Total return', isSigned: true },
  },
  netProfit: {
    position: 1,
    about: 'finalEquity - initialBalance.',
    unit: 'money',
    canBeNull: false,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'money', place: 40, name: 'Net profit', isSigned: true },
  },
  initialBalance: {
    position: 2,
    about: 'As configured.',
    unit: 'money',
    canBeNull: false,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'money', place: 10, name: 'Initial balance' },
  },
  finalEquity: {
    position: 3,
    about: 'Equity at the close of the last bar.',
    unit: 'money',
    canBeNull: false,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'money', place: 20, name: 'Final equity' },
  },
  buyHoldReturnPct: {
    position: 4,
    about: 'Last close / first evaluated open - 1; null without bars.',
    unit: 'fraction',
    range: '-1 or more.',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: {
      table: 'return',
      place: 30,
      name: 'Buy and hold',
      about: 'From the first open to the last close',
      isSigned: true,
    },
  },
  excessReturnPct: {
    position: 5,
    about: 'returnPct - buyHoldReturnPct.',
    unit: 'fraction',
    range: 'Below 0 trails buy and hold.',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    isHeadline: true,
    row: { table: 'return', place: 40, name: 'Excess over buy and hold', isSigned: true },
  },
} as const satisfies Statistics;

export const USE_STATISTICS = {
  exposurePct: {
    position: 31,
    about: 'Evaluated bars with a position open between the fills at the open and those at the close / evaluated bars.',
    unit: 'fraction',
    range: '0 to 1.',
    canBeNull: true,
    reads: 'rows',
    better: 'higher',
    row: { table: 'risk', place: 80, name: 'Time in the market' },
  },
  turnover: {
    position: 32,
    about: 'totalNotional / mean equity at a close.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'everyMark',
    better: 'lower',
    row: { table: 'ratio', place: 110, name: 'Turnover', about: 'Traded notional / mean equity' },
  },
} as const satisfies Statistics;
