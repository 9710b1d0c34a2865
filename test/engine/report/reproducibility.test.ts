// The hashes of a run: put together from texts that are kept, they are the hashes of the whole.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveConfig, type BacktestConfig } from '../../../src/engine/config.ts';
import type { Settings } from '../../../src/engine/language/grammar/ast.ts';
import { hashOf } from '../../../src/engine/report/canonicalJson.ts';
import { configHashOf, hashWithParams, runKeyOf } from '../../../src/engine/report/reproducibility.ts';
import { configOf, INSTRUMENT } from '../../support/runs.ts';

const INSTRUMENTS = [INSTRUMENT, { ...INSTRUMENT, minNotional: 5 }, { ...INSTRUMENT, symbol: '"params":null' }];
const SETTINGS: readonly Settings[] = [{}, { warmupPeriod: 20 }, { warmupPeriod: 21 }, { maxConcurrentPositions: 20 }];

const texts = fc.constantFrom('fast', 'params', '"params":null', '\\"params\\":null', '__proto__', '');
const records = <T>(values: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(texts, values), { maxLength: 3 }).map((members) => Object.fromEntries(members));
const feeModels = fc.constantFrom(0, 0.001).map((takerRate) => ({
  kind: 'tiered_maker_taker' as const,
  tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate }],
}));
const slippages = fc.constantFrom(
  { kind: 'none' as const },
  { kind: 'fixed' as const, unit: 'bps' as const, value: 1 },
  { kind: 'volatility_scaled' as const, reference: 'bar_range_pct' as const, multiplier: 1 },
);
const changes: readonly fc.Arbitrary<Partial<BacktestConfig>>[] = [
  fc.record({ range: fc.constantFrom(null, { start: 1e12 }, { start: 1e12, end: 2e12 }, { end: 2e12 }) }),
  fc.record({ initialBalance: fc.constantFrom(100, 1_000) }),
  fc.record({ signalInstrument: fc.record({ symbol: texts }) }),
  fc.record({ fundingRate: fc.constantFrom(0, 0.01) }),
  fc.record({ execution: fc.record({ feeModel: feeModels, slippage: slippages }) }),
  fc.record({ params: records(fc.oneof(fc.integer({ max: 3 }), fc.boolean(), texts)) }),
  fc.record({ overrides: records(fc.constantFrom(1, 2)) }),
];

interface Change {
  readonly config?: Partial<BacktestConfig>;
  readonly instrument?: (typeof INSTRUMENTS)[number];
  readonly settings?: Settings;
}

describe('the config hash', () => {
  it('is that of the canonical JSON of config, instrument and settings, whatever was hashed before', () => {
    // Most runs differ from the one before in one thing.
    const change: fc.Arbitrary<Change> = fc.oneof(
      ...changes.map((each) => each.map((config) => ({ config }))),
      fc.record({ instrument: fc.constantFrom(...INSTRUMENTS) }),
      fc.record({ settings: fc.constantFrom(...SETTINGS) }),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 80 }), (all) => {
        let run = { config: configOf(), instrument: INSTRUMENTS[0], settings: SETTINGS[0] };
        for (const { config: changed, ...more } of all) {
          run = { ...run, ...more, config: { ...run.config, ...changed } };
          const { instrument, settings } = run;
          const config = resolveConfig(run.config);
          expect(configHashOf(config, JSON.stringify(config), instrument, settings)).toBe(
            hashOf({ config, instrument, settings }),
          );
        }
      }),
    );
  });
});

describe('a hash with other params', () => {
  it('is that of the whole', () => {
    const values = records(fc.oneof(fc.integer({ max: 3 }), texts));
    fc.assert(
      fc.property(fc.array(values, { minLength: 1 }), texts, (all, symbol) => {
        const config = resolveConfig({ ...configOf(), signalInstrument: { symbol } });
        const hashWith = hashWithParams({ engine: '1', config: { ...config, params: null }, snapshots: ['a'] });
        for (const params of all)
          expect(hashWith(params)).toBe(hashOf({ engine: '1', config: { ...config, params }, snapshots: ['a'] }));
      }),
    );
  });
});

describe('the run key', () => {
  it('is the hash of its parts', () => {
    for (const strategy of ['0a', 'a "quoted" one']) {
      const parts = { engine: '1', strategy, data: 'd1', config: 'c0' };
      expect(runKeyOf(parts)).toBe(hashOf(parts));
    }
  });
});
