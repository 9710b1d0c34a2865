// Walking expressions: the children of one, and the roots of a strategy, each with its place.
import type {
  Allocation,
  Entry,
  Exit,
  Expression,
  Kind,
  Risk,
  RunnableAllocation,
  RunnableEntry,
  RunnableExit,
  RunnableExpression,
  RunnableRisk,
  StrategyAst,
} from './ast.ts';
import { findLevelMode, TRIGGER_LEVELS } from '../../definitions/levels/levelModes.ts';
import {
  EXPRESSION_SHAPES,
  isExpression,
  typeInPlace,
  type ExpressionType,
  type PlaceType,
  type Shape,
} from './shapes.ts';

/** An expression below another one or below a section, and its path from there. */
interface Child<E = Expression> {
  readonly expression: E;
  /** The type of expression that belongs there. */
  readonly type: ExpressionType;
  readonly path: readonly (string | number)[];
}
interface Slot {
  readonly name: string;
  readonly isMany: boolean;
  /** The member of each item that holds the expression; null: the item itself. */
  readonly member: string | null;
  readonly type: PlaceType;
}

/** Where each kind holds child expressions, read from the grammar: in members, in lists, and in objects of lists. */
const CHILD_SLOTS: ReadonlyMap<Kind, readonly Slot[]> = new Map(
  [...EXPRESSION_SHAPES.value, ...EXPRESSION_SHAPES.condition].map(([kind, shape]) => {
    const slots: Slot[] = [];
    for (const { name, shape: field } of shape.fields.values()) {
      if (field.type === 'slot') slots.push({ name, isMany: false, member: null, type: field.of });
      if (field.type === 'array') for (const slot of slotsOfItems(name, field.item)) slots.push(slot);
    }
    return [kind, slots];
  }),
);

function slotsOfItems(name: string, item: Shape): Slot[] {
  if (item.type === 'slot') return [{ name, isMany: true, member: null, type: item.of }];
  if (item.type !== 'object') return [];
  return [...item.fields.values()].flatMap(({ name: member, shape }) =>
    shape.type === 'slot' ? [{ name, isMany: true, member, type: shape.of }] : [],
  );
}

const listOf = <T>(value: readonly T[] | undefined): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [];

/**
 * The expressions directly below one, in the order of the grammar. Absent and malformed ones (of a payload with errors)
 * are left out.
 */
export function childSlots(expression: RunnableExpression): Child<RunnableExpression>[];
export function childSlots(expression: Expression): Child[];
export function childSlots(expression: Expression): Child[] {
  const node = expression as unknown as Readonly<Record<string, unknown>>;
  const children: Child[] = [];
  const add = (child: unknown, of: PlaceType, ...path: (string | number)[]): void => {
    if (isExpression(child)) children.push({ expression: child, type: typeInPlace(of, child), path });
  };
  for (const { name, isMany, member, type } of CHILD_SLOTS.get(expression.kind) ?? []) {
    if (!isMany) add(node[name], type, name);
    else if (Array.isArray(node[name]))
      for (const [i, item] of (node[name] as unknown[]).entries()) {
        if (member === null) add(item, type, name, i);
        else add((item as Readonly<Record<string, unknown>> | null)?.[member], type, name, i, member);
      }
  }
  return children;
}

/** The expressions directly below one. */
export function childrenOf(expression: RunnableExpression): RunnableExpression[];
export function childrenOf(expression: Expression): Expression[];
export function childrenOf(expression: Expression): Expression[] {
  return childSlots(expression).map((child) => child.expression);
}

type RootRole =
  | 'setup'
  | 'trigger'
  | 'filter'
  | 'exit'
  | 'allocation'
  | 'order_price'
  | 'rank'
  | 'stop_price'
  | 'target_price';
/** A place in the strategy's sections where an expression stands. */
export interface Root<E = Expression> extends Child<E> {
  readonly role: RootRole;
}

interface Sections {
  readonly entries: readonly Entry[];
  readonly exits: readonly Exit[];
  readonly allocation?: Allocation | null | undefined;
  readonly risk?: Risk | undefined;
}
interface RunnableSections {
  readonly entries: readonly RunnableEntry[];
  readonly exits: readonly RunnableExit[];
  readonly allocation: RunnableAllocation | null;
  readonly risk: RunnableRisk;
}

/** The sections of a strategy: entries and exits as lists, `exit` after `exits`. */
export function rulesOf({ strategy }: StrategyAst): Sections {
  const { entry, exits, exit, allocation, risk } = strategy;
  return {
    entries: [entry ?? []].flat(),
    exits: [...(exits ?? []), ...(exit === undefined ? [] : [exit])],
    allocation,
    risk,
  };
}

/**
 * Every expression that stands in a section, with its path from the section (`['filters', 0]` of its entry,
 * `['stopLoss', 'value']` of risk, `['long', 'by']` of the allocation). Malformed sections are left out.
 */
export function rootsOf(sections: RunnableSections): Root<RunnableExpression>[];
export function rootsOf(sections: Sections): Root[];
export function rootsOf({ entries, exits, allocation, risk }: Sections): Root[] {
  const roots: Root[] = [];
  const add = (role: RootRole, expression: unknown, type: ExpressionType, ...path: (string | number)[]): void => {
    if (isExpression(expression)) roots.push({ role, expression, type, path });
  };
  for (const entry of entries) {
    add('setup', entry.setup, 'condition', 'setup');
    add('trigger', entry.trigger, 'condition', 'trigger');
    for (const [i, filter] of listOf(entry.filters).entries()) add('filter', filter, 'condition', 'filters', i);
    const order = entry.action?.order;
    if (order?.type === 'limit' || order?.type === 'stop')
      add('order_price', order.price, 'value', 'action', 'order', 'price');
    add('rank', entry.rank, 'value', 'rank');
  }
  for (const exit of exits) add('exit', exit.when, 'condition', 'when');
  if (allocation != null) {
    add('allocation', allocation.when, 'condition', 'when');
    for (const side of ['long', 'short'] as const) {
      const leg = allocation[side];
      add('allocation', leg?.by, 'value', side, 'by');
      add('allocation', leg?.where, 'condition', side, 'where');
      add('allocation', leg?.require, 'condition', side, 'require');
    }
    // A payload with errors may have anything here.
    const weights: { readonly by?: unknown; readonly grossPercent?: unknown } | null | undefined = allocation.weights;
    add('allocation', weights?.by, 'value', 'weights', 'by');
    add('allocation', weights?.grossPercent, 'value', 'weights', 'grossPercent');
  }
  const stop = risk?.stopLoss;
  if (stop !== undefined && findLevelMode(stop?.mode)?.form === 'expression' && 'value' in stop)
    add('stop_price', stop.value, 'value', 'stopLoss', 'value');
  for (const [i, target] of listOf(risk?.takeProfits).entries()) {
    for (const { form, trigger } of TRIGGER_LEVELS)
      if (form === 'expression')
        add('target_price', target?.[trigger.member], 'value', 'takeProfits', i, trigger.member);
  }
  return roots;
}
