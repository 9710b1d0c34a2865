// MCP tools: each is one call of the public API, with its schema. The names are part of the contract.
import { z } from 'zod';
import { CreateBacktestBody } from '../backtests/backtestSchemas.ts';
import { PACK_PARTS } from '../discovery/authoringPack.ts';
import { RobustnessBody } from '../backtests/robustnessSchemas.ts';
import { CreateSweepBody } from '../sweeps/sweepSchemas.ts';
import { CreateBody, FinalizeBody, ValidateBody } from '../strategies/strategySchemas.ts';
import { fullSchema } from './listing.ts';
import type { ApiAnswer } from './apiCall.ts';
import { COMPARE_TOOLS } from './compareTools.ts';
import { DATA_TOOLS } from './dataTools.ts';
import { CURSOR, LIMIT, LIST_BYTES, listBacktests, listStrategies, listSweeps } from './listTools.ts';
import { labelTool } from './labelTool.ts';
import { getBacktestArtifact, getSweepRows } from './rowTools.ts';
import { queueTool, resultTool, runBacktests } from './runTools.ts';
import {
  answering,
  get,
  idempotencyKey,
  listing,
  post,
  queryOf,
  readTool,
  segment,
  withMaxBytes,
  writeTool,
  type Tool,
} from './tool.ts';
import { bodyMembers } from './toolArguments.ts';

const id = (what: string) => z.string().describe(`Id of the ${what}.`);

/** A tool may be called without settings, which are then an empty object. */
const VALIDATED = bodyMembers({ ...ValidateBody.shape, settings: ValidateBody.shape.settings.default({}) });
const CREATED = bodyMembers({ ...CreateBody.shape, settings: CreateBody.shape.settings.default({}) });

/** Room for the whole authoring pack: at the usual size, it would lose the names that it is read for. */
const PACK_BYTES = 24_000;

const getCapabilities = readTool(
  'get_capabilities',
  'Get capabilities',
  'The authoring pack: all that a strategy may say. Or in full: a part of it, an indicator, a node kind.',
  {
    part: z.enum(PACK_PARTS).optional(),
    sections: z.array(z.string()).optional().describe('signalGraph, strategyAst, enums, indicators, patterns…'),
    indicator: z.string().optional(),
    kind: z.string().optional(),
  },
  ({ part, sections, indicator, kind }, { call }) => {
    if (indicator !== undefined) return call(get(`/capabilities/indicators/${segment(indicator)}`));
    if (kind !== undefined) return call(get(`/capabilities/kinds/${segment(kind)}`));
    if (part !== undefined) return call(get(`/authoring-pack?part=${segment(part)}`));
    if (sections === undefined) return call(get('/authoring-pack?part=core'));
    return call(get(`/capabilities?sections=${segment((sections as string[]).join(','))}`));
  },
);

const getSchema = readTool(
  'get_schema',
  'Get the schema of a tool',
  'All arguments of a tool, with bounds and descriptions.',
  { tool: z.string() },
  async ({ tool: name }) => {
    const found = TOOLS.find((tool) => tool.name === name);
    const names = TOOLS.map((tool) => tool.name).join(', ');
    const message = `There is no tool ${JSON.stringify(String(name).slice(0, 100))}. The tools are ${names}.`;
    if (found === undefined) return ownAnswer(404, { status: 404, code: 'NOT_FOUND', message });
    const { title, description } = found;
    return ownAnswer(200, { name, title, description, inputSchema: fullSchema(found) });
  },
);

/** An answer that the server gives without a call of the API. */
const ownAnswer = (status: number, body: unknown): ApiAnswer => ({ status, body, header: () => null });

const getStrategy = readTool(
  'get_strategy',
  'Get a strategy',
  'A strategy with its versions; with `version`, its payloads and settings.',
  { id: id('strategy'), version: z.int().min(1).optional().describe('The number of a version, in full.') },
  ({ id: strategyId, version }, { call }) => {
    const path = `/strategies/${segment(strategyId)}`;
    return call(get(version === undefined ? path : `${path}/versions/${segment(version)}`));
  },
);

const listMarketData = readTool(
  'list_market_data',
  'List market data',
  'Series that strategies can run on: symbol, timeframe, bars, first and last time, owner.',
  {
    symbol: z.string().optional(),
    owner: z.enum(['workspace', 'shared']).optional(),
    limit: LIMIT,
    cursor: CURSOR,
  },
  (args, { call }) => call(get(`/market-data?${queryOf(args)}`)),
);

const listTemplates = readTool(
  'list_templates',
  'List templates',
  'Strategies to learn from; with `key`, one with its payload and a config on which it trades.',
  {
    key: z.string().optional(),
    limit: LIMIT,
    cursor: CURSOR,
  },
  ({ key, ...page }, { call }) =>
    call(get(key === undefined ? `/system-strategies?${queryOf(page)}` : `/system-strategies/${segment(key)}`)),
);

const cancelBacktest = writeTool(
  'cancel_backtest',
  'Cancel a backtest',
  'Cancels a queued or running backtest.',
  { id: id('backtest') },
  (args, { call }) => call(post(`/backtests/${segment(args.id)}/cancel`)),
);

