// Robustness schemas: what the routes of robustness checks take and answer.
import { z } from 'zod';
import { RUN_STATUSES } from '../../db/runStatus.ts';
import { SWEEP_SORTS } from '../../db/sweeps.ts';
import { RobustnessSpec } from '../../engine/index.ts';
import { detailQuery } from '../http/detailQuery.ts';
import { listQuery } from '../http/pagination.ts';
import { Json, RUN_TIMES, Uuid } from '../http/routeSchemas.ts';
import { SIGNIFICANT_DIGITS } from '../http/significant.ts';

export const RobustnessBody = RobustnessSpec.meta({
  id: 'CheckRobustness',
  examples: [{}, { analyses: ['monteCarlo', 'feeStress', 'lookAheadAudit'], seed: 7 }],
});

export const RobustnessQuery = detailQuery('check');
export type RobustnessQuery = z.infer<typeof RobustnessQuery>;

export const CheckListQuery = listQuery(Object.keys(SWEEP_SORTS) as (keyof typeof SWEEP_SORTS)[], '-createdAt', {
  status: z.enum(RUN_STATUSES).optional(),
});

export const RobustnessCheck = z
  .looseObject({
    id: Uuid,
    backtestId: Uuid,
    status: z.enum(RUN_STATUSES),
    ...RUN_TIMES,
    spec: Json.meta({ description: 'The request, with every default filled in.' }),
    progress: z.object({
      pct: z.number().meta({ description: 'A fraction, 0 to 1.' }),
      runsDone: z.int(),
      runsTotal: z.int(),
    }),
    error: z.looseObject({ code: z.string(), path: z.string(), message: z.string() }).nullable(),
    result: Json.nullable().meta({
      description:
        'Of a completed check: verdict, findings (the worst first), the bounds of a robust result, baseline, ' +
        'evidence, luck, ' +
        'and a member for each analysis.',
    }),
    links: z.record(z.string(), z.string()),
  })
  .meta({ id: 'RobustnessCheck' });
export type RobustnessCheck = z.input<typeof RobustnessCheck>;

export const CheckRow = RobustnessCheck.pick({
  id: true,
  backtestId: true,
  status: true,
  createdAt: true,
  startedAt: true,
  finishedAt: true,
  spec: true,
  links: true,
})
  .extend({
    verdict: z
      .string()
      .nullable()
      .meta({
        description:
          '`robust`, `inconclusive` (not enough to tell), `fragile`, `luck`, `unprofitable` or `broken`, of a ' +
          'completed check.',
      }),
  })
  .meta({ id: 'RobustnessCheckRow' });

/** What `view=agent` answers. */
export const RobustnessAgentView = z
  .looseObject({
    ...RobustnessCheck.pick({ id: true, backtestId: true, status: true, progress: true, error: true, links: true })
      .shape,
    verdict: z.unknown().optional().meta({ description: 'Read it first.' }),
    findings: z.array(Json).optional().meta({ description: 'The worst first.' }),
    omitted: z.array(z.string()).optional().meta({ description: 'Analyses that did not fit.' }),
  })
  .meta({
    id: 'RobustnessAgentView',
    description: `Numbers have ${SIGNIFICANT_DIGITS} significant digits. Analyses that do not fit are absent.`,
  });
