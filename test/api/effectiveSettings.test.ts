// Effective settings: versions and results show what was used and what decided it; the result hash does not depend on
// how it is shown.
import { afterAll, describe, expect, it } from 'vitest';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { createLiveApi } from '../support/liveApi.ts';

const live = await createLiveApi();
const { client, finalize, run } = live;
afterAll(() => live[Symbol.asyncDispose]());

const astWith = (defaults: object) => {
  const ast = structuredClone(EXAMPLE_STRATEGY_AST) as unknown as { strategy: object };
  return { ...ast, strategy: { ...ast.strategy, defaults } };
};
const defaults = {
  timeframe: '1h',
  instrument: { symbol: 'AAPL' },
  timezone: 'America/New_York',
  warmupBars: 260,
  maxConcurrentPositions: 5,
};
const payload = { strategyAst: astWith(defaults), settings: { maxConcurrentPositions: 2 } };

describe('a version', () => {
  it('shows which of settings and defaults counts, in finalize and in GET alike', async () => {
    const { body } = await finalize(payload);
    const effectiveSettings = {
      maxConcurrentPositions: { value: 2, source: 'settings', overruled: 5 },
      warmupBars: { value: 260, source: 'strategy.defaults' },
      timezone: { value: 'America/New_York', source: 'strategy.defaults' },
    };
    expect(body.effectiveSettings).toEqual(effectiveSettings);
    const read = await client.get(`/strategies/${body.strategyId}/versions/1`);
    expect(read.body.effectiveSettings).toEqual(effectiveSettings);
  });

  it('shows the values of the engine where the author gives none', async () => {
    const { body } = await finalize({ strategyAst: astWith({}), settings: {} });
    expect(body.effectiveSettings).toEqual({
      maxConcurrentPositions: { value: 1, source: 'default' },
      warmupBars: { value: null, source: 'inferred' },
      timezone: { value: 'UTC', source: 'default' },
    });
  });
});

describe('a result', () => {
  it('shows what the run went by', async () => {
    const { body } = await run(payload, { ambiguityFallback: 'worst', leverage: 2 });
    expect(body.effectiveSettings).toEqual({
      maxConcurrentPositions: { value: 2, source: 'settings', overruled: 5 },
      warmupBars: { value: 260, source: 'strategy.defaults' },
      timezone: { value: 'America/New_York', source: 'strategy.defaults' },
      timeframe: { value: '1d', source: 'config', overruled: '1h' },
      symbol: { value: 'SPX', source: 'config', overruled: 'AAPL' },
      orderTiming: { value: 'next_open', source: 'default' },
      ambiguityResolution: { value: 'multi_resolution', source: 'default' },
      ambiguityFallback: { value: 'worst', source: 'config' },
      leverage: { value: 2, source: 'config' },
    });
  });

  it('shows the warm-up that was inferred, and numbers that the config replaced', async () => {
    const { body } = await run({ strategyAst: EXAMPLE_STRATEGY_AST, settings: {} });
    const { value, source } = body.effectiveSettings.warmupBars;
    expect(source).toBe('inferred');
    expect(value).toBe(body.result.summaryJson.evaluationWindow.warmupBars);
    const overrides = { '/strategyAst/strategy/defaults/maxConcurrentPositions': 4 };
    const replaced = await run({ strategyAst: astWith({ maxConcurrentPositions: 3 }), settings: {} }, { overrides });
    expect(replaced.body.effectiveSettings.maxConcurrentPositions).toEqual({ value: 4, source: 'config.overrides' });
  });

  it('has the hash of the summary as it was computed, whatever answers add to it', async () => {
    const { body } = await run();
    const again = await client.post(`/backtests/${body.id}/verify`);
    expect(again.body).toMatchObject({ verified: true });
  });
});
