// The check of a portfolio before it is queued: what is accepted, pinned and charged, what is refused and where, and
// how long a thousand symbols take.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BacktestCheck } from '../../src/api/backtests/backtestChecks.ts';
import { ProblemError, type ProblemIssue } from '../../src/api/http/problems.ts';
import type { StrategyVersion } from '../../src/db/strategyVersions.ts';
import { BacktestConfig } from '../../src/engine/index.ts';
import type { Instrument } from '../../src/engine/bars/bars.ts';
import { DAY_MS } from '../../src/engine/bars/bars.ts';
import { catalogOver, type CatalogEntry } from '../../src/market/catalog.ts';
import type { Tier } from '../../src/tiers.ts';
import { astOf, compare, entry, market } from '../support/builders.ts';
import { INSTRUMENT, STRATEGY } from '../support/runs.ts';

const START = Date.UTC(2010, 0, 1);

const series = (symbol: string, more: Partial<CatalogEntry & Instrument> = {}): CatalogEntry => ({
  symbol,
  timeframe: '1d',
  sha256: `${symbol} ${more.timeframe ?? '1d'}`,
  bars: 1_000,
  start: START,
  end: START + 1_000 * DAY_MS,
  gaps: 0,
  missingBars: 0,
  synthetic: false,
  ...more,
  instrument: { ...INSTRUMENT, symbol, quote: 'USD', ...more },
});

const version = (strategyAst: object = STRATEGY): StrategyVersion => ({
  id: 'v',
  strategyId: 's',
  version: 1,
  status: 'ready',
  forkedFromVersionId: null,
  strategyHash: 'hash',
  createdAt: new Date(0),
  readyAt: new Date(0),
  settings: {},
  strategyAst: strategyAst as StrategyVersion['strategyAst'],
  signalGraph: null,
});

const listed = (...symbols: readonly string[]) => symbols.map((symbol) => ({ symbol }));
const config = (more: object): BacktestConfig =>
  BacktestConfig.parse({ timeframe: '1d', initialBalance: 10_000, ...more });

/** A check of one call, and how often it has read the list of series. */
function checkOn(entries: readonly CatalogEntry[], tier: Tier = 'pro') {
  const list = vi.fn(async () => entries);
  const catalog = { ...catalogOver(list, async () => []), ownSymbols: async () => new Set<string>() };
  const check = new BacktestCheck({ of: () => catalog }, { workspaceId: 'w', tier });
  return { check, list };
}

const accept = (entries: readonly CatalogEntry[], more: object, tier?: Tier) =>
  checkOn(entries, tier).check.accept(version(), config(more));

/** What the refusal says. */
async function refusal(promise: Promise<unknown>): Promise<ProblemError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof ProblemError)) throw new Error(`It was not refused: ${JSON.stringify(error)}`);
  return error;
}
const places = (issues: readonly ProblemIssue[] | undefined) => issues?.map(({ code, path }) => [code, path]);

afterEach(() => vi.restoreAllMocks());

