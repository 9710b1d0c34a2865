// The audits of a robustness check: every template passes the look-ahead audit, a planted look-ahead does not, and a
// warm-up that is too short for a recursive average is found.
import { describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../../src/api/templates/catalog.ts';
import { compiledAst } from '../../../src/api/templates/template.ts';
import type { Bars, Market } from '../../../src/engine/bars/bars.ts';
import {
  BacktestConfig,
  createMarket,
  createUniverse,
  isPortfolio,
  symbolsOf as runSymbolsOf,
  type StrategyAst,
} from '../../../src/engine/index.ts';
import { marketUpTo } from '../../../src/engine/robustness/cutMarket.ts';
import { lookAheadAudit } from '../../../src/engine/robustness/analyses/lookAheadAudit.ts';
import { warmUpAudit } from '../../../src/engine/robustness/analyses/warmUpAudit.ts';
import { shippedData } from '../../support/shippedData.ts';
import { compare, cross, indicator, market as field } from '../../support/builders.ts';
import { baselineOf, robustnessContext } from '../../support/robustness.ts';
import { marketOf } from '../../support/sweeps.ts';

const action = { side: 'long', sizing: { mode: 'percent_equity', value: 100 } };
const strategyOf = (sections: object): StrategyAst => ({
  protocol: 'svc.strategy',
  version: 1,
  strategy: { kind: 'strategy', ...sections },
});

/** Every `instrument.symbol` of a payload. */
const symbolsOf = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"instrument":\{"symbol":"([^"]+)"/g)].map(([, symbol]) => symbol);

describe('the look-ahead audit', () => {
  it.each(TEMPLATES.map((template) => [template.key, template] as const))('passes %s', async (_key, template) => {
    const shipped = await shippedData();
    const config = BacktestConfig.parse(template.suggestedConfig);
    const ast = compiledAst(template) as unknown as StrategyAst;
    const symbols = new Set([...symbolsOf(ast), ...runSymbolsOf(config)]);
    const read = await Promise.all([...symbols].map((each) => shipped.snapshots(each, config.timeframe)));
    const snapshots = [...new Set(read.flat())];
    const market = isPortfolio(config)
      ? createUniverse(snapshots, runSymbolsOf(config), config.timeframe)
      : createMarket(snapshots, runSymbolsOf(config)[0], config.timeframe);
    const context = robustnessContext(ast, market, { config, settings: template.settings });
    const audit = lookAheadAudit(context, baselineOf(context));
    expect(audit).toMatchObject({ passed: true, signalsDiffering: 0, tradesDiffering: 0, equityDiffering: 0 });
    expect(audit.cuts).toBeGreaterThan(10);
    expect(audit.signalsCompared).toBeGreaterThan(1_000);
  });

  /** A column beside the bars that knows the next close, as far as there is one. */
  const peeking = (market: Market): Market => {
    const { base } = market;
    const next = base.close.map((_, row) => base.close[row + 1] ?? NaN);
    const planted: Bars = { ...base, series: new Map([['next', next]]), sha256: `${base.sha256} planted` };
    return {
      ...market,
      base: planted,
      bars: (symbol, timeframe) =>
        symbol === base.symbol && timeframe === base.timeframe ? planted : market.bars(symbol, timeframe),
    };
  };
  const onNext = strategyOf({
    entry: { kind: 'entry', trigger: compare({ kind: 'series', name: 'next' }, 'gt', field('close')), action },
    exits: [{ kind: 'exit', when: compare({ kind: 'series', name: 'next' }, 'lt', field('close')) }],
  });

  it('catches a strategy that reads the next close', () => {
    const honest = marketOf(400, 3);
    const context = robustnessContext(onNext, peeking(honest));
    const audit = lookAheadAudit(context, baselineOf(context), (_, rows) => peeking(marketUpTo(honest, rows)));
    expect(audit.passed).toBe(false);
    // A signal on the last bar of every cut needs the bar after it, and is not there.
    expect(audit.signalsDiffering).toBeGreaterThanOrEqual(12);
    expect(audit.first).toMatchObject({ whole: true, cut: false });
  });

  it('passes the same strategy on a column that is known at the close', () => {
    const honest = marketOf(400, 3);
    const delayed = (market: Market): Market => {
      const { base } = market;
      const bars = { ...base, series: new Map([['next', base.close.map((_, row) => base.close[row - 1] ?? NaN)]]) };
      return { ...market, base: bars, bars: (symbol) => (symbol === base.symbol ? bars : undefined) };
    };
    const context = robustnessContext(onNext, delayed(honest));
    const audit = lookAheadAudit(context, baselineOf(context), (_, rows) => delayed(marketUpTo(honest, rows)));
    expect(audit).toMatchObject({ passed: true, signalsDiffering: 0 });
  });
});

describe('the warm-up audit', () => {
  const above = (id: string, length: number): StrategyAst =>
    strategyOf({
      entry: { kind: 'entry', trigger: cross(field('close'), 'cross_up', indicator(id, { length })), action },
      exits: [{ kind: 'exit', when: cross(field('close'), 'cross_down', indicator(id, { length })) }],
    });
  const audited = (ast: StrategyAst, warmupPeriod: number) => {
    const context = robustnessContext(ast, marketOf(1_200, 4), { settings: { warmupPeriod } });
    return warmUpAudit(context, baselineOf(context));
  };

  it('finds that an exponential average still remembers its seed', () => {
    const audit = audited(above('ema', 50), 50);
    expect(audit).toMatchObject({ passed: false, warmupBars: 50 });
    expect(audit.byMultiple[0]).toMatchObject({ multiple: 1 });
    expect(audit.byMultiple[0].signalsDiffering).toBeGreaterThan(0);
    expect(audit.enoughBars).toBeGreaterThan(50);
    // With as many bars as it calls enough, it passes.
    expect(audited(above('ema', 50), audit.enoughBars!).passed).toBe(true);
  });

  it('passes a simple average, which reads nothing before its window', () => {
    expect(audited(above('sma', 50), 51)).toMatchObject({ passed: true, enoughBars: 51 });
  });
});
