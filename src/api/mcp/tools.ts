// MCP tools: each is one call of the public API, with its schema. The names are part of the contract.
import { z } from 'zod';
import { BatchBody, CreateBacktestBody } from '../backtests/backtestSchemas.ts';
import { RobustnessBody } from '../backtests/robustnessSchemas.ts';
import { CreateSweepBody } from '../sweeps/sweepSchemas.ts';
import { CreateBody, FinalizeBody, ValidateBody } from '../strategies/strategySchemas.ts';
import type { ApiAnswer, ApiRequest, CallApi } from './apiCall.ts';

const BASE = '/public/v1';
/** Hosts cut off a call after about a minute; 25 seconds leave room for a slow network. */
export const MAX_WAIT_SECONDS = 25;
/** How long one request of a waiting tool lasts; between two of them it reports progress. */
const WAIT_SLICE_SECONDS = 5;

/** Tells the client how far a waiting call has come. */
export type ReportProgress = (fraction: number, message: string) => Promise<void>;

export interface ToolContext {
  readonly call: (request: ApiRequest) => Promise<ApiAnswer>;
  readonly report: ReportProgress;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** Changes nothing. */
  readonly isReadOnly: boolean;
  /** Calling it again with the same arguments changes nothing more. */
  readonly isIdempotent: boolean;
  readonly run: (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<ApiAnswer>;
}

/** The largest view that the API gives. */
const MAX_BYTES = 200_000;
/** Arguments of every tool: where to look in a long answer, and how much of it to show. */
const READING = {
  path: z
    .string()
    .regex(/^(\/.*)?$/, 'must be empty or begin with /')
    .default('')
    .describe('JSON pointer into the answer, to read a part that an earlier answer omitted. Default: the whole.'),
  maxBytes: z.int().min(1_000).max(MAX_BYTES).default(8_000).describe('Size limit of the answer.'),
};
/** Room for the whole authoring pack. */
const PACK_BYTES = 24_000;
const waitSeconds = z.int().min(0).max(MAX_WAIT_SECONDS);
const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe('Makes the call safe to repeat: the same key gives the same answer for 24 hours.');
const id = (what: string) => z.string().describe(`Id of the ${what}.`);

const get = (path: string): ApiRequest => ({ method: 'GET', path: BASE + path });
const post = (path: string, { idempotencyKey: key, ...body }: Readonly<Record<string, unknown>>): ApiRequest => ({
  method: 'POST',
  path: BASE + path,
  body,
  idempotencyKey: key as string | undefined,
});
const segment = (value: unknown): string => encodeURIComponent(String(value));

/** A tool that only reads. */
const reader = (name: string, title: string, description: string, input: z.ZodRawShape, run: Tool['run']): Tool => ({
  name,
  title,
  description,
  input: withReading(input),
  isReadOnly: true,
  isIdempotent: true,
  run,
});

/** A tool that writes; repeatable only under an idempotency key. */
const writer = (name: string, title: string, description: string, input: z.ZodRawShape, run: Tool['run']): Tool => ({
  name,
  title,
  description,
  input: withReading(input),
  isReadOnly: false,
  isIdempotent: false,
  run,
});

const withReading = (shape: z.ZodRawShape): z.ZodObject => z.strictObject({ ...shape, ...READING });

/** What of an answer is shown. */
interface Shown {
  readonly path: string;
  readonly maxBytes: number;
}
const shownOf = (path: unknown, maxBytes: unknown): Shown => ({ path: String(path), maxBytes: Number(maxBytes) });

/**
 * Waits for a terminal status in slices, reporting progress between them; answers with the agent view, as much of it as
 * is shown. A part of it is read from the largest view there is.
 */
async function awaitRun(path: string, seconds: number, shown: Shown, context: ToolContext) {
  const maxBytes = shown.path === '' ? shown.maxBytes : MAX_BYTES;
  const read = (wait: number): Promise<ApiAnswer> =>
    context.call(get(`${path}?view=agent&maxBytes=${maxBytes}&wait=${wait}`));
  const deadline = performance.now() + 1_000 * seconds;
  // Whole seconds, so that what calls take besides waiting is part of the time and not added to it.
  const secondsLeft = (): number => Math.floor((deadline - performance.now()) / 1_000);
  let answer = await read(Math.min(seconds, WAIT_SLICE_SECONDS));
  for (let left = secondsLeft(); left > 0 && isUnfinished(answer); left = secondsLeft()) {
    const { status, progress } = answer.body as { status: string; progress?: { pct?: number } };
    await context.report(progress?.pct ?? 0, `It is ${status}.`);
    answer = await read(Math.min(left, WAIT_SLICE_SECONDS));
  }
  return answer;
}

const isUnfinished = ({ status, body }: ApiAnswer): boolean =>
  status === 200 && ['queued', 'running'].includes((body as { status: string }).status);

/** Without arguments the authoring pack, whole: cut to the usual size it would lose the names it is read for. */
function capabilities(): Tool {
  const tool = reader(
    'get_capabilities',
    'Get capabilities',
    'What a strategy may say. Without arguments the authoring pack: worked examples, every node kind in a line, ' +
      'every name, limits.',
    {
      sections: z
        .array(z.string())
        .optional()
        .describe('In full: signalGraph, strategyAst, operators, enums, limits, indicators, patterns.'),
      indicator: z.string().optional().describe('Arguments and outputs of this indicator only.'),
      kind: z.string().optional().describe('Members of this node kind only.'),
    },
    ({ sections, indicator, kind }, { call }) => {
      if (indicator !== undefined) return call(get(`/capabilities/indicators/${segment(indicator)}`));
      if (kind !== undefined) return call(get(`/capabilities/kinds/${segment(kind)}`));
      if (sections === undefined) return call(get('/authoring-pack'));
      return call(get(`/capabilities?sections=${segment((sections as string[]).join(','))}`));
    },
  );
  return { ...tool, input: tool.input.extend({ maxBytes: READING.maxBytes.unwrap().default(PACK_BYTES) }) };
}

export const TOOLS: readonly Tool[] = [
  reader(
    'get_manifest',
    'Get the manifest',
    'The workflow, in steps, with rules and links. Read it first.',
    {},
    (_, { call }) => call(get('')),
  ),
  reader(
    'get_workspace_context',
    'Get the workspace',
    'The workspace of the key: role, scopes, tier, limits and usage.',
    {},
    (_, { call }) => call(get('/workspace')),
  ),
  capabilities(),
  reader(
    'list_market_data',
    'List market data',
    'The series that strategies can run on: symbol, timeframe, number of bars, first and last time.',
    {},
    (_, { call }) => call(get('/market-data')),
  ),
  reader(
    'validate_strategy',
    'Validate a strategy',
    'Every issue of a strategy at once, with patches where the repair is certain. Repair and repeat until valid. ' +
      'Stores nothing.',
    { ...ValidateBody.shape, settings: ValidateBody.shape.settings.default({}) },
    ({ path: _path, maxBytes: _maxBytes, ...body }, { call }) => call(post('/strategies/validate', body)),
  ),
  reader(
    'explain_strategy',
    'Explain a strategy',
    'The plan of a valid strategy: what is computed on which bars, what is shared, and how far it looks back.',
    { ...ValidateBody.shape, settings: ValidateBody.shape.settings.default({}) },
    ({ path: _path, maxBytes: _maxBytes, ...body }, { call }) => call(post('/strategies/explain', body)),
  ),
  writer(
    'create_strategy',
    'Create a strategy',
    'Stores a valid strategy as draft version 1.',
    { ...CreateBody.shape, settings: CreateBody.shape.settings.default({}), idempotencyKey },
    ({ path: _path, maxBytes: _maxBytes, ...body }, { call }) => call(post('/strategies', body)),
  ),
  writer(
    'finalize_strategy_version',
    'Finalize a version',
    'Makes a ready version; its id is the strategyVersionId of a backtest. `version` alone promotes that stored draft.',
    { strategyId: id('strategy'), ...FinalizeBody.shape, idempotencyKey },
    ({ path: _path, maxBytes: _maxBytes, strategyId, ...body }, { call }) =>
      call(post(`/strategies/${segment(strategyId)}/versions/finalize`, body)),
  ),
  writer(
    'run_backtest',
    'Run a backtest',
    'Queues a backtest of a ready version and waits up to `wait` seconds for its result.',
    {
      ...CreateBacktestBody.shape,
      wait: waitSeconds.default(20).describe('Seconds to wait for the result; 0 answers with the id at once.'),
      idempotencyKey,
    },
    async ({ path: shownPath, maxBytes, wait, ...body }, context) => {
      const queued = await context.call(post('/backtests', body));
      if (queued.status !== 201 || wait === 0) return queued;
      return awaitRun(
        `/backtests/${(queued.body as { id: string }).id}`,
        Number(wait),
        shownOf(shownPath, maxBytes),
        context,
      );
    },
  ),
  writer(
    'run_backtests',
    'Run many backtests',
    'Queues up to 1,000 backtests; each is accepted or refused on its own. Read the results with get_backtest.',
    { ...BatchBody.shape, idempotencyKey },
    ({ path: _path, maxBytes: _maxBytes, ...body }, { call }) => call(post('/backtests/batch', body)),
  ),
  reader(
    'get_backtest',
    'Get a backtest',
    'Status and result of a backtest: diagnosis, funnel and rules first, then the headline numbers.',
    {
      id: id('backtest'),
      wait: waitSeconds.default(0).describe('Seconds to wait for a terminal status.'),
      view: z.enum(['agent', 'full']).default('agent').describe('`full` has every member; read it by path.'),
    },
    ({ id: backtestId, wait, view, path, maxBytes }, context) =>
      view === 'agent'
        ? awaitRun(`/backtests/${segment(backtestId)}`, Number(wait), shownOf(path, maxBytes), context)
        : context.call(get(`/backtests/${segment(backtestId)}?wait=${Number(wait)}`)),
  ),
  {
    ...writer(
      'cancel_backtest',
      'Cancel a backtest',
      'Cancels a queued or running backtest.',
      { id: id('backtest') },
      ({ id: backtestId }, { call }) =>
        call({ method: 'POST', path: `${BASE}/backtests/${segment(backtestId)}/cancel` }),
    ),
    isIdempotent: true,
  },
  writer(
    'run_sweep',
    'Run a sweep',
    'Runs many variants of one ready version over a space of parameters, ranks them and says whether the best is luck.',
    {
      ...CreateSweepBody.shape,
      wait: waitSeconds.default(20).describe('Seconds to wait for the result; 0 answers with the id at once.'),
      idempotencyKey,
    },
    async ({ path: shownPath, maxBytes, wait, ...body }, context) => {
      const queued = await context.call(post('/sweeps', body));
      if (queued.status !== 201 || wait === 0) return queued;
      return awaitRun(
        `/sweeps/${(queued.body as { id: string }).id}`,
        Number(wait),
        shownOf(shownPath, maxBytes),
        context,
      );
    },
  ),
  reader(
    'get_sweep',
    'Get a sweep',
    'Status and result of a sweep: verdict, best rows with their parameters, marginals.',
    {
      id: id('sweep'),
      wait: waitSeconds.default(0).describe('Seconds to wait for a terminal status.'),
      view: z.enum(['agent', 'full']).default('agent').describe('`full` has every member; read it by path.'),
    },
    ({ id: sweepId, wait, view, path, maxBytes }, context) =>
      view === 'agent'
        ? awaitRun(`/sweeps/${segment(sweepId)}`, Number(wait), shownOf(path, maxBytes), context)
        : context.call(get(`/sweeps/${segment(sweepId)}?wait=${Number(wait)}`)),
  ),
  writer(
    'check_robustness',
    'Check robustness',
    'Checks how robust the result of a completed backtest is: trades and bars drawn again, higher costs, moved ' +
      'numbers, look-ahead and warm-up audits.',
    {
      backtestId: id('completed backtest'),
      ...RobustnessBody.shape,
      wait: waitSeconds.default(20).describe('Seconds to wait for the result; 0 answers with the id at once.'),
      idempotencyKey,
    },
    async ({ path: shownPath, maxBytes, wait, backtestId, ...body }, context) => {
      const path = `/backtests/${segment(backtestId)}/robustness`;
      const queued = await context.call(post(path, body));
      if (queued.status !== 201 || wait === 0) return queued;
      return awaitRun(
        `${path}/${(queued.body as { id: string }).id}`,
        Number(wait),
        shownOf(shownPath, maxBytes),
        context,
      );
    },
  ),
  reader(
    'get_robustness',
    'Get a robustness check',
    'Status and result of a robustness check: verdict and findings first, then the numbers of each analysis.',
    {
      backtestId: id('backtest'),
      id: id('robustness check'),
      wait: waitSeconds.default(0).describe('Seconds to wait for a terminal status.'),
      view: z.enum(['agent', 'full']).default('agent').describe('`full` has every member; read it by path.'),
    },
    ({ backtestId, id: checkId, wait, view, path: shownPath, maxBytes }, context) => {
      const path = `/backtests/${segment(backtestId)}/robustness/${segment(checkId)}`;
      return view === 'agent'
        ? awaitRun(path, Number(wait), shownOf(shownPath, maxBytes), context)
        : context.call(get(`${path}?wait=${Number(wait)}`));
    },
  ),
];

export type { CallApi };
