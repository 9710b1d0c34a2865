// Described schemas: the JSON Schema of a strategy with the line that each member has in the authoring pack.
import { STRATEGY_MEMBERS } from './strategyMembers.ts';

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: unknown;
  description?: string;
}

/** @param schema of a payload with a `strategy`; the descriptions are written into it */
export function describeMembers<Payload extends object>(schema: Payload): Payload {
  const { strategy } = (schema as Schema).properties ?? {};
  if (strategy !== undefined) describe(strategy, 'strategy');
  return schema;
}

function describe(schema: Schema, path: string): void {
  for (const option of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) describe(option, path);
  if (schema.items !== undefined) describe(schema.items, path === 'strategy.entry' ? path : `${path}[]`);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const place = `${path}.${name}`;
    const ofVariant = `${path}<${String(variantOf(schema))}>.${name}`;
    // `exit` is another spelling of a list of one.
    const spelled = place.replace(/^strategy\.exit(?=\.|$)/, 'strategy.exits[]');
    const line = STRATEGY_MEMBERS[ofVariant] ?? STRATEGY_MEMBERS[spelled] ?? STRATEGY_MEMBERS[`${spelled}[]`];
    if (line !== undefined) member.description = line;
    describe(member, spelled);
  }
}

/** The mode or type that distinguishes one of several shapes. */
const variantOf = ({ properties }: Schema): unknown => properties?.mode?.const ?? properties?.type?.const;
