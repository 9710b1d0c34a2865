// Strategy builders: the payloads and expressions that tests write by hand.

/* eslint-disable typescript/no-explicit-any -- payloads here are wrong on purpose */
export type Json = any;

export const market = (field = 'close', more: object = {}): Json => ({ kind: 'market', field, ...more });
export const constant = (value: number): Json => ({ kind: 'const', value });
export const indicator = (name: string, args: object = {}, more: object = {}): Json => ({
  kind: 'indicator',
  indicator: name,
  args,
  ...more,
});
export const compare = (left: Json, op: string, right: Json, more: object = {}): Json => ({
  kind: 'compare',
  op,
  left: typeof left === 'number' ? constant(left) : left,
  right: typeof right === 'number' ? constant(right) : right,
  ...more,
});
export const cross = (left: Json, op: string, right: Json, more: object = {}): Json => ({
  kind: 'cross',
  op,
  left,
  right,
  ...more,
});
export const sma = (length: number, more: object = {}): Json => indicator('sma', { length }, more);
export const exit = (when: Json, more: object = {}): Json => ({ kind: 'exit', when, ...more });
export const all = (...items: Json[]): Json => ({ kind: 'all', items });
export const any = (...items: Json[]): Json => ({ kind: 'any', items });

/** A payload of these sections and nothing else. */
export const astOf = (sections: object): Json => ({
  protocol: 'svc.strategy',
  version: 1,
  strategy: { kind: 'strategy', ...sections },
});

/** A strategy without an issue of any kind, with that trigger; `more` replaces sections of it. */
export function strategy(trigger: Json = compare(market(), 'gt', sma(20)), more: object = {}): Json {
  const average = sma(20);
  return astOf({ entry: entry(trigger), exits: [exit(compare(market(), 'lt', average))], ...more });
}

export const entry = (trigger: Json, more: object = {}): Json => ({
  kind: 'entry',
  trigger,
  action: { side: 'long', sizing: { mode: 'percent_equity', value: 50 } },
  ...more,
});

/** A graph without an issue of any kind. */
export function graph(): Json {
  return {
    protocol: 'svc.signal-graph',
    version: 2,
    nodes: [
      { id: 'close', kind: 'market', field: 'close' },
      { id: 'average', kind: 'indicator', indicator: 'sma', args: { length: 20 }, source: { ref: 'close' } },
      { id: 'up', kind: 'cross', op: 'cross_up', left: { ref: 'close' }, right: { ref: 'average' } },
      { id: 'down', kind: 'cross', op: 'cross_down', left: { ref: 'close' }, right: { ref: 'average' } },
    ],
    strategy: {
      kind: 'strategy',
      entry: entry({ ref: 'up' }),
      exits: [exit({ ref: 'down' })],
    },
  };
}
