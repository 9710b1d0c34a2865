// Nodes: the expressions that templates are written in, so that a template shows its rules and not their punctuation.

type Json = Readonly<Record<string, unknown>>;
type Node = Json & { readonly kind: string };
/** Where a value stands: a node, or a number. */
type Operand = Node | number;

const operand = (value: Operand): Node => (typeof value === 'number' ? { kind: 'const', value } : value);

export const market = (field: string, more: Json = {}): Node => ({ kind: 'market', field, ...more });
export const close = market('close');

/** `more` takes output, offset, timeframe, instrument, source. */
export const indicator = (name: string, args: Json, more: Json = {}): Node => ({
  kind: 'indicator',
  indicator: name,
  args,
  ...more,
});
export const sma = (length: number): Node => indicator('sma', { length });

export const math = (op: string, ...args: readonly Operand[]): Node => ({ kind: 'math', op, args: args.map(operand) });

/** `id` is what issues, trace and rule statistics call the condition. */
export const compare = (id: string, left: Operand, op: 'gt' | 'gte' | 'lt' | 'lte', right: Operand): Node => ({
  id,
  kind: 'compare',
  op,
  left: operand(left),
  right: operand(right),
});
export const cross = (id: string, left: Operand, op: 'cross_up' | 'cross_down', right: Operand): Node => ({
  id,
  kind: 'cross',
  op,
  left: operand(left),
  right: operand(right),
});

interface Parts {
  readonly symbol: string;
  readonly timeframe: string;
  readonly params?: readonly Json[];
  readonly side?: 'long' | 'short';
  readonly sizing?: Json;
  readonly setup?: Node;
  readonly trigger: Node;
  readonly filters?: readonly Node[];
  /** Each true one closes the position. */
  readonly exits: readonly Node[];
  readonly risk?: Json;
}

/** A `svc.strategy` of one entry. The default size leaves room for fees and a gap. */
export const strategy = (parts: Parts): Json => {
  const { symbol, timeframe, side = 'long', sizing = { mode: 'percent_equity', value: 95 } } = parts;
  return {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      defaults: { instrument: { symbol }, timeframe },
      ...(parts.params && { params: parts.params }),
      entry: {
        kind: 'entry',
        ...(parts.setup && { setup: parts.setup }),
        trigger: parts.trigger,
        ...(parts.filters && { filters: parts.filters }),
        action: { side, sizing },
      },
      exits: parts.exits.map((when) => ({ kind: 'exit', when })),
      ...(parts.risk && { risk: parts.risk }),
    },
  };
};
