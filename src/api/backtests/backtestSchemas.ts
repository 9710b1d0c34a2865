// Backtest schemas: what the routes accept and answer.
import { z } from 'zod';
import { BACKTEST_SORTS } from '../../db/backtestLists.ts';
import { RUN_STATUSES } from '../../db/runStatus.ts';
import { BacktestConfig, FLAT_DESCRIPTIONS, FLAT_KEYS, TIMEFRAMES } from '../../engine/index.ts';
import { detailQuery } from '../http/detailQuery.ts';
import { LABEL_MEMBERS, labelFilters, RUN_LABELS } from '../http/labelShapes.ts';
import { listQuery } from '../http/pagination.ts';
import { columnsOf, SUMMARY_FILTERS } from './listColumns.ts';
import { SummaryJson } from './resultSchemas.ts';
import { RunSettings } from '../strategies/effectiveSettings.ts';
import { Deleted } from './runRoutes.ts';
import { BACKTEST_EXAMPLES, BATCH_EXAMPLES } from './backtestExamples.ts';
import { instant, instantOrNull, Issue, Json, RUN_TIMES, Uuid, text } from '../http/routeSchemas.ts';

export const MAX_BATCH = 1_000;

/** Postgres stores texts unchanged, so names and values must not contain NUL or half of a surrogate pair. */
const isStorable = (value: unknown): boolean => {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
};

export const CreateBacktestBody = z
  .strictObject({
    strategyVersionId: Uuid.meta({ description: 'Of a ready version.' }),
    config: BacktestConfig.refine(isStorable, 'must hold well-formed texts without NUL'),
    ...RUN_LABELS,
  })
  .meta({ id: 'CreateBacktest', examples: BACKTEST_EXAMPLES });
export type CreateBacktestBody = z.infer<typeof CreateBacktestBody>;

/** Items are checked one by one, so that an invalid item does not affect the others. */
export const BatchBody = z
  .strictObject({
    items: z
      .array(z.unknown())
      .min(1)
      .max(MAX_BATCH)
      .meta({ description: `Up to ${MAX_BATCH} bodies as POST /backtests takes them.` }),
  })
  .meta({ id: 'CreateBacktestBatch', examples: BATCH_EXAMPLES });

/** A run that was just queued is not archived. */
const { archivedAt: _archivedAt, ...QUEUED_LABELS } = LABEL_MEMBERS;

export const QueuedBacktest = z
  .object({
    id: Uuid,
    status: z.literal('queued'),
    strategyId: Uuid,
    strategyVersionId: Uuid,
    ...QUEUED_LABELS,
    createdAt: instant('When it was queued.'),
    config: Json,
    links: z.record(z.string(), z.string()),
  })
  .meta({ id: 'QueuedBacktest' });

/** A problem without its request-level members; other members are as in the problem (limit, usage, available, …). */
const ItemError = z.looseObject({
  status: z.int(),
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  issues: z.array(Issue).optional(),
});
export const BatchAnswer = z
  .object({
    data: z.array(
      z.union([
        z.object({ index: z.int(), id: Uuid, status: z.literal('queued') }),
        z.object({ index: z.int(), error: ItemError }),
      ]),
    ),
    accepted: z.int(),
    refused: z.int(),
  })
  .meta({ id: 'BacktestBatch' });

export const BatchQuery = z.strictObject({
  view: z
    .enum(['full', 'agent'])
    .default('full')
    .meta({ description: '`agent`: counts, the first ids, and each kind of refusal once, as of a matrix.' }),
});

export const ShortBatchAnswer = z
  .object({
    batchId: Uuid.optional().meta({ description: 'Absent when nothing was accepted.' }),
    accepted: z.int(),
    refused: z.int(),
    first: z.array(z.object({ index: z.int(), id: Uuid })).meta({ description: 'Of those that were accepted.' }),
    refusals: z
      .array(
        z.object({
          count: z.int(),
          indices: z.string().meta({ description: 'Ranges, such as 0-3, 7, 9-10.' }),
          error: ItemError.meta({ description: 'Of the first of them.' }),
        }),
      )
      .meta({ description: 'Equal refusals once, the most frequent first.' }),
    otherRefusals: z.int().optional().meta({ description: 'Refusals of further kinds.' }),
    links: z.record(z.string(), z.string()).meta({ description: '`backtests`: the list of those accepted.' }),
  })
  .meta({ id: 'BacktestBatchAgentView' });

const dateParameter = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

/** The members of a row besides the keys of the summary. */
const ROW_MEMBERS = [
  'id', 'status', 'strategyId', 'strategyVersionId', 'symbol', 'instruments', 'timeframe', 'name', 'tags', 'note',
  'archivedAt', 'createdAt', 'startedAt', 'finishedAt', 'cached', 'params', 'overrides', 'warnings', 'diagnosis',
] as const; // prettier-ignore

