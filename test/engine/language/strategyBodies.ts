// Bodies for validation: a strategy around a trigger, and the expressions that it is made of.

export type Json = Record<string, unknown>;
export type Body = Record<string, unknown> & { readonly settings: Json };

export const close = { kind: 'market', field: 'close' };
export const sma = { kind: 'indicator', indicator: 'sma', args: { length: 5 } };
export const five = { kind: 'const', value: 5 };
export const above = { kind: 'compare', op: 'gt', left: close, right: sma };

/** @param more further members of the strategy */
export const strategyOf = (trigger: Json, more: Json = {}): Body => ({
  settings: {},
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: { kind: 'entry', trigger, action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 } } },
      risk: { timeStop: { maxBars: 9 } },
      ...more,
    },
  },
});
