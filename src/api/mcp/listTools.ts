// Tools that list strategies, backtests and sweeps, found by their labels and their numbers.
import { z } from 'zod';
import { BacktestListQuery } from '../backtests/backtestSchemas.ts';
import { StrategyListQuery } from '../strategies/strategySchemas.ts';
import { SweepListQuery } from '../sweeps/sweepSchemas.ts';
import { get, listing, queryOf, readTool, withMaxBytes } from './tool.ts';

/** Room for a page of the usual length. */
export const LIST_BYTES = 16_000;
export const CURSOR = z
  .string()
  .optional()
  .describe('`pagination.nextCursor` of the page before, with the same sort and filters.');

const { columns, createdAfter: _after, createdBefore: _before, format: _format, ...found } = BacktestListQuery.shape;
export const LIMIT = found.limit;
/** Filters by labels, as every list takes them. */
const LABELED = {
  tag: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('Has this tag, or all of these.'),
  archived: found.archived,
};

export const listBacktests = listing(
  withMaxBytes(
    readTool(
      'list_backtests',
      'List and compare backtests',
      'Backtests with headline numbers, parameters and worst diagnosis, sorted by any key of the summary.',
      {
        ...found,
        ...LABELED,
        sort: z
          .string()
          .default('-createdAt')
          .describe('createdAt or a key such as sharpeRatio; - before it: descending.'),
        // The API reads what they hold.
        columns: z.array(z.string()).optional().describe(String(columns.meta()?.description)),
        minTrades: z.int().min(0).optional().describe(String(found.minTrades.meta()?.description)),
        where: z.string().optional().describe(String(found.where.meta()?.description)),
        cursor: CURSOR,
      },
      ({ columns: names, ...args }, { call }) =>
        call(get(`/backtests?${queryOf({ ...args, columns: (names as string[] | undefined)?.join(',') })}`)),
    ),
    LIST_BYTES,
  ),
);

const { status, strategyId, strategyVersionId, search } = SweepListQuery.shape;
export const listSweeps = listing(
  withMaxBytes(
    readTool(
      'list_sweeps',
      'List sweeps',
      'Sweeps, newest first, with verdict and best row.',
      { status, strategyId, strategyVersionId, search, ...LABELED, limit: LIMIT, cursor: CURSOR },
      (args, { call }) => call(get(`/sweeps?${queryOf(args)}`)),
    ),
    LIST_BYTES,
  ),
);

const { search: part, status: versionStatus } = StrategyListQuery.shape;
export const listStrategies = listing(
  withMaxBytes(
    readTool(
      'list_strategies',
      'List strategies',
      'Strategies, newest first, with the ids and states of their newest versions.',
      { search: part, ...LABELED, status: versionStatus, limit: LIMIT, cursor: CURSOR },
      (args, { call }) => call(get(`/strategies?${queryOf(args)}`)),
    ),
    LIST_BYTES,
  ),
);