const cancelSweep = writeTool(
  'cancel_sweep',
  'Cancel a sweep',
  'Cancels a queued or running sweep; its rows are dropped.',
  { id: id('sweep') },
  (args, { call }) => call(post(`/sweeps/${segment(args.id)}/cancel`)),
);

const robustnessPath = (backtestId: unknown): string => `/backtests/${segment(backtestId)}/robustness`;

export const TOOLS: readonly Tool[] = [
  readTool(
    'get_manifest',
    'Get the manifest',
    'The workflow over HTTP, rules of the engine, links.',
    {},
    (_, { call }) => call(get('')),
  ),
  readTool(
    'get_workspace_context',
    'Get the workspace',
    'Role, scopes, tier, limits and usage of the key.',
    {},
    (_, { call }) => call(get('/workspace')),
  ),
  withMaxBytes(getCapabilities, PACK_BYTES),
  withMaxBytes(getSchema, LIST_BYTES),
  listing(withMaxBytes(listMarketData, LIST_BYTES)),
  ...DATA_TOOLS.map((tool) => withMaxBytes(tool, LIST_BYTES)),
  answering(
    { valid: 'boolean' },
    readTool(
      'validate_strategy',
      'Validate a strategy',
      'All issues of a strategy, with patches to apply in their order. Stores nothing.',
      { ...VALIDATED, compiled: z.boolean().default(false).describe('Adds the payload in canonical form.') },
      async ({ compiled, ...args }, { call }) => {
        const answer = await call(post('/strategies/validate', args));
        if (compiled === true || answer.status !== 200) return answer;
        const { compiled: _, ...verdict } = answer.body as Readonly<Record<string, unknown>>;
        return { ...answer, body: verdict };
      },
    ),
  ),
  readTool(
    'explain_strategy',
    'Explain a strategy',
    'The plan of a valid strategy in words: what is computed on which bars.',
    VALIDATED,
    (args, { call }) => call(post('/strategies/explain', args)),
  ),
  listStrategies,
  getStrategy,
  withMaxBytes(listTemplates, LIST_BYTES),
  answering(
    { id: 'string' },
    writeTool(
      'create_strategy',
      'Create a strategy',
      'Stores a valid strategy as draft version 1.',
      { ...CREATED, idempotencyKey },
      (args, { call }) => call(post('/strategies', args)),
    ),
  ),
  answering(
    { id: 'string' },
    writeTool(
      'finalize_strategy_version',
      'Finalize a version',
      'Makes a ready version; its id is the strategyVersionId of runs. `version` alone promotes that draft.',
      { strategyId: id('strategy'), ...bodyMembers(FinalizeBody.shape), idempotencyKey },
      ({ strategyId, ...body }, { call }) => call(post(`/strategies/${segment(strategyId)}/versions/finalize`, body)),
    ),
  ),
  queueTool(
    {
      name: 'run_backtest',
      title: 'Run a backtest',
      description: 'Queues a backtest of a ready version and waits for its result.',
      input: bodyMembers(CreateBacktestBody.shape),
    },
    (body) => ['/backtests', body],
  ),
  runBacktests,
  resultTool(
    {
      name: 'get_backtest',
      title: 'Get a backtest',
      description: 'Status and result: diagnosis, funnel and rules first, then the headline numbers.',
      input: { id: id('backtest') },
    },
    (args) => `/backtests/${segment(args.id)}`,
  ),
  listBacktests,
  ...COMPARE_TOOLS,
  getBacktestArtifact,
  // Cancelling again changes nothing more.
  { ...cancelBacktest, isIdempotent: true },
  queueTool(
    {
      name: 'run_sweep',
      title: 'Run a sweep',
      description: 'Runs many variants of a ready version, ranks them and says whether the best is luck.',
      input: bodyMembers(CreateSweepBody.shape),
    },
    (body) => ['/sweeps', body],
  ),
  resultTool(
    {
      name: 'get_sweep',
      title: 'Get a sweep',
      description: 'Status and result: verdict, best rows with their parameters, marginals.',
      input: { id: id('sweep') },
    },
    (args) => `/sweeps/${segment(args.id)}`,
  ),
  listSweeps,
  getSweepRows,
  writeTool(
    'run_sweep_row',
    'Backtest a row of a sweep',
    'Queues the full backtest of one variant of a completed sweep.',
    { id: id('sweep'), variant: z.int().min(0).describe('The `variant` of the row.'), idempotencyKey },
    ({ id: sweepId, variant, ...key }, { call }) =>
      call(post(`/sweeps/${segment(sweepId)}/rows/${segment(variant)}/backtest`, key)),
  ),
  { ...cancelSweep, isIdempotent: true },
  queueTool(
    {
      name: 'check_robustness',
      title: 'Check robustness',
      description:
        'Checks a completed backtest: trades and bars drawn again, higher costs, moved numbers, look-ahead audit.',
      input: { backtestId: id('completed backtest'), ...bodyMembers(RobustnessBody.shape) },
    },
    ({ backtestId, ...body }) => [robustnessPath(backtestId), body],
  ),
  resultTool(
    {
      name: 'get_robustness',
      title: 'Get a robustness check',
      description: 'Status and result: verdict and findings first, then each analysis.',
      input: { backtestId: id('backtest'), id: id('robustness check') },
    },
    (args) => `${robustnessPath(args.backtestId)}/${segment(args.id)}`,
  ),
  labelTool,
];
