// Expressions: the types of every value and condition kind of `svc.strategy` version 1, derived from their schemas.
import type { z } from 'zod';
import { CONDITION_DEFINITIONS, VALUE_DEFINITIONS } from '../../definitions/expressions/expressionRegistry.ts';
import {
  conditionPlace,
  expressionPlace,
  valuePlace,
  type childOf,
  type ValueChild,
} from '../../definitions/expressions/places.ts';

/** The schemas of all values and conditions, in the order in which capabilities list them. */
export const VALUE_KINDS: readonly z.ZodObject[] = VALUE_DEFINITIONS.map(({ schema }) => schema);
export const CONDITION_KINDS: readonly z.ZodObject[] = CONDITION_DEFINITIONS.map(({ schema }) => schema);

/** What stands where a child expression stands: as an author writes it, or as the later stages read it. */
interface ChildTypes {
  readonly value: object;
  readonly condition: object;
}
/** T with the types of child expressions in their places. */
type WithChildren<T, C extends ChildTypes> = T extends object
  ? typeof childOf extends keyof T
    ? T extends ValueChild
      ? C['value']
      : C['condition']
    : { [M in keyof T]: WithChildren<T[M], C> }
  : T;
/** A node of kind K: its members as its schema has them, with the types of its child expressions. */
export type NodeOf<K, Members, C extends ChildTypes> = {
  [M in keyof Members]: M extends 'kind' ? K : WithChildren<Members[M], C>;
};

type ValueSchema = (typeof VALUE_DEFINITIONS)[number]['schema'];
type ConditionSchema = (typeof CONDITION_DEFINITIONS)[number]['schema'];
/** Kind → schema. */
type ExpressionSchemas = { [S in ValueSchema | ConditionSchema as z.output<S>['kind']]: S };
type ValueKind = z.output<ValueSchema>['kind'];
export type ConditionKind = z.output<ConditionSchema>['kind'];
export type Kind = ValueKind | ConditionKind;

/** An expression as its author writes it, by kind: members with a default may be absent. */
type Node<K extends Kind> = K extends Kind ? NodeOf<K, z.input<ExpressionSchemas[K]>, AuthoredTypes> : never;
interface AuthoredTypes {
  readonly value: Value;
  readonly condition: Condition;
}
export type Value = Node<ValueKind>;
export type Condition = Node<ConditionKind>;
export type Expression = Value | Condition;

/** Where an expression may stand, typed, for the schemas of the strategy's sections. */
export const valueSlot = valuePlace as z.ZodType<Value, Value>;
export const expressionSlot = expressionPlace as z.ZodType<Expression, Expression>;
export const conditionSlot = conditionPlace as z.ZodType<Condition, Condition>;