export const BacktestListQuery = listQuery(
  [...(Object.keys(BACKTEST_SORTS) as (keyof typeof BACKTEST_SORTS)[]), ...FLAT_KEYS],
  '-createdAt',
  {
    status: z.enum(RUN_STATUSES).optional(),
    strategyId: Uuid.optional(),
    strategyVersionId: Uuid.optional(),
    symbol: text(1, 100).optional().meta({ description: 'Traded, alone or in a portfolio.' }),
    timeframe: z.enum(TIMEFRAMES).optional(),
    batchId: Uuid.optional().meta({ description: 'Of the answer to a batch or a matrix.' }),
    createdAfter: dateParameter.optional().meta({ type: 'string', format: 'date-time', description: 'Exclusive.' }),
    createdBefore: dateParameter.optional().meta({ type: 'string', format: 'date-time', description: 'Exclusive.' }),
    ...labelFilters('a symbol'),
    ...SUMMARY_FILTERS,
    columns: columnsOf(ROW_MEMBERS),
    format: z.enum(['json', 'csv']).optional().meta({
      description: 'As CSV the page has the chosen columns, and the header Link the address of the next one.',
    }),
  },
);

/** Notes are only in lists that ask for the column. */
const { note: _note, ...ROW_LABELS } = LABEL_MEMBERS;

export const BacktestRow = z
  .object({
    id: Uuid,
    status: z.enum(RUN_STATUSES),
    strategyId: Uuid,
    strategyVersionId: Uuid,
    symbol: z.string().meta({ description: 'What it trades; of a portfolio the first symbols of its list.' }),
    instruments: z.int().optional().meta({ description: 'How many instruments a portfolio trades.' }),
    timeframe: z.string(),
    ...ROW_LABELS,
    ...RUN_TIMES,
    cached: z.boolean(),
    returnPct: z.number().nullable().meta({ description: FLAT_DESCRIPTIONS.returnPct }),
    sharpeRatio: z.number().nullable().meta({ description: FLAT_DESCRIPTIONS.sharpeRatio }),
    maxDrawdown: z.number().nullable().meta({ description: FLAT_DESCRIPTIONS.maxDrawdown }),
    totalPositions: z.int().nullable(),
    params: Json.meta({ description: 'As the config has them.' }),
    overrides: Json,
    warnings: z.array(z.string()).meta({ description: 'Their codes.' }),
    diagnosis: z.string().nullable().meta({
      description: 'The code of the first entry of `strategyTrace.diagnosis`, the worst; null without a result.',
    }),
  })
  .catchall(z.number().nullable())
  .meta({ id: 'BacktestRow', description: 'Where the list is sorted by another key of the summary, with that key.' });
/** A row with the columns that were asked for. */
export const ChosenBacktestRow = z.looseObject({ id: Uuid }).meta({ id: 'ChosenBacktestRow' });

export const DeletedBacktest = Deleted.meta({ id: 'DeletedBacktest' });

export const BacktestQuery = detailQuery('backtest');

export const Progress = z.object({
  phase: z.enum(['queued', 'starting', 'simulating', 'done']),
  pct: z.number().meta({ description: 'A fraction, 0 to 1.' }),
  barsDone: z.number(),
  barsTotal: z.number(),
  queuePosition: z.int().nullable().meta({ description: 'Backtests of the workspace that were queued before it.' }),
});

export const BacktestDetail = z
  .object({
    id: Uuid,
    status: z.enum(RUN_STATUSES),
    readFirst: z.array(z.string()).meta({ description: 'JSON pointers into this answer, in the order to read them.' }),
    strategyId: Uuid,
    strategyVersionId: Uuid,
    ...LABEL_MEMBERS,
    ...RUN_TIMES,
    cancelRequestedAt: instantOrNull('When it was asked to stop; null: never.'),
    config: Json.meta({ description: 'As it was sent.' }),
    resolvedConfig: Json.nullable().meta({ description: 'With every default filled in, the range in ms.' }),
    effectiveSettings: RunSettings.nullable(),
    progress: Progress,
    reproducibility: z
      .looseObject({ cached: z.boolean() })
      .nullable()
      .meta({ description: 'engineVersion strategyHash dataHash configHash runKey resultHash cached.' }),
    warnings: z.array(Json),
    error: z
      .looseObject({ code: z.string(), path: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Of a failed backtest.' }),
    result: z
      .object({
        summaryJson: SummaryJson,
        artifactUrls: z.record(z.string(), z.string()),
        artifacts: z.array(z.object({ name: z.string(), formats: z.array(z.string()), url: z.string() })),
      })
      .nullable()
      .meta({ description: 'Of a completed backtest.' }),
    links: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Backtest' });
export type BacktestDetail = z.input<typeof BacktestDetail>;

export const Verification = z
  .object({
    id: Uuid,
    verified: z.boolean().meta({
      description:
        'True when the run gave the same resultHash again. Engines before 1.5.0 hashed results in another way: for ' +
        'theirs, true when all trades and all of the summary are the same.',
    }),
    stored: Json,
    recomputed: Json,
  })
  .meta({ id: 'BacktestVerification' });
