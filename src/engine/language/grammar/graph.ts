// The SignalGraph: the grammar of `svc.strategy` with a reference to a node in every place of an expression.
import { z } from 'zod';
import { CONDITION_DEFINITIONS, VALUE_DEFINITIONS } from '../../definitions/expressions/expressionRegistry.ts';
import { conditionSlot, expressionSlot, valueSlot } from './expressions.ts';
import { ParamRef } from '../../definitions/expressionMembers.ts';
import { issueCodes } from '../../definitions/issueCodes.ts';
import { requiredUnless, Strategy } from './strategy.ts';

export const GRAPH_EDITORS = ['token-flow', 'text-dsl', 'ai', 'runtime-strategy', 'signal-graph'] as const;

/** What a value input takes: a reference to a node, a number, or a parameter. */
export const ValueRef = z.union([z.strictObject({ ref: z.string() }), z.strictObject({ const: z.number() }), ParamRef]);
/** What an input takes that reads either. */
export const ExpressionRef = z.union([
  z.strictObject({ ref: z.string() }),
  z.strictObject({ const: z.number() }),
  ParamRef,
]);
/** What a condition input takes. */
export const ConditionRef = z.strictObject({ ref: z.string() });
export type ValueRef = z.infer<typeof ValueRef>;
export type ConditionRef = z.infer<typeof ConditionRef>;

/** The same schema with references in the places of expressions. A schema without such a place is returned as it is. */
function withReferences(schema: z.ZodType): z.ZodType {
  if (schema === valueSlot) return ValueRef;
  if (schema === conditionSlot) return ConditionRef;
  if (schema === expressionSlot) return ExpressionRef;
  let mapped: z.ZodType = schema;
  if (schema instanceof z.ZodOptional) {
    mapped = withReferences(schema.def.innerType as z.ZodType).optional();
  } else if (schema instanceof z.ZodDefault) {
    const inner = withReferences(schema.def.innerType as z.ZodType);
    if (inner !== schema.def.innerType) mapped = inner.default(schema.def.defaultValue);
  } else if (schema instanceof z.ZodArray) {
    mapped = z.array(withReferences(schema.def.element as z.ZodType)).check(...((schema.def.checks ?? []) as []));
  } else if (schema instanceof z.ZodDiscriminatedUnion) {
    const options = schema.def.options.map((option) => withReferences(option as z.ZodType));
    mapped = z.discriminatedUnion(schema.def.discriminator, options as unknown as [z.ZodObject]);
  } else if (schema instanceof z.ZodUnion && schema.def.options.some((option) => holdsObject(option as z.ZodType))) {
    mapped = z.union(schema.def.options.map((option) => withReferences(option as z.ZodType)));
  } else if (schema instanceof z.ZodObject && schema !== (ParamRef as z.ZodType)) {
    mapped = z.strictObject(
      Object.fromEntries(
        Object.entries(schema.shape).map(([name, field]) => [name, withReferences(field as z.ZodType)]),
      ),
    );
  }
  const unless = requiredUnless.get(schema);
  if (unless !== undefined && mapped !== schema) mapped.register(requiredUnless, unless);
  const issue = issueCodes.get(schema);
  if (issue !== undefined && mapped !== schema) mapped.register(issueCodes, issue);
  return mapped;
}

/** Unions of plain numbers and parameters stay the schemas they are. */
const holdsObject = (schema: z.ZodType): boolean =>
  schema === valueSlot ||
  schema instanceof z.ZodArray ||
  (schema instanceof z.ZodObject && schema !== (ParamRef as z.ZodType));

const nodeId = z.string().min(1).max(200);
const nodeOf = (kind: { readonly schema: z.ZodObject; readonly requiredInGraph?: readonly string[] }): z.ZodObject => {
  const { shape } = withReferences(kind.schema) as z.ZodObject;
  const required = Object.fromEntries(
    (kind.requiredInGraph ?? []).map((name) => [name, (shape[name] as z.ZodOptional).unwrap() as z.ZodType]),
  );
  return z.strictObject({ ...shape, ...required, id: nodeId });
};

/** One schema per kind of node, in the order of the grammar. */
export const VALUE_NODES: readonly z.ZodObject[] = VALUE_DEFINITIONS.map(nodeOf);
export const CONDITION_NODES: readonly z.ZodObject[] = CONDITION_DEFINITIONS.map(nodeOf);
const GraphNode = z.discriminatedUnion('kind', [...VALUE_NODES, ...CONDITION_NODES] as unknown as [z.ZodObject]);
const GraphStrategy = withReferences(Strategy) as z.ZodObject;

export const SignalGraph = z.strictObject({
  protocol: z.literal('svc.signal-graph').register(issueCodes, { code: 'PROTOCOL_UNSUPPORTED' }),
  version: z.literal(2).register(issueCodes, { code: 'VERSION_UNSUPPORTED' }),
  meta: z
    .strictObject({
      name: z.string().max(500).optional(),
      tags: z.array(z.string().max(200)).max(100).optional(),
      source: z
        .strictObject({
          editor: z.enum(GRAPH_EDITORS).optional(),
          blockIds: z.array(z.string().max(200)).max(10_000).optional(),
        })
        .optional(),
    })
    .optional(),
  nodes: z.array(GraphNode).min(1),
  strategy: GraphStrategy,
});

/** A node as its author writes it; the schema of its kind defines its members. */
interface GraphNode {
  readonly id: string;
  readonly kind: string;
  readonly [member: string]: unknown;
}
export interface SignalGraph {
  readonly protocol: 'svc.signal-graph';
  readonly version: 2;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly nodes: readonly GraphNode[];
  readonly strategy: Readonly<Record<string, unknown>>;
}
