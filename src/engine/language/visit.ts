// Walking expressions: what stands below one, and every one of a strategy with the place it has.
import type { Concrete, Entry, Exit, Expression, Risk } from './ast.ts';
import { pointerTo } from './pointer.ts';
import { EXPRESSION_SHAPES, typeOfKind, type ExpressionType } from './shapes.ts';

/** An expression below another one, or below a section, and its pointer from there. */
export interface Child {
  readonly expression: Expression;
  /** What must stand there. */
  readonly type: ExpressionType;
  readonly path: readonly (string | number)[];
}
interface Slot {
  readonly name: string;
  readonly isMany: boolean;
  readonly type: ExpressionType;
}

/** Where the expressions below one of a kind stand, read off the grammar; the steps of a sequence are the only place two levels down. */
const CHILD_SLOTS: ReadonlyMap<string, readonly Slot[]> = new Map(
  [...EXPRESSION_SHAPES.value, ...EXPRESSION_SHAPES.condition].map(([kind, shape]) => {
    const slots: Slot[] = [];
    for (const { name, shape: field } of shape.fields.values()) {
      if (field.type === 'slot') slots.push({ name, isMany: false, type: field.of });
      if (field.type === 'array' && field.item.type === 'slot') slots.push({ name, isMany: true, type: field.item.of });
    }
    return [kind, slots];
  }),
);

/** An object of a kind of the language, whatever else is wrong with it. */
const isExpression = (value: unknown): value is Expression =>
  typeof value === 'object' && value !== null && typeOfKind((value as { kind?: unknown }).kind) !== undefined;
const listOf = <T>(value: readonly T[] | undefined): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [];

/** The expressions directly below one, in the order of the grammar; absent and malformed ones (of a payload with faults) are passed over. */
export function childSlots(expression: Expression): Child[] {
  const node = expression as unknown as Readonly<Record<string, unknown>>;
  const children: Child[] = [];
  const add = (child: unknown, type: ExpressionType, ...path: (string | number)[]): void => {
    if (isExpression(child)) children.push({ expression: child, type, path });
  };
  for (const { name, isMany, type } of CHILD_SLOTS.get(expression.kind) ?? []) {
    if (!isMany) add(node[name], type, name);
    else if (Array.isArray(node[name]))
      for (const [i, item] of (node[name] as unknown[]).entries()) add(item, type, name, i);
  }
  if (expression.kind === 'sequence' && Array.isArray(expression.steps)) {
    for (const [i, step] of expression.steps.entries()) add(step?.expr, 'condition', 'steps', i, 'expr');
  }
  return children;
}

/** The expressions directly below one of a strategy without faults. */
export const childrenOf = (expression: Expression): Expression[] =>
  childSlots(expression).map((child) => child.expression);

export type RootRole = 'setup' | 'trigger' | 'filter' | 'exit' | 'order_price' | 'stop_price' | 'target_price';
/** A place of the strategy's sections where an expression stands. */
export interface Root extends Child {
  readonly role: RootRole;
  /** Index of its entry, exit or take-profit. */
  readonly rule: number;
}

interface Sections {
  readonly entries: readonly Concrete<Entry>[] | readonly Entry[];
  readonly exits: readonly Concrete<Exit>[] | readonly Exit[];
  readonly risk?: Concrete<Risk> | Risk | undefined;
}

/** Every expression that stands in a section (faulty sections are passed over), with its path from the section (`['filters', 0]` of its entry, `['stopLoss', 'value']` of risk). */
export function rootsOf({ entries, exits, risk }: Sections): Root[] {
  const roots: Root[] = [];
  const add = (
    role: RootRole,
    rule: number,
    expression: unknown,
    type: ExpressionType,
    ...path: (string | number)[]
  ): void => {
    if (isExpression(expression)) roots.push({ role, rule, expression, type, path });
  };
  for (const [rule, entry] of entries.entries()) {
    add('setup', rule, entry.setup, 'condition', 'setup');
    add('trigger', rule, entry.trigger, 'condition', 'trigger');
    for (const [i, filter] of listOf(entry.filters).entries()) add('filter', rule, filter, 'condition', 'filters', i);
    const order = entry.action?.order;
    if (order?.type === 'limit' || order?.type === 'stop')
      add('order_price', rule, order.price, 'value', 'action', 'order', 'price');
  }
  for (const [rule, exit] of exits.entries()) add('exit', rule, exit.when, 'condition', 'when');
  if (risk?.stopLoss?.mode === 'price') add('stop_price', 0, risk.stopLoss.value, 'value', 'stopLoss', 'value');
  for (const [rule, target] of listOf(risk?.takeProfits).entries()) {
    add('target_price', rule, target?.triggerPrice, 'value', 'takeProfits', rule, 'triggerPrice');
  }
  return roots;
}

/** Calls `visit` once for every distinct expression object of the strategy, parents first, with the root it was first met under. */
export function visitExpressions(
  strategy: Sections,
  visit: (expression: Expression, root: Root, pointer: string) => void,
): void {
  const seen = new Set<object>();
  const walk = (expression: Expression, root: Root, pointer: string): void => {
    if (seen.has(expression)) return;
    seen.add(expression);
    visit(expression, root, pointer);
    for (const child of childSlots(expression)) walk(child.expression, root, pointerTo(pointer, ...child.path));
  };
  for (const root of rootsOf(strategy)) walk(root.expression, root, pointerTo('', ...root.path));
}
