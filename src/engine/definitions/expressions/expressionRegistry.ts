// The registry of expression kinds. The grammar, checks, capabilities, plans and the loop read every kind from here.
import { z } from 'zod';
import { allCondition } from './allCondition.ts';
import { anyCondition } from './anyCondition.ts';
import { barsSinceValue } from './barsSinceValue.ts';
import { betweenCondition } from './betweenCondition.ts';
import { captureValue } from './captureValue.ts';
import { compareCondition } from './compareCondition.ts';
import { constValue } from './constValue.ts';
import { crossCondition } from './crossCondition.ts';
import { crossSectionValue } from './crossSectionValue.ts';
import type { ConditionDefinition, ReplacedValue, ValueDefinition } from './expressionDefinition.ts';
import { fallingCondition } from './fallingCondition.ts';
import { ifValue } from './ifValue.ts';
import { indicatorValue } from './indicatorValue.ts';
import { marketValue } from './marketValue.ts';
import { mathValue } from './mathValue.ts';
import { nearCondition } from './nearCondition.ts';
import { notCondition } from './notCondition.ts';
import { paramValue } from './paramValue.ts';
import { patternCondition } from './patternCondition.ts';
import { percentChangeValue } from './percentChangeValue.ts';
import { pivotValue } from './pivotValue.ts';
import { joinedSchemas } from './places.ts';
import { risingCondition } from './risingCondition.ts';
import { rollingValue } from './rollingValue.ts';
import { rollingWindowCondition } from './rollingWindowCondition.ts';
import { scheduleCondition } from './scheduleCondition.ts';
import { sequenceCondition } from './sequenceCondition.ts';
import { seriesValue } from './seriesValue.ts';
import { sessionCondition } from './sessionCondition.ts';
import { shiftValue } from './shiftValue.ts';
import { stateMachineCondition } from './stateMachineCondition.ts';
import { stateValue } from './stateValue.ts';
import type { OwnConditionOperation, OwnValueOperation } from './planSteps.ts';
import { timeValue } from './timeValue.ts';
import { timeWindowCondition } from './timeWindowCondition.ts';
import { valueWhenValue } from './valueWhenValue.ts';

/** All values, in the order in which capabilities list them. */
export const VALUE_DEFINITIONS = [
  constValue,
  marketValue,
  indicatorValue,
  stateValue,
  rollingValue,
  mathValue,
  shiftValue,
  percentChangeValue,
  paramValue,
  ifValue,
  barsSinceValue,
  valueWhenValue,
  seriesValue,
  captureValue,
  pivotValue,
  timeValue,
  crossSectionValue,
] as const;

/** All conditions, in the order in which capabilities list them. */
export const CONDITION_DEFINITIONS = [
  compareCondition,
  crossCondition,
  betweenCondition,
  nearCondition,
  risingCondition,
  fallingCondition,
  patternCondition,
  allCondition,
  anyCondition,
  notCondition,
  timeWindowCondition,
  sessionCondition,
  scheduleCondition,
  sequenceCondition,
  rollingWindowCondition,
  stateMachineCondition,
] as const;

/** A node of any kind: its definition is found by its kind, and takes the members of that kind. */
interface AnyNode {
  readonly kind: string;
}
interface AnyOperation {
  readonly op: string;
}
type RunnableValueKind = Omit<ValueDefinition<z.ZodObject, AnyNode, never, AnyNode>, 'operation'> & {
  readonly operation: OwnValueOperation<AnyOperation> | null;
};
type RunnableConditionKind = Omit<ConditionDefinition<z.ZodObject, AnyNode, never, AnyNode>, 'operation'> & {
  readonly operation: OwnConditionOperation<AnyOperation> | null;
};
type WrittenValueKind = RunnableValueKind | ReplacedValue<z.ZodObject, AnyNode>;

const VALUES: readonly WrittenValueKind[] = VALUE_DEFINITIONS;
const CONDITIONS: readonly RunnableConditionKind[] = CONDITION_DEFINITIONS;