describe('the check of a portfolio', () => {
  it('stores its symbols in the order of the list, and pins every series of each, the benchmark included', async () => {
    const entries = [series('A'), series('A', { timeframe: '1h' }), series('B'), series('M'), series('X')];
    const stored = await accept(entries, { instruments: listed('B', 'A'), benchmark: { symbol: 'M' } });
    expect(stored.symbols).toEqual(['B', 'A']);
    expect(stored.snapshots).toEqual(['A 1d', 'A 1h', 'B 1d', 'M 1d']);
  });

  it('pins a series that a node names, and does not miss one that is among the instruments', async () => {
    const reads = (symbol: string) =>
      version(astOf({ entry: entry(compare({ ...market(), instrument: { symbol } }, 'gt', 1)) }));
    const { check } = checkOn([series('A'), series('B'), series('M')]);
    const two = config({ instruments: listed('A', 'B') });
    expect((await check.accept(reads('M'), two)).snapshots).toEqual(['A 1d', 'B 1d', 'M 1d']);
    const other = checkOn([series('A'), series('B')]).check;
    expect((await other.accept(reads('B'), two)).snapshots).toEqual(['A 1d', 'B 1d']);
    const missing = await refusal(checkOn([series('A'), series('B')]).check.accept(reads('M'), two));
    expect(places(missing.issues)).toEqual([['SYMBOL_NOT_AVAILABLE', '/strategyVersionId']]);
  });

  it('names every unknown symbol at once, with what was probably meant', async () => {
    const entries = [series('AAPL'), series('MSFT'), series('BTC-USD'), series('TSLA', { timeframe: '1d' })];
    const instruments = listed('AAPL', 'MSFTT', 'btcusd', 'QQQQQQQQ');
    const { issues } = await refusal(accept(entries, { instruments, benchmark: { symbol: 'AAPLE' } }));
    expect(issues).toMatchObject([
      { code: 'SYMBOL_NOT_AVAILABLE', path: '/config/instruments/1/symbol', suggestion: 'Did you mean "MSFT"?' },
      {
        path: '/config/instruments/2/symbol',
        patch: [{ op: 'replace', path: '/config/instruments/2/symbol', value: 'BTC-USD' }],
      },
      { path: '/config/instruments/3/symbol', suggestion: expect.stringContaining('Use one of AAPL, ') },
      { path: '/config/benchmark/symbol', suggestion: 'Did you mean "AAPL"?' },
    ]);
  });

  it('says of each instrument whose bars are too coarse which timeframes it has', async () => {
    const entries = [series('A', { timeframe: '1h' }), series('B')];
    const { issues } = await refusal(accept(entries, { timeframe: '1h', instruments: listed('A', 'B') }));
    expect(issues).toMatchObject([
      {
        code: 'TIMEFRAME_NOT_AVAILABLE',
        path: '/config/instruments/1/symbol',
        suggestion: 'Use 1d, or coarser.',
      },
    ]);
  });

  it('refuses quote currencies that are known and differ', async () => {
    const entries = [series('A', { quote: null }), series('B'), series('C', { quote: 'EUR' })];
    const mixed = await refusal(accept(entries, { instruments: listed('A', 'B', 'C') }));
    expect(places(mixed.issues)).toEqual([['QUOTE_CURRENCY_MIXED', '/config/instruments/2/symbol']]);
    await expect(accept(entries, { instruments: listed('A', 'C') })).resolves.toBeDefined();
  });

  it('names instruments without a tick size once, where slippage is in ticks', async () => {
    const entries = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((symbol) =>
      series(symbol, { tickSize: symbol === 'A' ? 0.01 : null }),
    );
    const slippage = { kind: 'fixed', unit: 'ticks', value: 1 };
    const feeModel = {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }],
    };
    const instruments = listed(...entries.map(({ symbol }) => symbol));
    const { issues } = await refusal(accept(entries, { instruments, execution: { feeModel, slippage } }));
    expect(issues).toMatchObject([
      { code: 'TICK_SIZE_UNKNOWN', message: 'The tick size of B, C, D, E, F and 1 more is not known.' },
    ]);
  });

  it('accepts an instrument without bars in the range, unless no instrument has any', async () => {
    const early = { bars: 100, end: START + 100 * DAY_MS };
    const entries = [series('A', early), series('B'), series('C', early)];
    const range = { start: START + 500 * DAY_MS, end: START + 600 * DAY_MS };
    await expect(accept(entries, { instruments: listed('A', 'B'), range })).resolves.toBeDefined();
    const empty = await refusal(accept(entries, { instruments: listed('A', 'C'), range }));
    expect(empty).toMatchObject({
      code: 'RANGE_NO_DATA',
      message: 'The range holds no bars: the 2 instruments have 2010-01-01T00:00:00.000Z to 2010-04-11T00:00:00.000Z.',
      extras: { available: { start: START, end: START + 100 * DAY_MS } },
    });
  });

  it('costs what its instruments cost one by one, and needs their memory together', async () => {
    const entries = Array.from({ length: 20 }, (_, at) => series(`S${at}`, { bars: 100_000 }));
    const [first] = entries;
    const one = await accept(entries, { signalInstrument: { symbol: first.symbol } });
    const all = await accept(entries, { instruments: listed(...entries.map(({ symbol }) => symbol)) });
    const COST_OF_A_RUN = 1_000;
    expect(all.cost - COST_OF_A_RUN).toBe(20 * (one.cost - COST_OF_A_RUN));
    expect(all.memoryBytes).toBeGreaterThan(19 * 100_000 * 8);
    expect(all.memoryBytes).toBeLessThan(20 * one.memoryBytes);
  });

  it('charges a list of one as the run of that instrument, under the same run key', async () => {
    const one = await accept([series('A')], { signalInstrument: { symbol: 'A' } });
    const list = await accept([series('A')], { instruments: listed('A') });
    expect({ ...list, config: null }).toEqual({ ...one, config: null });
  });
});

