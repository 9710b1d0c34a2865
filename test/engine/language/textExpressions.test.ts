// Text expressions: the examples of docs/expressions.md, texts of other platforms, refusals with their places, and the
// values of what was read beside a calculation of their own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../src/config.ts';
import { computeColumns, createMarket, planColumns } from '../../../src/engine/index.ts';
import { isMade, readExpression } from '../../../src/engine/language/text/readExpression.ts';
import { TIER_LIMITS } from '../../../src/tiers.ts';
import { randomColumns, randomSnapshot } from '../../support/bars.ts';

const PAGE = readFileSync(join(ROOT, 'docs', 'expressions.md'), 'utf8');
const names = { params: new Set(['fast']), nodes: new Set(), known: new Map() };
const read = (text: string) => readExpression(text, names);

describe('the examples of docs/expressions.md', () => {
  const [, section] = PAGE.split('\n## Examples\n');
  const rows = [...section.matchAll(/^\| `(.+?)` \| (.+) \|$/gm)].map(([, text, meant]) => [text, meant] as const);

  it.each(rows)('%s', (text, meant) => {
    const made = read(text);
    if (meant.startsWith('none')) expect(isMade(made)).toBe(false);
    else expect(made).toEqual(JSON.parse(meant.slice(1, -1)));
  });

  it('are more than a few', () => expect(rows.length).toBeGreaterThan(8));
});

it('reads every text of the first column of the tables of conditions and values', () => {
  const [tables] = PAGE.split('\n## Examples\n');
  const cells = [...tables.matchAll(/^\| (`.*?`) \| /gm)].flatMap(([, cell]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text),
  );
  expect(cells.length).toBeGreaterThan(30);
  // Letters stand for conditions and values of any form.
  const sample = (text: string): string =>
    text
      .replaceAll(/\ba\b/g, '(close > 1)')
      .replaceAll(/\b[xy]\b/g, 'close')
      .replaceAll(/\bb\b/g, '(open > 2)');
  expect(cells.filter((text) => !isMade(read(sample(text))))).toEqual([]);
});

describe('texts of other platforms mean', () => {
  it.each([
    ['ta.crossover(ta.ema(close, 9), ta.ema(close, 21))', 'ema(9) crosses above ema(21)'],
    ['qtpylib.crossed_below(dataframe["rsi"], 70)', 'rsi(14) crosses below 70'],
    ['df["close"] > df["sma_200"]', 'close > sma(200)'],
    ['self.data.close[0] > talib.SMA(self.data.close, timeperiod=50)', 'close > sma(50)'],
    ['high.rolling(20).max() < close', 'highest(high, 20) < close'],
    ['ta.highest(20) < close', 'highest(high, 20) < close'],
    ['ta.atr(high, low, close, 14) > 2', 'atr(14) > 2'],
    ['close.shift(1) > open.shift(1)', 'shift(close, 1) > shift(open, 1)'],
    ['(close > open) & (volume > 1000)', 'close > open and volume > 1000'],
    ['close > open && !(volume > 1_000)', null],
    ['hammer == True', 'hammer'],
    ['bb_lowerband > close', 'bbands.lower > close'],
    ['ta.valuewhen(close > open, high, 0) < close', 'value_when(close > open, high, 0) < close'],
  ])('%s', (text, same) => {
    if (same === null) expect(isMade(read(text))).toBe(false);
    else expect(normal(read(text))).toEqual(normal(read(same)));
  });
  /** Lengths that everyone has are written out. */
  const normal = (made: unknown): unknown =>
    JSON.parse(
      JSON.stringify(made).replaceAll('"indicator":"rsi","args":{}', '"indicator":"rsi","args":{"length":14}'),
    );
});

