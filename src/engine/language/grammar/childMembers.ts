// The members that hold child expressions, by kind: what zod cannot infer through the recursion of expressions.

/** What stands where a child expression stands: as an author writes it, or as the later stages read it. */
interface ChildTypes {
  readonly value: object;
  readonly condition: object;
  readonly step: object;
}
/** The members that hold expressions, of each kind that has any. */
interface ChildMembers<T extends ChildTypes> {
  indicator: { source?: T['value']; sources?: T['value'][] };
  rolling: { source: T['value'] };
  math: { args: T['value'][] };
  shift: { source: T['value'] };
  percent_change: { source: T['value'] };
  if: { cond: T['condition']; then: T['value']; else: T['value'] };
  bars_since: { when: T['condition'] };
  value_when: { value: T['value']; when: T['condition'] };
  capture: { value: T['value']; when: T['condition'] };
  compare: { left: T['value']; right: T['value'] };
  cross: { left: T['value']; right: T['value'] };
  between: { value: T['value']; lower: T['value']; upper: T['value'] };
  near: { left: T['value']; right: T['value'] };
  rising: { source: T['value'] };
  falling: { source: T['value'] };
  all: { items: T['condition'][] };
  and: { items: T['condition'][] };
  any: { items: T['condition'][] };
  or: { items: T['condition'][] };
  not: { item: T['condition'] };
  sequence: { steps: T['step'][] };
  rolling_window: { expr: T['condition'] };
  state_machine: { set: T['condition']; reset?: T['condition'] };
}

/** The child expressions of kind K; a mapped type, because they refer back to it. */
type ChildrenOf<K, T extends ChildTypes> = K extends keyof ChildMembers<ChildTypes>
  ? { [M in keyof ChildMembers<ChildTypes>[K]]: ChildMembers<T>[K][M] }
  : unknown;
/** What zod infers of kind K, with its child expressions typed. */
export type WithChildren<K, Members, T extends ChildTypes> = Omit<Members, 'kind' | keyof ChildrenOf<K, ChildTypes>> & {
  kind: K;
} & ChildrenOf<K, T>;
