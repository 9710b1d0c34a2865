// Strategies: request and response shapes of strategies, versions and validation.
import { z } from 'zod';
import type { CheckOutcome } from '../../engine/index.ts';
import { listQuery } from '../pagination.ts';
import { DateTime, Issue, issueBodies, Json, Uuid, name, text } from './common.ts';

const settings = Json.meta({
  description: '`maxConcurrentPositions` 1 to 100 and `warmupPeriod` >= 0, both optional; faults inside are issues.',
});
const strategyAst = Json.optional().meta({ description: '`svc.strategy` version 1.' });
const signalGraph = Json.optional().meta({ description: '`svc.signal-graph` version 2.' });

const hasPayload = (body: { strategyAst?: unknown; signalGraph?: unknown }): boolean =>
  body.strategyAst !== undefined || body.signalGraph !== undefined;
const PAYLOAD_REQUIRED = {
  message: 'Send strategyAst or signalGraph (or both).',
  params: { code: 'PAYLOAD_REQUIRED' },
  // Also when other members are at fault: every fault is told at once.
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

export const ValidateBody = z
  .strictObject({ settings, strategyAst, signalGraph })
  .refine(hasPayload, PAYLOAD_REQUIRED)
  .meta({ id: 'ValidateStrategy' });

export const CreateBody = z
  .strictObject({
    name: name(200),
    description: text(0, 2000).optional(),
    settings,
    strategyAst,
    signalGraph,
  })
  .refine(hasPayload, PAYLOAD_REQUIRED)
  .meta({ id: 'CreateStrategy' });

export const FinalizeBody = z
  .strictObject({
    settings,
    strategyAst,
    signalGraph,
    version: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .optional()
      .meta({ description: 'The draft to promote; absent: a new ready version.' }),
    forkedFromVersionId: Uuid.optional(),
    ignoreWarnings: z.boolean().optional().meta({ description: 'Acknowledges an entry that can never be true.' }),
  })
  .refine(hasPayload, PAYLOAD_REQUIRED)
  .meta({ id: 'FinalizeStrategyVersion' });

/** Both members optional, default the template's; so the body may be absent as well. */
export const CopyBody = z
  .strictObject({ name: name(200).optional(), description: text(0, 2000).optional() })
  .nullish()
  .meta({ id: 'CopyTemplate' });

const VersionSummary = z.object({
  id: Uuid,
  strategyId: Uuid,
  version: z.int(),
  status: z.enum(['draft', 'ready']),
  forkedFromVersionId: Uuid.nullable(),
  strategyHash: z.string(),
  createdAt: DateTime,
  readyAt: DateTime.nullable(),
});
const Version = VersionSummary.extend({ settings: Json, strategyAst: Json, signalGraph: Json.nullable() });

const Head = z.object({
  id: Uuid,
  name: z.string(),
  description: z.string(),
  templateKey: z.string().nullable(),
  createdAt: DateTime,
  updatedAt: DateTime,
});
export const StrategyRow = Head.extend({ versions: z.array(VersionSummary) }).meta({ id: 'StrategyRow' });
export const Strategy = Head.extend({ versions: z.array(Version) }).meta({ id: 'Strategy' });
export const CreatedStrategy = Strategy.extend({ warnings: z.array(Issue) }).meta({ id: 'CreatedStrategy' });
export const FinalizedVersion = Version.extend({
  warnings: z.array(Issue),
  duplicateOf: Uuid.nullable().meta({ description: 'The oldest other ready version with the same strategyHash.' }),
}).meta({ id: 'FinalizedVersion' });

export const StrategyListQuery = listQuery(['createdAt', 'updatedAt', 'name'], '-createdAt', {
  status: z.enum(['draft', 'ready']).optional().meta({ description: 'Has a version of this status.' }),
  search: text(1, 200).optional().meta({ description: 'Part of the name or description.' }),
});

export const ValidationReport = z
  .object({
    valid: z.boolean(),
    summary: z.object({ errors: z.int(), warnings: z.int() }),
    issues: z.array(Issue),
    analysis: Json.meta({
      description: 'inferredLookback recommendedWarmup nodeCount conditionCount indicators timeframes estimatedCost.',
    }),
    compiled: Json.nullable().meta({ description: 'The canonical payload; null when invalid.' }),
    requiresConfirmation: z.boolean(),
  })
  .meta({ id: 'ValidationReport' });

export const reportBody = ({ valid, summary, issues, analysis, compiled, requiresConfirmation }: CheckOutcome) => ({
  valid,
  summary,
  requiresConfirmation,
  analysis: { ...analysis },
  issues: issueBodies(issues),
  compiled: compiled && { strategyAst: compiled.strategyAst, canonical: compiled.canonical },
});
