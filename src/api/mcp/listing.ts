// How tools are listed: an agent reads every listed tool before its first call, so a listing has the type and one line
// per argument. `get_schema` answers the whole schema, by which the server checks.
import { z } from 'zod';
import type { Tool } from './tool.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of all arguments of a tool, as JSON Schema. It validates nothing: `readArguments` does. */
export const fullSchema = ({ input }: Tool): JsonSchema =>
  z.toJSONSchema(input, { io: 'input', override: replaceByOverride });

/** Replaces the patterns of dates, which nobody can read, by their short form in `override`, as in OpenAPI. */
function replaceByOverride({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (typeof jsonSchema.override !== 'object') return;
  const { override, ...others } = jsonSchema;
  Object.assign(jsonSchema, others, override);
  delete jsonSchema.override;
}

/** A tool as tools/list has it. */
export function listedTool(tool: Tool) {
  const { name, description, output } = tool;
  const { properties, required = [] } = fullSchema(tool) as { properties: object; required?: readonly string[] };
  const named = NAMED_ONLY[name] ?? [];
  const listed = Object.entries(properties as Record<string, JsonSchema>)
    .filter(([argument, { description: text }]) => !isUnlisted(argument, String(text)) && !named.includes(argument))
    .map(([argument, schema]) => [argument, shortSchema(argument, schema)]);
  return {
    name,
    description,
    inputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(listed),
      ...(required.length > 0 && { required }),
      ...(named.length > 0 && { description: `Also ${named.join(', ')}.` }),
    },
    ...(output !== undefined && Object.keys(output).length > 0 && { outputSchema: outputSchema(output) }),
    annotations: annotationsOf(tool),
  };
}

/** What differs from the defaults of the protocol: a tool may write, may destroy and may not be repeated. */
const annotationsOf = ({ isReadOnly, isIdempotent, isDestructive }: Tool) =>
  isReadOnly
    ? { readOnlyHint: true }
    : { ...(!isDestructive && { destructiveHint: false }), ...(isIdempotent && { idempotentHint: true }) };

/** The instructions of the server name those that many tools take; the others are rarely sent. */
const isUnlisted = (argument: string, text: string): boolean => RARE.has(argument) || text.startsWith('Not used');
const RARE: ReadonlySet<string> = new Set([
  'path',
  'maxBytes',
  'idempotencyKey',
  'view',
  'forkedFromVersionId',
  'ignoreWarnings',
]);
/** Arguments that are listed by name: few calls send them, and `get_schema` has their types. */
const NAMED_ONLY: Readonly<Record<string, readonly string[]>> = {
  get_capabilities: ['sections'],
  get_bars: ['limit', 'cursor'],
  compute_columns: ['timezone', 'limit', 'cursor'],
  import_bars: [
    'timeframe',
    'fileColumns',
    'timezone',
    'timeIs',
    'dateFormat',
    'sort',
    'dedupe',
    'dropNa',
    'adjusted',
    'filename',
  ],
  create_strategy: ['tags', 'note'],
  list_strategies: ['tag', 'archived'],
  list_backtests: [
    'strategyId',
    'strategyVersionId',
    'timeframe',
    'tag',
    'archived',
    'columns',
    'minTrades',
    'batchId',
  ],
  list_sweeps: ['strategyId', 'strategyVersionId', 'status', 'tag', 'archived', 'limit', 'cursor'],
  run_backtest: ['name', 'tags', 'note'],
  get_backtest_artifact: ['values', 'bars', 'format'],
  run_sweep: ['seed', 'metrics', 'constraints', 'walkForward', 'name', 'tags', 'note'],
  label: ['name', 'tags', 'note', 'archived', 'delete'],
  compare_backtests: ['metrics', 'trades', 'correlations', 'tradeRows'],
  combine_backtests: ['rebalance', 'normalize', 'initialBalance', 'riskFreeRatePerYear'],
  check_robustness: ['seed', 'samples', 'blockBars', 'jitterPercent'],
};

/** Members that every answer has. */
const outputSchema = (output: NonNullable<Tool['output']>) => ({
  type: 'object' as const,
  properties: Object.fromEntries(Object.entries(output).map(([name, type]) => [name, { type }])),
});

/** A longer description is in the whole schema only. */
const MAX_LINE = 40;
/** Lines of arguments that have another in the schema; empty: the name says it, or the instructions of the server. */
const LINES: Readonly<Record<string, string>> = {
  id: '',
  backtestId: '',
  strategyId: '',
  strategyVersionId: '',
  path: '',
  cursor: '',
  limit: '',
  wait: '',
  signalGraph: '',
  strategyAst: '',
  settings: '',
  version: '',
  config: 'See `config` in the pack.',
  items: '{strategyVersionId, config} each.',
  matrix: '{versions, config} and symbols, timeframes, params … lists.',
  space: 'Param name or JSON pointer → {values} or {min, max, step}.',
  objective: '{key} or {formula}.',
  backtestIds: '',
  backtests: '{backtestId, weight} each.',
  columns: '',
  offset: '',
  variant: '',
  seed: '',
  status: '',
  symbol: '',
  where: 'sharpeRatio>=1,totalPositions>=30',
  metrics: '',
  sort: 'createdAt or a summary key; - before it: descending.',
  budget: 'Variants; required unless grid.',
};
/** A longer list of values is in the whole schema only. */
const MAX_VALUES = 7;

function shortSchema(name: string, schema: JsonSchema): JsonSchema {
  const { type, enum: values, items } = onlyVariant(schema);
  const { description } = schema;
  const line = LINES[name] ?? (typeof description === 'string' && description.length <= MAX_LINE ? description : '');
  const item = type === 'array' ? (items as JsonSchema | undefined) : undefined;
  return {
    ...(type !== undefined && { type }),
    ...(Array.isArray(values) && values.length <= MAX_VALUES && { enum: values }),
    ...(item !== undefined && { items: shortSchema('', { ...item, description: undefined }) }),
    ...(line !== '' && { description: line }),
  };
}

/** The one variant of a schema besides null; where there are several of one type, that type. */
function onlyVariant(schema: JsonSchema): JsonSchema {
  const variants = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (variants === undefined) return schema;
  const present = variants.map(onlyVariant).filter(({ type }) => type !== 'null');
  if (present.length === 1) return present[0];
  const types = new Set(present.map(({ type }) => type));
  return types.size === 1 ? { type: present[0].type } : {};
}