describe('the limits of a portfolio', () => {
  const symbols = (count: number) => Array.from({ length: count }, (_, at) => `S${at}`);

  it.each([
    ['free', 10],
    ['plus', 100],
    ['pro', 1_000],
  ] as const)('are %s: %i instruments', async (tier, limit) => {
    const names = symbols(limit);
    const entries = names.map((symbol) => series(symbol, { bars: 10, end: START + 10 * DAY_MS }));
    await expect(accept(entries, { instruments: listed(...names) }, tier)).resolves.toBeDefined();
    // The schema takes no more than the largest tier.
    if (tier === 'pro') return;
    const { check, list } = checkOn(entries, tier);
    const tooMany = config({ instruments: listed(...names, 'UNKNOWN') });
    expect(await refusal(check.accept(version(), tooMany))).toMatchObject({
      status: 403,
      code: 'TIER_LIMIT_REACHED',
      message: expect.stringContaining(`has ${limit + 1} instruments; the ${tier} tier allows ${limit}.`),
      extras: { limitName: 'maxInstrumentsPerRun', limit, usage: limit + 1 },
    });
    expect(list).not.toHaveBeenCalled();
  });

  it('count the bars of all instruments together', async () => {
    const days = 150_000;
    const entries = symbols(10).map((symbol) => series(symbol, { bars: days, end: START + days * DAY_MS }));
    const some = listed(...symbols(6));
    await expect(accept(entries, { instruments: some }, 'free')).resolves.toBeDefined();
    const refused = await refusal(accept(entries, { instruments: listed(...symbols(10)) }, 'free'));
    expect(refused).toMatchObject({
      code: 'TIER_LIMIT_REACHED',
      message: expect.stringContaining('about 1500000 bars of 10 instruments'),
      extras: { limitName: 'barsPerBacktest', limit: 1_000_000, usage: 1_500_000 },
    });
  });

  it('hold up other requests for less than 50 ms, for a thousand symbols among ten thousand', async () => {
    const entries = symbols(10_000).map((symbol) => series(symbol));
    /** The longest that nothing else could run, of the best of three tries: another process may be at work. */
    const longestBlock = async (instruments: readonly { symbol: string }[], isKnown: boolean): Promise<number> => {
      const tries: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const { check } = checkOn(entries);
        const parsed = config({ instruments });
        let last = performance.now();
        let longest = 0;
        const watch = setInterval(() => {
          longest = Math.max(longest, performance.now() - last);
          last = performance.now();
        });
        const checked = check.accept(version(), parsed);
        await (isKnown ? checked : refusal(checked));
        longest = Math.max(longest, performance.now() - last);
        clearInterval(watch);
        tries.push(longest);
      }
      return Math.min(...tries);
    };
    expect(await longestBlock(listed(...symbols(1_000)), true)).toBeLessThan(50);
    const unknown = symbols(1_000).map((name) => `${name}-NOPE`);
    expect(await longestBlock(listed(...unknown), false)).toBeLessThan(50);
  });

  it('bound the issues of linked symbols', async () => {
    const linked = Array.from({ length: 500 }, () => symbols(500));
    const began = performance.now();
    const { issues } = await refusal(
      accept([series('A'), series('B')], { instruments: listed('A', 'B'), portfolio: { linked } }),
    );
    expect(issues).toHaveLength(100);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
