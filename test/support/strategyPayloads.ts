// Strategy payloads for API tests: small, valid, and told apart by one number.
import { astOf, compare, entry, exit, market, type Json } from './builders.ts';

/** Buys when the close is above `level`. Another level is other content. */
export const ast = (level = 100): Json =>
  astOf({
    defaults: { instrument: { symbol: 'SPX' }, timeframe: '1d' },
    entry: entry(compare(market(), 'gt', level), { action: { side: 'long', sizing: { mode: 'fixed', value: 1 } } }),
    exits: [exit(compare(market(), 'lt', level / 2))],
  });

/** The same strategy as a graph. */
export const graph = (level = 100) => ({
  protocol: 'svc.signal-graph',
  version: 2,
  nodes: [
    { id: 'close', kind: 'market', field: 'close' },
    { id: 'above', kind: 'compare', op: 'gt', left: { ref: 'close' }, right: { const: level } },
    { id: 'below', kind: 'compare', op: 'lt', left: { ref: 'close' }, right: { const: level / 2 } },
  ],
  strategy: {
    kind: 'strategy',
    defaults: { instrument: { symbol: 'SPX' }, timeframe: '1d' },
    entry: {
      kind: 'entry',
      trigger: { ref: 'above' },
      action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
    },
    exits: [{ kind: 'exit', when: { ref: 'below' } }],
  },
});

/** Blocking: the operator does not exist. */
export const brokenAst = () => {
  const broken = structuredClone(ast());
  broken.strategy.entry.trigger.op = 'above';
  return broken;
};

/** Valid, but its entry can never be true: asks for acknowledgement. */
export const contradictoryAst = () => {
  const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 14 } };
  const compare = (op: string, value: number) => ({ kind: 'compare', op, left: rsi, right: { kind: 'const', value } });
  const payload = ast();
  const trigger = { kind: 'all', items: [compare('lt', 30), compare('gt', 70)] };
  return { ...payload, strategy: { ...payload.strategy, entry: { ...payload.strategy.entry, trigger } } };
};

export const settings = { maxConcurrentPositions: 1, warmupPeriod: 20 };
