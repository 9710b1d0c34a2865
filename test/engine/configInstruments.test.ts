// The instruments of a config: one or a list, the settings of a portfolio, and their resolved form.
import { describe, expect, it } from 'vitest';
import {
  BacktestConfig,
  checkConfigForm,
  configIssues,
  isPortfolio,
  quoteIssues,
  resolveConfig,
  symbolsOf,
} from '../../src/engine/index.ts';

const COMMON = { timeframe: '1d', initialBalance: 10_000 } as const;
const parse = (more: object): BacktestConfig => BacktestConfig.parse({ ...COMMON, ...more });
const listed = (...symbols: readonly string[]) => symbols.map((symbol) => ({ symbol }));
const single = { signalInstrument: { symbol: 'A' } };

describe('a config', () => {
  it('without any instrument is refused at signalInstrument, in words that name both members', () => {
    expect(BacktestConfig.safeParse(COMMON).error?.issues).toEqual([
      {
        code: 'invalid_type',
        expected: 'object',
        path: ['signalInstrument'],
        message: 'Invalid input: expected object, received undefined',
      },
    ]);
    expect(checkConfigForm(COMMON).issues).toMatchObject([
      {
        code: 'MISSING_FIELD',
        path: '/config/signalInstrument',
        field: 'config',
        severity: 'error',
        message: 'The config has neither signalInstrument nor instruments.',
        suggestion: expect.stringMatching(
          /"signalInstrument": .* for one instrument, or "instruments": .* a portfolio/,
        ),
      },
    ]);
    const [named] = checkConfigForm(COMMON, { symbol: 'SPY' }).issues;
    expect(named.suggestion).toMatch(/^The strategy's defaults name SPY\. Give "signalInstrument".*"instruments"/);
    expect(named.patch).toEqual([{ op: 'add', path: '/config/signalInstrument', value: { symbol: 'SPY' } }]);
  });

  it('with a list has no issue of form, and lists its symbols in the order of the list', () => {
    const config = parse({ instruments: listed('B', 'A'), portfolio: { slots: 2, linked: [['A', 'B']] } });
    expect(checkConfigForm(config).issues).toEqual([]);
    expect(configIssues(config)).toEqual([]);
    expect(symbolsOf(config)).toEqual(['B', 'A']);
    expect([isPortfolio(config), isPortfolio(parse(single))]).toEqual([true, false]);
  });

  it('repairs symbols that are written as texts', () => {
    expect(checkConfigForm({ ...COMMON, instruments: ['A', 'B'] }).repaired).toEqual(
      parse({ instruments: listed('A', 'B') }),
    );
  });

  it.each([
    ['both forms', { ...single, instruments: listed('A') }, '/config/signalInstrument', 'not both'],
    ['a symbol twice', { instruments: listed('A', 'B', 'A') }, '/config/instruments/2', 'twice'],
    ['a portfolio of one', { ...single, portfolio: { slots: 2 } }, '/config/portfolio', 'several instruments'],
    [
      'a link to a stranger',
      { instruments: listed('A', 'B'), portfolio: { linked: [['A', 'C']] } },
      '/config/portfolio/linked/0/1',
      'C is linked, but is not one of the instruments',
    ],
    [
      'a symbol in two groups',
      {
        instruments: listed('A', 'B', 'C'),
        portfolio: {
          linked: [
            ['A', 'B'],
            ['C', 'A'],
          ],
        },
      },
      '/config/portfolio/linked/1/1',
      'A is linked twice',
    ],
  ])('with %s has one issue at its place', (_what, members, path, words) => {
    const issues = configIssues(parse(members));
    expect(issues).toMatchObject([{ code: 'INSTRUMENTS_INVALID', path, severity: 'error' }]);
    expect(issues[0].message).toContain(words);
    expect(issues[0].suggestion).toBeTruthy();
  });

  it('cannot have an empty list, no slots, or a group of one', () => {
    for (const members of [
      { instruments: [] },
      { instruments: listed('A', 'B'), portfolio: { slots: 0 } },
      { instruments: listed('A', 'B'), portfolio: { linked: [['A']] } },
    ]) {
      expect(BacktestConfig.safeParse({ ...COMMON, ...members }).success).toBe(false);
      expect(checkConfigForm({ ...COMMON, ...members }).issues).not.toEqual([]);
    }
  });
});

describe('the resolved config', () => {
  it('of a single run has the members it always had, in their order', () => {
    expect(Object.keys(resolveConfig(parse(single))).join(' ')).toBe(
      'timeframe signalInstrument range initialBalance execution ambiguityResolution ambiguityFallback leverage ' +
        'maintenanceMarginRate fundingRate params overrides',
    );
  });

  it('of a list of one is that of the single run, byte for byte, unless something makes it a portfolio', () => {
    const one = parse({ instruments: listed('A') });
    expect(JSON.stringify(resolveConfig(one))).toBe(JSON.stringify(resolveConfig(parse(single))));
    expect(resolveConfig(one, true)).toMatchObject({ instruments: listed('A') });
    const withSlots = resolveConfig(parse({ instruments: listed('A'), portfolio: { slots: 1 } }));
    expect(withSlots).toMatchObject({ instruments: listed('A'), portfolio: { slots: 1 } });
    expect(withSlots).not.toHaveProperty('signalInstrument');
  });

  it('keeps a benchmark, of a single run too', () => {
    const benchmark = { symbol: 'SPX' };
    expect(resolveConfig(parse({ ...single, benchmark }))).toMatchObject({ ...single, benchmark });
    expect(resolveConfig(parse({ instruments: listed('A', 'B'), benchmark }))).toMatchObject({ benchmark });
  });
});

describe('quote currencies', () => {
  const quoted = (symbol: string, quote: string | null) => ({ symbol, quote });

  it('that differ are an issue at the first instrument that differs from the first that is known', () => {
    const issues = quoteIssues([quoted('A', null), quoted('B', 'USD'), quoted('C', 'USD'), quoted('D', 'EUR')]);
    expect(issues).toMatchObject([{ code: 'QUOTE_CURRENCY_MIXED', path: '/config/instruments/3/symbol' }]);
    expect(issues[0].message).toContain('B is quoted in USD, D in EUR');
  });

  it('that are unknown count as common', () => {
    expect(quoteIssues([quoted('A', null), quoted('B', 'USD'), quoted('C', null)])).toEqual([]);
    expect(quoteIssues([quoted('A', null)])).toEqual([]);
  });
});