/** The names of a kind: those that its schema takes. */
const namesOf = ({ schema }: { readonly schema: z.ZodObject }): string[] => {
  const kind = schema.shape.kind as z.ZodLiteral<string> | z.ZodEnum;
  return (kind instanceof z.ZodEnum ? kind.options : [...kind.values]).map(String);
};
const byKind = <D extends { readonly schema: z.ZodObject }>(definitions: readonly D[]): ReadonlyMap<unknown, D> =>
  new Map(definitions.flatMap((definition) => namesOf(definition).map((name) => [name, definition] as const)));
const VALUES_BY_KIND = byKind(VALUES);
const CONDITIONS_BY_KIND = byKind(CONDITIONS);
const isRunnable = (value: WrittenValueKind): value is RunnableValueKind => value.type === 'value';
const RUNNABLE_VALUES_BY_KIND = byKind(VALUES.filter(isRunnable));

// The definitions see a child as a place; the types of the unions are in the grammar (language/grammar/expressions.ts).
const unionOf = (schemas: readonly z.ZodObject[]) => z.discriminatedUnion('kind', [schemas[0], ...schemas.slice(1)]);
joinedSchemas.value = unionOf(VALUES.map(({ schema }) => schema)) as unknown as typeof joinedSchemas.value;
joinedSchemas.condition = unionOf(CONDITIONS.map(({ schema }) => schema)) as unknown as typeof joinedSchemas.condition;

/** What has a kind, if it is a node. */
interface MaybeNode {
  readonly kind?: unknown;
}
/** The definition of a kind; a kind that the language does not have is a bug. */
const found = <D>(kinds: ReadonlyMap<unknown, D>, { kind }: MaybeNode): D => {
  const definition = kinds.get(kind);
  if (definition === undefined) throw new Error(`No definition of the expression kind ${String(kind)} belongs here.`);
  return definition;
};
/** The definition of a value as it is written. */
export const valueKind = (node: MaybeNode): WrittenValueKind => found(VALUES_BY_KIND, node);
/** The definition of a condition, written or runnable. */
export const conditionKind = (node: MaybeNode): RunnableConditionKind => found(CONDITIONS_BY_KIND, node);
/** The definition of a condition; undefined for a value. */
export const conditionKindIfAny = ({ kind }: MaybeNode): RunnableConditionKind | undefined =>
  CONDITIONS_BY_KIND.get(kind);
/** The definition of any node as it is written. */
export const writtenKind = (node: MaybeNode): WrittenValueKind | RunnableConditionKind =>
  CONDITIONS_BY_KIND.get(node.kind) ?? valueKind(node);
/** The definition of a value as it runs. */
export const runnableValueKind = (node: AnyNode): RunnableValueKind => found(RUNNABLE_VALUES_BY_KIND, node);
/** The operation that belongs to the value kind of that name; undefined for one that kinds share. */
export const ownValueOperation = (op: string): OwnValueOperation<AnyOperation> | undefined =>
  RUNNABLE_VALUES_BY_KIND.get(op)?.operation ?? undefined;
/** The definition of any node as it runs. */
export const runnableKind = (node: AnyNode): RunnableValueKind | RunnableConditionKind =>
  CONDITIONS_BY_KIND.get(node.kind) ?? runnableValueKind(node);

/** How a condition joins conditions of the same bar; undefined for one that does not. */
export const joinOf = (node: AnyNode): 'all' | 'any' | 'not' | undefined => conditionKindIfAny(node)?.joins?.by;
/** Whether a node reads position or account state itself, valid or not. */
export const readsState = ({ kind }: MaybeNode): boolean => RUNNABLE_VALUES_BY_KIND.get(kind)?.stateField !== undefined;
/** The field of position or account state that a node reads itself. */
export const stateFieldOf = (node: MaybeNode): string | undefined =>
  RUNNABLE_VALUES_BY_KIND.get(node.kind)?.stateField?.(node as AnyNode);
/** The kinds that read position or account state themselves. */
export const KINDS_OF_STATE: readonly string[] = VALUES.filter(isRunnable)
  .filter(({ stateField }) => stateField !== undefined)
  .flatMap(namesOf);
