// Slow bodies: legal or nearly legal ones that make some function take long, each for a reason of its own. They are as
// large as their route allows on the pro tier.
import { strategy } from '../support/builders.ts';

export interface SlowBody {
  readonly name: string;
  /** Below /public/v1. */
  readonly path: string;
  readonly body: Buffer;
}

const MIB = 1024 * 1024;
/** Bytes of names and texts, below the limits of their routes. */
const [STRATEGY_BYTES, BATCH_BYTES, CONFIG_BYTES] = [3.9 * MIB, 3.9 * MIB, 500_000];

const list = <Item>(length: number, item: (index: number) => Item): Item[] => Array.from({ length }, (_, i) => item(i));
const members = (count: number, name: (index: number) => string): Record<string, number> =>
  Object.fromEntries(list(count, (index) => [name(index), index]));
const longName = (bytes: number): string => '/~1'.repeat(bytes / 3);
const CONFIG = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
const compare = (left: object) => ({ kind: 'compare', op: 'gt', left, right: { kind: 'const', value: 1 } });

/** Nested to a depth. */
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** @param strategyVersionId a ready version */
export function slowBodies(strategyVersionId: string): SlowBody[] {
  const payload = strategy() as unknown as { strategy: { entry: object } };
  const withTrigger = (trigger: unknown, more: object = {}) => ({
    ...payload,
    ...more,
    strategy: { ...payload.strategy, entry: { ...payload.strategy.entry, trigger } },
  });
  const validate = (strategyAst: unknown, more: object = {}) =>
    ['/strategies/validate', { settings: {}, strategyAst, ...more }] as const;
  const run = (config: object) => ['/backtests', { strategyVersionId, config: { ...CONFIG, ...config } }] as const;
  const batch = (...configs: object[]) =>
    [
      '/backtests/batch',
      { items: configs.map((config) => ({ strategyVersionId, config: { ...CONFIG, ...config } })) },
    ] as const;
  const sweep = (space: object, more: object = {}) =>
    [
      '/sweeps',
      { strategyVersionId, config: CONFIG, method: 'grid', objective: { key: 'returnPct' }, space, ...more },
    ] as const;
  const text = (path: string, body: string) => [path, body] as const;

  const bodies: Readonly<Record<string, readonly [path: string, body: unknown]>> = {
    // Long names.
    'a long name in the body': validate(payload, { [longName(STRATEGY_BYTES)]: 1 }),
    'a long name in the strategy': validate({ ...payload, [longName(STRATEGY_BYTES)]: 1 }),
    'a long name in the settings': validate(payload, { settings: { [longName(STRATEGY_BYTES)]: 1 } }),
    'a long name in meta': validate({ ...payload, meta: { [longName(STRATEGY_BYTES)]: 1 } }),
    'twenty long names': validate({ ...payload, ...members(20, (i) => `${i}${longName(STRATEGY_BYTES / 20)}`) }),
    'a long name in an override': run({ overrides: { [longName(CONFIG_BYTES)]: 1 } }),
    'an override of many names': run({ overrides: { ['/a'.repeat(CONFIG_BYTES / 2)]: 1 } }),
    'a long name of a param': run({ params: { [longName(CONFIG_BYTES)]: 1 } }),
    'a long name in a fee model': run({ execution: { feeModel: { ['~'.repeat(CONFIG_BYTES)]: 1 } } }),
    'a long name of a dimension': sweep({ [longName(CONFIG_BYTES)]: { values: [1, 2] } }),
    'a long name in a batch': batch({ overrides: { [longName(BATCH_BYTES)]: 1 } }),
    'names as long as they may be': run({ overrides: members(240, (i) => `${'/a'.repeat(1_000)}${i}`) }),
    // Many members and items.
    '100,000 overrides': batch({ overrides: members(100_000, (i) => `/strategy/entry/${i}`) }),
    '4,900 overrides, twenty times': batch(
      ...list(20, (k) => ({ overrides: members(4_900, (i) => `/strategy/${k}/${i}`) })),
    ),
    '4,900 overrides that are no numbers': run({
      overrides: Object.fromEntries(list(4_900, (i) => [`/a${i}`, 'x'])),
    }),
    'sixty wrong overrides, a thousand times': batch(
      ...list(1_000, () => ({ overrides: members(60, (i) => `/strategy/x/${i}`) })),
    ),
    'eighty unknown members, a thousand times': batch(...list(1_000, () => members(80, (i) => `feemodel${i}`))),
    '4,900 unknown members of a config': run(members(4_900, (i) => `feemodel${i}`)),
    '4,900 unknown members of a dimension': sweep({ a: members(4_900, (i) => `valeus${i}`) }),
    '160,000 tiers': run({ execution: { feeModel: { kind: 'tiered', tiers: list(160_000, () => ({})) } } }),
    '100,000 values of a dimension': sweep({ a: { values: list(100_000, (i) => i % 10) } }),
    '100,000 constraints': sweep({ a: { values: [1] } }, { constraints: list(100_000, () => 1) }),
    '290,000 numbers for a list of objects': validate({
      ...payload,
      strategy: { ...payload.strategy, exits: list(290_000, () => 1) },
    }),
    '2,400,000 lists': text('/strategies/validate', `{"settings":[${'[],'.repeat(2_400_000)}[]]}`),
    '1,190,000 members of one name': text('/strategies/validate', `{"settings":{${'"a":1,'.repeat(1_190_000)}"a":1}}`),
    '3,000 params that are not declared': validate(
      withTrigger(
        {
          kind: 'any',
          items: list(3_000, (i) =>
            compare({ kind: 'indicator', indicator: 'sma', args: { length: { param: `q${i}` } } }),
          ),
        },
        { params: list(3_000, (i) => ({ name: `p${i}`, type: 'int', default: 5 })) },
      ),
    ),
    '4,900 misspelled conditions': validate(
      withTrigger({ kind: 'any', items: list(4_900, (i) => ({ kind: `compaer${i}`, op: 'gt' })) }),
    ),
    // Texts on which a search for the end of a part starts again at each character.
    'digits for an output': validate(
      withTrigger(
        compare({ kind: 'indicator', indicator: 'bbands', args: {}, output: `${'1'.repeat(STRATEGY_BYTES)}x` }),
      ),
    ),
    'spaces for a time': validate(withTrigger({ kind: 'time', between: `${' '.repeat(STRATEGY_BYTES)}x` })),
    'spaces for a condition': validate(withTrigger(`${' '.repeat(STRATEGY_BYTES)}x`)),
    'words for an indicator': validate(
      withTrigger(compare({ kind: 'indicator', indicator: 'a_'.repeat(STRATEGY_BYTES / 2), args: {} })),
    ),
    'spaces for a time of the range': run({ range: { start: `1${' '.repeat(CONFIG_BYTES)}x` } }),
    'a long symbol': run({ signalInstrument: { symbol: 'A '.repeat(CONFIG_BYTES / 2) } }),
    'a long constraint': sweep({ a: { values: [1] } }, { constraints: [`${'a'.repeat(CONFIG_BYTES)} <`] }),
    // Depth.
    'an execution 3,900 deep': text(
      '/backtests',
      `{"strategyVersionId":"${strategyVersionId}","config":{"execution":${nested(3_900)}}}`,
    ),
    'a dimension 3,900 deep': text(
      '/sweeps',
      `{"strategyVersionId":"${strategyVersionId}","config":{},"space":{"a":${nested(3_900)}}}`,
    ),
    'a payload 1,000,000 deep': text('/strategies/validate', `{"settings":{},"strategyAst":${nested(1_000_000)}}`),
  };
  return Object.entries(bodies).map(([name, [path, body]]) => ({
    name,
    path,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }));
}
