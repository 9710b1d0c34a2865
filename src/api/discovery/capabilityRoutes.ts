// Capabilities: what a strategy may say, on which data, within which limits.
import { z } from 'zod';
import {
  BacktestConfig,
  describeCapabilities,
  LruMap,
  Settings,
  SignalGraph,
  StrategyAst,
} from '../../engine/index.ts';
import type { Catalog } from '../../market/catalog.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import type { Tier } from '../../tiers.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { sendTagged, tagged } from '../http/etag.ts';
import type { TaggedBody } from '../http/etag.ts';
import { queryRefused } from '../http/envelopeIssues.ts';
import { API_KEY_SECURITY, Json, KEY_PROBLEMS, problems } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import { STRATEGY_MEMBERS } from './strategyMembers.ts';

const SECTIONS = [
  'indicators',
  'patterns',
  'signalGraph',
  'strategyAst',
  'operators',
  'enums',
  'instruments',
  'limits',
  'validationIssue',
  'schemas',
] as const;
type Section = (typeof SECTIONS)[number];

const Capabilities = z
  .object({
    indicators: z.array(Json).optional(),
    patterns: z.array(Json).optional(),
    signalGraph: Json.optional().meta({ description: 'nodes, bindings, riskPaths.' }),
    strategyAst: Json.optional(),
    operators: Json.optional(),
    enums: Json.optional(),
    instruments: z.array(Json).optional(),
    limits: Json.optional().meta({ description: 'Of the tier of the workspace.' }),
    validationIssue: Json.optional().meta({ description: 'fields, severities, codes.' }),
    schemas: Json.optional().meta({ description: 'JSON Schemas.' }),
  })
  .meta({ id: 'Capabilities' });

const Query = z.strictObject({
  sections: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({
      description: `Only these, separated by commas: ${SECTIONS.join(' ')}. Default: all but schemas.`,
    }),
});

/** How many answers are kept serialized: three tiers by the usual choices of sections. */
const MAX_KEPT = 64;

export async function capabilitiesRoutes(app: App, { catalogs }: Services): Promise<void> {
  const fixed = fixedSections();
  const kept = new LruMap<string, TaggedBody>(MAX_KEPT);

  app.get(
    '/public/v1/capabilities',
    {
      onRequest: requireKey(),
      schema: {
        tags: ['Discovery'],
        operationId: 'get_capabilities',
        summary: 'What a strategy may say, and the limits of the tier',
        security: API_KEY_SECURITY,
        querystring: Query,
        response: { 200: Capabilities, ...problems(...KEY_PROBLEMS) },
      },
    },
    async (request, reply) => {
      const sections = sectionsOf(request.query.sections);
      const { tier } = request.caller;
      const instruments = sections.includes('instruments')
        ? await instrumentsOf(catalogs.of(request.caller.workspaceId))
        : [];
      const key = JSON.stringify([tier, sections, instruments]);
      const answer = kept.get(key, () => {
        const all: Record<Section, unknown> = { ...fixed, instruments, limits: limitsOf(tier) };
        return tagged(JSON.stringify(Object.fromEntries(sections.map((section) => [section, all[section]]))));
      });
      return sendTagged(request, reply, answer);
    },
  );
}

/** The sections that are asked for, each once, in the order of SECTIONS. JSON Schemas, which are long, only by name. */
function sectionsOf(wanted: string | undefined): readonly Section[] {
  if (wanted === undefined) return SECTIONS.filter((section) => section !== 'schemas');
  const names = wanted.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(SECTIONS as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw queryRefused('sections', `Unknown section "${unknown[0]}"; there are ${SECTIONS.join(', ')}.`);
  }
  return SECTIONS.filter((section) => names.includes(section));
}

/** The sections that are the same for everyone, made once per process. */
function fixedSections(): Record<Exclude<Section, 'instruments' | 'limits'>, unknown> {
  const language = describeCapabilities();
  return {
    ...language,
    enums: { ...language.enums, feeModelKinds: ['tiered_maker_taker'] },
    schemas: {
      settings: z.toJSONSchema(Settings, { io: 'input' }),
      strategyAst: describeMembers(z.toJSONSchema(StrategyAst, { io: 'input' })),
      signalGraph: describeMembers(z.toJSONSchema(SignalGraph, { io: 'input' })),
      backtestConfig: z.toJSONSchema(BacktestConfig, { io: 'input' }),
    },
  };
}

const limitsOf = (tier: Tier) => ({ tier, ...TIER_LIMITS[tier] });

/**
 * Each instrument with what is stored of it, so that an author can choose symbol, timeframe and range from one answer.
 */
async function instrumentsOf(catalog: Catalog) {
  const [instruments, series] = await Promise.all([catalog.instruments(), catalog.list()]);
  return instruments.map((instrument) => ({
    ...instrument,
    series: series
      .filter(({ symbol }) => symbol === instrument.symbol)
      .map(({ timeframe, bars, start, end }) => ({ timeframe, bars, start, end })),
  }));
}

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: unknown;
  description?: string;
}

/**
 * Describes each member of a strategy by its line in the authoring pack.
 * @param schema of a payload with a `strategy`; the descriptions are written into it
 */
function describeMembers<Payload extends object>(schema: Payload): Payload {
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
