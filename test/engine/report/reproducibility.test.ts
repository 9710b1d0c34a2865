// The hashes of a run: put together from texts that are kept, they are the hashes of the whole.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveConfig, type BacktestConfig } from '../../../src/engine/config.ts';
import { hashOf } from '../../../src/engine/report/canonicalJson.ts';
import { configHashOf, runKeyOf } from '../../../src/engine/report/reproducibility.ts';
import { configOf, INSTRUMENT } from '../../support/runs.ts';

const INSTRUMENTS = [INSTRUMENT, { ...INSTRUMENT, minNotional: 5 }, { ...INSTRUMENT, symbol: '"params":null' }];
const SETTINGS = [{}, { warmupPeriod: 20 }, { warmupPeriod: 21 }, { maxConcurrentPositions: 20 }];

const texts = fc.constantFrom('fast', 'params', '"params":null', '\\"params\\":null', '__proto__', '');
const records = <T>(values: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(texts, values), { maxLength: 3 }).map((members) => Object.fromEntries(members));
/** Few values of each member, so that most configs differ from one before in a single one. */
const configs: fc.Arbitrary<BacktestConfig> = fc
  .record(
    {
      range: fc.constantFrom(null, { start: 1e12 }, { start: 1e12, end: 2e12 }),
      initialBalance: fc.constantFrom(100, 1_000),
      signalInstrument: fc.record({ symbol: texts }),
      fundingRate: fc.constantFrom(0, 0.01),
      execution: fc.record({
        feeModel: fc.constantFrom(0, 0.001).map((takerRate) => ({
          kind: 'tiered_maker_taker' as const,
          tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate }],
        })),
        slippage: fc.constantFrom(
          { kind: 'none' as const },
          { kind: 'fixed' as const, unit: 'bps' as const, value: 1 },
        ),
      }),
      params: records(fc.oneof(fc.integer({ max: 3 }), fc.boolean(), texts)),
      overrides: records(fc.constantFrom(1, 2)),
    },
    { requiredKeys: [] },
  )
  .map((members) => ({ ...configOf(), ...members }));

describe('the config hash', () => {
  it('is that of the canonical JSON of config, instrument and settings, whatever was hashed before', () => {
    const inputs = fc.tuple(configs, fc.constantFrom(...INSTRUMENTS), fc.constantFrom(...SETTINGS));
    fc.assert(
      fc.property(fc.array(inputs, { minLength: 1, maxLength: 80 }), (runs) => {
        for (const [sent, instrument, settings] of runs) {
          const config = resolveConfig(sent);
          expect(configHashOf(config, instrument, settings)).toBe(hashOf({ config, instrument, settings }));
        }
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
