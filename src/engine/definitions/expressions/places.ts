// The places of child expressions: what the schema of a kind refers to before the registry has joined all kinds.
import { z } from 'zod';

/** Marks the type of a place, which the grammar fills with the union of all kinds. No object has such a member. */
export declare const childOf: unique symbol;

/** A child expression that is a number, as the definition of its parent sees it: of a kind that is not known here. */
export interface ValueChild {
  readonly kind: string;
  readonly [childOf]?: 'value';
}
/** A child expression that is true, false or unknown. */
export interface ConditionChild {
  readonly kind: string;
  readonly [childOf]?: 'condition';
}
export type Child = ValueChild | ConditionChild;

/** The schemas of all values and of all conditions. The registry sets both. */
export const joinedSchemas: { value: z.ZodType<ValueChild>; condition: z.ZodType<ConditionChild> } = {
  value: z.never(),
  condition: z.never(),
};

// Every place of an expression is one of these schemas by identity: that is how shapes.ts tells inputs from fields.
export const valuePlace: z.ZodType<ValueChild, ValueChild> = z.lazy(
  () => joinedSchemas.value as z.ZodType<ValueChild, ValueChild>,
);
/** A place that takes either. */
export const expressionPlace: z.ZodType<Child, Child> = z.lazy(
  () => z.union([joinedSchemas.value, joinedSchemas.condition]) as z.ZodType<Child, Child>,
);
export const conditionPlace: z.ZodType<ConditionChild, ConditionChild> = z.lazy(
  () => joinedSchemas.condition as z.ZodType<ConditionChild, ConditionChild>,
);
