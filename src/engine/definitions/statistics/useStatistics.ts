// Definitions: how much of the time and of the account a run used (report/flatSummary.ts computes them).
import type { Statistics } from './statistic.ts';

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
