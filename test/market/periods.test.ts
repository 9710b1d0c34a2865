import { describe, expect, it } from 'vitest';
import { MarketDataError } from '../../src/market/import/importError.ts';
import { nameParts } from '../../src/market/import/barsFile.ts';
import type { ReadOptions } from '../../src/market/import/readOptions.ts';
import { readBars } from '../../src/market/import/barsTable.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';

const MONDAYS = ['2024-01-01', '2024-01-08', '2024-01-15', '2024-01-22'];
const FIRSTS = ['2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01'];

const FRIDAYS = ['2024-01-05', '2024-01-12', '2024-01-19', '2024-01-26'];
const SUNDAYS = ['2024-01-07', '2024-01-14', '2024-01-21', '2024-01-28'];
const ENDS = ['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30'];
const CLOSE: ReadOptions = { timeIs: 'close' };
/** Mondays but for a holiday. */
const TRADED = MONDAYS.with(0, '2024-01-02');
const at = (clock: string, days: readonly string[]): string[] => days.map((day) => `${day}T${clock}Z`);

async function opensOf(times: readonly string[], options: ReadOptions = {}): Promise<readonly [string, string[]]> {
  const rows = times.map((time, row) => `${time},${row + 1},${row + 1},${row + 1},${row + 1},1`);
  const text = ['time,open,high,low,close,volume', ...rows].join('\n');
  const { report, columns } = readBars(await readSource(Buffer.from(text)), options);
  return [report.timeframe, Array.from(columns.time, (time) => new Date(time).toISOString().slice(0, 10))];
}

describe('weekly and monthly bars', () => {
  it.each<[string, readonly string[], ReadOptions, string, readonly string[]]>([
    ['on Mondays', MONDAYS, {}, '1w', MONDAYS],
    ['on first trading days', TRADED, {}, '1w', MONDAYS],
    ['on Fridays that close', FRIDAYS, CLOSE, '1w', MONDAYS],
    ['on Sundays that close', SUNDAYS, CLOSE, '1w', MONDAYS],
    ['on Sunday evenings', at('22:00', ['2023-12-31', ...SUNDAYS.slice(0, 3)]), {}, '1w', MONDAYS],
    ['at midnight in Tokyo', at('15:00', ['2023-12-31', ...SUNDAYS.slice(0, 3)]), {}, '1w', MONDAYS],
    ['that close a millisecond early', at('23:59:59.999', SUNDAYS), CLOSE, '1w', MONDAYS],
    ['with a week left out', MONDAYS.toSpliced(2, 1), {}, '1w', MONDAYS.toSpliced(2, 1)],
    ['on firsts', FIRSTS, {}, '1M', FIRSTS],
    ['on first trading days of months', ['2024-01-02', ...FIRSTS.slice(1, 3), '2024-04-02'], {}, '1M', FIRSTS],
    ['on last days of months', ENDS, {}, '1M', FIRSTS],
    ['on last trading days of months', ENDS.with(2, '2024-03-28'), {}, '1M', FIRSTS],
    ['on last days that close', ENDS, CLOSE, '1M', FIRSTS],
    ['at the next first, which closes', [...FIRSTS.slice(1), '2024-05-01'], CLOSE, '1M', FIRSTS],
    ['at midnight in Shanghai', at('16:00', ['2023-12-31', ...ENDS.slice(0, 3)]), {}, '1M', FIRSTS],
    ['on the last evenings before a month', at('22:00', ['2023-12-31', ...ENDS.slice(0, 3)]), {}, '1M', FIRSTS],
    ['with a last bar that has not ended', FIRSTS.with(3, '2024-04-17'), {}, '1M', FIRSTS],
  ])('%s are put on the start of their period', async (_, times, options, timeframe, opens) => {
    expect(await opensOf(times, options)).toEqual([timeframe, opens]);
  });

  it.each<[string, readonly string[], string]>([
    ['Sundays', ['2024-01-07', '2024-01-14', '2024-01-21'], 'dated on Sundays. If that is the last day'],
    ['Thursdays', ['2024-01-04', '2024-01-11', '2024-01-18'], 'dated on Thursdays. If that is the last day'],
    ['the middle of months', ['2024-01-15', '2024-02-15', '2024-03-15'], 'dated in the middle of a month'],
  ])('on %s are refused with a way out', async (_, times, message) => {
    await expect(opensOf(times)).rejects.toThrow(MarketDataError);
    await expect(opensOf(times)).rejects.toThrow(message);
  });

  it('are named by files in either size of letters where that is clear', () => {
    expect(['A-1M.csv', 'A-1m.csv', 'A-1mo-2024.csv', 'A_1W.csv', 'A-1H.csv', 'A-30M.csv'].map(nameParts)).toEqual(
      ['1M', '1m', '1M', '1w', '1h', '30m'].map((timeframe) => ({ symbol: 'A', timeframe })),
    );
  });
});
