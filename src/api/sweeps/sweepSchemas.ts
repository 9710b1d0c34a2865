// Sweep schemas: what the routes take and answer.
import { z } from 'zod';
import { RUN_STATUSES } from '../../db/runStatus.ts';
import { SWEEP_SORTS } from '../../db/sweeps.ts';
import { SWEEP_FORMATS, SweepSpec } from '../../engine/index.ts';
import { CSV_PAGE_PARAMETERS } from '../http/csvPages.ts';
import { detailQuery } from '../http/detailQuery.ts';
import { LABEL_MEMBERS, labelFilters, RUN_LABELS } from '../http/labelShapes.ts';
import { listQuery } from '../http/pagination.ts';
import { SIGNIFICANT_DIGITS } from '../http/significant.ts';
import { Json, RUN_TIMES, Uuid, text } from '../http/routeSchemas.ts';
import { Deleted } from '../backtests/runRoutes.ts';
import { SWEEP_EXAMPLES } from './sweepExamples.ts';

export const CreateSweepBody = SweepSpec.extend({
  strategyVersionId: Uuid.meta({ description: 'Of a ready version.' }),
  ...RUN_LABELS,
}).meta({ id: 'CreateSweep', examples: SWEEP_EXAMPLES });
export type CreateSweepBody = z.infer<typeof CreateSweepBody>;

export const SweepListQuery = listQuery(Object.keys(SWEEP_SORTS) as (keyof typeof SWEEP_SORTS)[], '-createdAt', {
  status: z.enum(RUN_STATUSES).optional(),
  strategyId: Uuid.optional(),
  strategyVersionId: Uuid.optional(),
  ...labelFilters('a symbol'),
});

const Best = z
  .looseObject({ variant: z.number(), value: z.number(), params: Json })
  .nullable()
  .meta({ description: 'The best row so far: its variant, the value of the objective, and its parameters.' });

const { note: _note, ...ROW_LABELS } = LABEL_MEMBERS;

export const SweepRow = z
  .object({
    id: Uuid,
    status: z.enum(RUN_STATUSES),
    strategyId: Uuid,
    strategyVersionId: Uuid,
    ...ROW_LABELS,
    method: z.string(),
    variants: z.int(),
    ...RUN_TIMES,
    best: Best,
    verdict: z.string().nullable().meta({ description: '`luck` or `not_luck`, of a completed sweep.' }),
  })
  .meta({ id: 'SweepRow' });

export const DeletedSweep = Deleted.meta({ id: 'DeletedSweep' });

export const SweepQuery = detailQuery('sweep');

export const SweepProgress = z.object({
  pct: z.number().meta({ description: 'A fraction, 0 to 1.' }),
  variantsDone: z.number(),
  variantsTotal: z.number(),
  secondsLeft: z.number().nullable().meta({ description: 'At the pace so far; null until a part has ended.' }),
});

export const SweepDetail = z
  .object({
    id: Uuid,
    status: z.enum(RUN_STATUSES),
    strategyId: Uuid,
    strategyVersionId: Uuid,
    ...LABEL_MEMBERS,
    ...RUN_TIMES,
    spec: Json.meta({ description: 'The request, with every default filled in.' }),
    variants: z.int(),
    progress: SweepProgress,
    best: Best,
    error: z.looseObject({ code: z.string(), path: z.string(), message: z.string() }).nullable(),
    result: Json.nullable().meta({ description: 'Of a completed sweep. Read verdict first, then top and warnings.' }),
    links: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Sweep' });
export type SweepDetail = z.input<typeof SweepDetail>;

/** What `view=agent` answers. */
export const SweepAgentView = z
  .looseObject({
    ...SweepDetail.pick({ id: true, status: true, progress: true, error: true, best: true, links: true }).shape,
    verdict: Json.optional().meta({ description: 'Whether the best row is more than luck. Read it first.' }),
    table: z
      .object({ columns: z.array(z.string()), rows: z.array(z.array(z.unknown())) })
      .optional()
      .meta({ description: 'The best rows, as many as fit.' }),
    omitted: z.array(z.string()).optional().meta({ description: 'What did not fit.' }),
  })
  .meta({
    id: 'SweepAgentView',
    description: `Numbers have ${SIGNIFICANT_DIGITS} significant digits. Parts that do not fit are absent.`,
  });

const FORMAT_DESCRIPTION = 'Takes precedence over the Accept header; json where neither names one.';
export const SweepResultsQuery = z.strictObject({
  format: z.enum(SWEEP_FORMATS).optional().meta({ description: FORMAT_DESCRIPTION }),
  ...CSV_PAGE_PARAMETERS,
});
export const SweepHeatmapQuery = z.strictObject({
  x: text(1, 500).meta({ description: 'A member of the space.' }),
  y: text(1, 500).meta({ description: 'Another one.' }),
  metric: text(1, 100).optional().meta({ description: 'A key that the rows hold; default: the objective.' }),
});
const HeatmapAxis = z.object({
  name: z.string(),
  values: z.array(z.unknown()),
  isBinned: z.boolean().meta({
    description:
      'Whether there were more than 40 values, or a range: each of `values` is then the lowest of a bin. The rows ' +
      'have them all.',
  }),
});
export const SweepHeatmap = z.object({
  x: HeatmapAxis,
  y: HeatmapAxis,
  mean: z.array(z.array(z.number().nullable())),
  best: z.array(z.array(z.number().nullable())),
  variants: z.array(z.array(z.number())),
});