describe('a text without a certain meaning is refused, with the place in it:', () => {
  it.each([
    ['close > sma(20', 14, 'ends too early'],
    ['close > foo', 8, 'Unknown name "foo"'],
    ['close + (open > 2)', 9, 'must be a value'],
    ['close and open > 1', 0, 'must be a condition'],
    ['close > close[-1]', 8, 'looks ahead'],
    ['keltner(20, 2).upper < close', 12, 'Name each argument'],
    ['bbands(20, 2) > close', 7, 'several outputs'],
    ['sma(period_of=3) > 2', 14, 'no argument'],
    ['max(high, 20) > 5', 0, 'highest(high, 20)'],
    ['ta.rising(close, 3)', 3, 'on each of them'],
    ['buy when RSI is oversold', 4, '"when" is not expected'],
    ['x'.repeat(501), 500, 'at most 500'],
    ['('.repeat(200) + 'close' + ')'.repeat(200), 0, 'too deeply'],
  ])('%s', (text, at, message) => {
    const fault = read(text);
    expect(fault).toMatchObject({ at, message: expect.stringContaining(message) as string });
  });
});

describe('what a text is read as has the values of a calculation of its own:', () => {
  const options = { symbol: 'LAW', count: 300, seed: 11 };
  const bars = randomColumns(options);
  const market = createMarket([randomSnapshot(options)], 'LAW', '1h');
  const { close, open, high, low, volume } = bars;
  const mean = (of: ArrayLike<number>, at: number, length: number): number => {
    let total = 0;
    for (let back = 0; back < length; back++) total += of[at - back];
    return total / length;
  };
  const most = (of: ArrayLike<number>, at: number, length: number): number =>
    Math.max(...Array.from({ length }, (_, back) => of[at - back]));

  it.each<[string, (at: number) => boolean]>([
    [
      'close > sma(20) and volume < sma(volume, 10)',
      (at) => close[at] > mean(close, at, 20) && volume[at] < mean(volume, at, 10),
    ],
    [
      'close > highest(high, 5)[1] or close < open - 1.5',
      (at) => close[at] > most(high, at - 1, 5) || close[at] < open[at] - 1.5,
    ],
    ['close crosses above sma(8)', (at) => close[at] > mean(close, at, 8) && close[at - 1] <= mean(close, at - 1, 8)],
    [
      '100 * (close - low) / (high - low) between 25 and 75',
      (at) => {
        const place = (100 * (close[at] - low[at])) / (high[at] - low[at]);
        return place >= 25 && place <= 75;
      },
    ],
    [
      'close rising for 2 bars && (high + low) / 2 > close[3] ** 1',
      (at) => close[at] > close[at - 1] && close[at - 1] > close[at - 2] && (high[at] + low[at]) / 2 > close[at - 3],
    ],
    [
      'abs(change(close)) >= max(0.5, (high - low) * 0.5)',
      (at) => Math.abs(close[at] - close[at - 1]) >= Math.max(0.5, (high[at] - low[at]) * 0.5),
    ],
    ['-2 ^ 2 + 5 > 0 and close % 2 < 1', (at) => close[at] % 2 < 1],
    [
      'hour >= 9 and hour < 17 and time in tue wed',
      (at) => {
        const opened = new Date(bars.time[at]);
        return opened.getUTCHours() >= 9 && opened.getUTCHours() < 17 && [2, 3].includes(opened.getUTCDay());
      },
    ],
  ])('%s', (text, truth) => {
    const expression = read(text);
    expect(isMade(expression)).toBe(true);
    const asked = { symbol: 'LAW', timeframe: '1h', columns: { met: expression } } as const;
    const planned = planColumns(asked, TIER_LIMITS.pro, new Set(['LAW']));
    if (!planned.ok) throw new Error(JSON.stringify(planned.issues));
    const whole = { range: { start: null, end: null }, where: undefined, owner: 'test', control: null };
    const { rows, tableOf } = computeColumns(planned.planned, market, whole);
    const met = tableOf(rows).columns.find(({ name }) => name === 'met')!;
    const differing = [...rows].filter((row) => row >= 20 && met.read(row) !== truth(row));
    expect(differing).toEqual([]);
    expect([...rows].filter((row) => row >= 20 && truth(row)).length).toBeGreaterThan(0);
  });
});
