// Tools that queue runs (backtests, a sweep or a robustness check) or read one, and wait for its result.
import { z } from 'zod';
import { MAX_BATCH } from '../backtests/backtestSchemas.ts';
import { MatrixBody } from '../backtests/matrix.ts';
import type { ApiAnswer } from './apiCall.ts';
import {
  answering,
  get,
  idempotencyKey,
  MAX_BYTES,
  post,
  readTool,
  writeTool,
  type Tool,
  type ToolArguments,
  type ToolContext,
} from './tool.ts';
import { bodyMembers } from './toolArguments.ts';

/** Hosts cut off a call after about a minute; 25 seconds leave room for a slow network. */
export const MAX_WAIT_SECONDS = 25;
/** How long one request of a waiting tool lasts; between two of them it reports progress. */
const WAIT_SLICE_SECONDS = 5;

const waitSeconds = z.int().min(0).max(MAX_WAIT_SECONDS);
const WAIT_FOR_RESULT = waitSeconds
  .default(20)
  .describe('Seconds to wait for the result; 0 answers with the id at once.');
const WAIT_FOR_END = waitSeconds.default(0).describe('Seconds to wait for a terminal status.');
const VIEW = z.enum(['agent', 'full']).default('agent').describe('`full` has every member; read it by path.');

interface RunTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodRawShape;
}

/**
 * A tool that queues a run and waits for its result.
 * @param requestOf from the tool's arguments to the path of the list of runs, and the body that queues another one
 */
export const queueTool = (
  { name, title, description, input }: RunTool,
  requestOf: (args: ToolArguments) => readonly [path: string, body: ToolArguments],
): Tool =>
  answering(
    { id: 'string' },
    writeTool(name, title, description, { ...input, wait: WAIT_FOR_RESULT, idempotencyKey }, async (args, context) => {
      const { wait, ...own } = args;
      const [path, body] = requestOf(own);
      const queued = await context.call(post(path, body));
      if (queued.status !== 201 || wait === 0) return queued;
      const { id } = queued.body as { id: string };
      // The id at once: a host may cut the call off before its answer.
      await context.report(0, `Queued as ${id}.`);
      return awaitRun(`${path}/${id}`, Number(wait), context);
    }),
  );

/**
 * A tool that reads a run, and may wait for it.
 * @param pathOf from the tool's arguments to the path of the run
 */
export const resultTool = (
  { name, title, description, input }: RunTool,
  pathOf: (args: ToolArguments) => string,
): Tool =>
  answering(
    { id: 'string', status: 'string' },
    readTool(name, title, description, { ...input, wait: WAIT_FOR_END, view: VIEW }, (args, context) => {
      const path = pathOf(args);
      const wait = Number(args.wait);
      return args.view === 'agent' ? awaitRun(path, wait, context) : context.call(get(`${path}?wait=${wait}`));
    }),
  );

/**
 * Waits for a terminal status in slices, reporting progress between them; answers with the agent view, as much of it as
 * is shown. A part of it is read from the largest view there is.
 */
async function awaitRun(path: string, seconds: number, { call, report, shown }: ToolContext): Promise<ApiAnswer> {
  const maxBytes = shown.path === '' ? shown.maxBytes : MAX_BYTES;
  const read = (wait: number): Promise<ApiAnswer> => call(get(`${path}?view=agent&maxBytes=${maxBytes}&wait=${wait}`));
  const deadline = performance.now() + 1_000 * seconds;
  // Whole seconds, so that what calls take besides waiting is part of the time and not added to it.
  const secondsLeft = (): number => Math.floor((deadline - performance.now()) / 1_000);
  let answer = await read(Math.min(seconds, WAIT_SLICE_SECONDS));
  for (let left = secondsLeft(); left > 0 && isUnfinished(answer); left = secondsLeft()) {
    const { status, progress } = answer.body as { status: string; progress?: { pct?: number } };
    await report(progress?.pct ?? 0, `It is ${status}.`);
    answer = await read(Math.min(left, WAIT_SLICE_SECONDS));
  }
  return answer;
}

const isUnfinished = ({ status, body }: ApiAnswer): boolean =>
  status === 200 && ['queued', 'running'].includes((body as { status: string }).status);

/** Items are checked by the API one by one; their objects are named here so that strings of them are read as such. */
const MANY = bodyMembers({
  items: z
    .array(z.looseObject({ config: z.looseObject({}).describe('As run_backtest takes it.') }))
    .min(1)
    .max(MAX_BATCH)
    .optional()
    .describe('Arguments of run_backtest, strategyVersionId and config, for each backtest.'),
  matrix: MatrixBody.optional(),
});

/** A batch of so few is answered with a row for each. */
const ROWS_OF_BATCH = 20;

export const runBacktests = writeTool(
  'run_backtests',
  'Run many backtests',
  'Queues up to 1,000 backtests, of items or every combination of a matrix; list_backtests has them by batchId.',
  { ...MANY, idempotencyKey },
  ({ matrix, ...args }, { call }) => {
    const { items, idempotencyKey: key } = args;
    if (matrix !== undefined && items === undefined)
      return call(post('/backtests/matrix', { ...(matrix as object), idempotencyKey: key }));
    const isShort = Array.isArray(items) && items.length <= ROWS_OF_BATCH;
    return call(post(`/backtests/batch${isShort ? '' : '?view=agent'}`, { ...args, matrix }));
  },
);
