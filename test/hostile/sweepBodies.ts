// Bodies of sweeps that are small and ask for a lot: many points under many constraints, and constraints that hardly
// any point satisfies.

const average = (param: string) => ({ kind: 'indicator', indicator: 'sma', args: { length: { param } } });
const RANGE = { min: 1, max: 200 };
const NAMES = ['a', 'b', 'c', 'd'];

/** A strategy with params to vary. */
export const VARIED_AST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    params: NAMES.map((name) => ({ name, type: 'int', default: 20, ...RANGE })),
    entry: {
      kind: 'entry',
      trigger: { kind: 'cross', op: 'cross_up', left: average('a'), right: average('b') },
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 10 } },
    },
    exits: [{ kind: 'exit', when: { kind: 'cross', op: 'cross_down', left: average('c'), right: average('d') } }],
  },
};

interface SweepBody {
  readonly name: string;
  readonly tenant: 'free' | 'pro';
  readonly body: object;
}

const constraintsOf = (count: number, right: (index: number) => string | number) =>
  Array.from({ length: count }, (_, index) => ({ left: NAMES[index % 3], op: 'neq', right: right(index) }));
const cube = { a: RANGE, b: RANGE, c: { min: 1, max: 100 } };

export const SWEEP_BODIES: readonly SweepBody[] = [
  {
    name: 'a grid of 4,000,000 points under 16 constraints',
    tenant: 'free',
    body: { method: 'grid', space: cube, constraints: constraintsOf(16, (index) => 300 + index) },
  },
  {
    name: 'a grid of 4,000,000 points, none allowed by the last of 64 constraints',
    tenant: 'pro',
    body: {
      method: 'grid',
      space: cube,
      constraints: [...constraintsOf(63, (index) => NAMES[(index + 1) % 3]), { left: 'a', op: 'gt', right: 500 }],
    },
  },
  {
    name: 'a million draws of tpe that no constraint allows',
    tenant: 'pro',
    body: { method: 'tpe', budget: 1_000_000, space: cube, constraints: [{ left: 'a', op: 'gt', right: 500 }] },
  },
  {
    name: 'a million draws of a hypercube under rare constraints',
    tenant: 'pro',
    body: {
      method: 'latin_hypercube',
      budget: 1_000_000,
      space: { a: RANGE, b: RANGE, '/strategyAst/strategy/entry/action/sizing/value': { min: 1.5, max: 99.5 } },
      constraints: [
        { left: '/strategyAst/strategy/entry/action/sizing/value', op: 'eq', right: 'a' },
        ...constraintsOf(60, (index) => 300 + index).map((each) => ({ ...each, left: NAMES[0] })),
      ],
    },
  },
];
