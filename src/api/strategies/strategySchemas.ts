// Strategies: request and response shapes of strategies, versions and validation.
import { z } from 'zod';
import { isMembers, TIMEFRAMES, type CheckOutcome } from '../../engine/index.ts';
import { LABEL_MEMBERS, labelFilters, STRATEGY_LABELS } from '../http/labelShapes.ts';
import { listQuery } from '../http/pagination.ts';
import { EffectiveSettings } from './effectiveSettings.ts';
import { instant, instantOrNull, Issue, issueBodies, Json, Uuid, name, text } from '../http/routeSchemas.ts';
import { COPY_EXAMPLES, CREATE_EXAMPLES, FINALIZE_EXAMPLES, VALIDATE_EXAMPLES } from './strategyExamples.ts';

const settings = Json.meta({
  description: '`maxConcurrentPositions` 1 to 100 and `warmupPeriod` >= 0, both optional; faults inside are issues.',
});
/** Null is what GET answers for a payload that was not sent, so it is accepted back. */
const strategyAst = Json.nullish().meta({ description: '`svc.strategy` version 1; null counts as absent.' });
const signalGraph = Json.nullish().meta({ description: '`svc.signal-graph` version 2; null counts as absent.' });

const ignoreWarnings = z
  .boolean()
  .optional()
  .meta({
    description:
      'True accepts an entry that can never be true (warning CONTRADICTION), which is refused otherwise. Other ' +
      'warnings never block, and errors always do.',
  });

const hasPayload = (body: { strategyAst?: unknown; signalGraph?: unknown }): boolean =>
  (body.strategyAst ?? body.signalGraph ?? null) !== null;
/** The checks below run even when other members are wrong, so that every fault is reported at once. */
const whenObject = ({ value }: { value: unknown }) => isMembers(value);
/** Zod changes the object it is given, so each schema gets its own. */
const payloadRequired = (message: string) => ({ message, params: { code: 'PAYLOAD_REQUIRED' }, when: whenObject });
const SEND_PAYLOAD = 'Send strategyAst or signalGraph (or both).';
const SEND_PAYLOAD_OR_VERSION =
  'Send strategyAst or signalGraph (or both), or send version alone to promote the stored draft.';

export const ValidateBody = z
  .strictObject({
    name: name(200).optional().meta({ description: 'Not used: the body of create may be sent as it is.' }),
    description: text(0, 2000).nullish().meta({ description: 'Not used, as the name.' }),
    tags: STRATEGY_LABELS.tags.meta({ description: 'Not used.' }),
    note: STRATEGY_LABELS.note.meta({ description: 'Not used.' }),
    settings,
    strategyAst,
    signalGraph,
    ignoreWarnings,
  })
  .refine(hasPayload, payloadRequired(SEND_PAYLOAD))
  .meta({ id: 'ValidateStrategy', examples: VALIDATE_EXAMPLES });

export const CreateBody = z
  .strictObject({
    name: name(200),
    description: text(0, 2000).nullish(),
    ...STRATEGY_LABELS,
    settings,
    strategyAst,
    signalGraph,
  })
  .refine(hasPayload, payloadRequired(SEND_PAYLOAD))
  .meta({ id: 'CreateStrategy', examples: CREATE_EXAMPLES });

export const FinalizeBody = z
  .strictObject({
    settings: settings.optional().meta({
      description: 'As in create. Required with a payload; without one, absent means the settings of the draft.',
    }),
    strategyAst,
    signalGraph,
    version: z.int().min(1).max(2_147_483_647).optional().meta({
      description:
        'The draft to promote. Without a payload, the draft is promoted as it is stored. Absent: a new ready version.',
    }),
    forkedFromVersionId: Uuid.nullish(),
    ignoreWarnings,
  })
  .refine((body) => hasPayload(body) || body.version !== undefined, payloadRequired(SEND_PAYLOAD_OR_VERSION))
  .refine((body) => body.settings !== undefined || !hasPayload(body), {
    message: 'Missing member "settings".',
    path: ['settings'],
    params: { code: 'MISSING_FIELD' },
    when: whenObject,
  })
  .meta({ id: 'FinalizeStrategyVersion', examples: FINALIZE_EXAMPLES });
export type FinalizeBody = z.infer<typeof FinalizeBody>;

/** Both members are optional and default to the template's, so the body may be absent as well. */
export const CopyBody = z
  .strictObject({ name: name(200).optional(), description: text(0, 2000).nullish() })
  .nullish()
  .meta({ id: 'CopyTemplate', examples: COPY_EXAMPLES });

const VersionSummary = z.object({
  id: Uuid,
  strategyId: Uuid,
  version: z.int(),
  status: z.enum(['draft', 'ready']),
  forkedFromVersionId: Uuid.nullable(),
  strategyHash: z.string(),
  createdAt: instant('When the version was made.'),
  readyAt: instantOrNull('When it was finalized; null for a draft.'),
});
const Version = VersionSummary.extend({
  settings: Json,
  strategyAst: Json,
  signalGraph: Json.nullable(),
  effectiveSettings: EffectiveSettings,
});

const Head = z.object({
  id: Uuid,
  name: z.string(),
  description: z.string(),
  tags: LABEL_MEMBERS.tags.meta({ description: 'Absent where it has none, like the note.' }),
  note: LABEL_MEMBERS.note,
  templateKey: z.string().nullable(),
  createdAt: instant('When the strategy was made.'),
  updatedAt: instant('When it, one of its labels or a version of it last changed.'),
  archivedAt: instantOrNull('When it was archived; null while it is in use.'),
});
export const Strategy = Head.extend({
  versionCount: z.int(),
  versions: z.array(VersionSummary).meta({
    description:
      'The newest, in the order of their numbers and without payloads: at most 100, and 10 in a list. ' +
      '`/strategies/{id}/versions` has all, `/strategies/{id}/versions/{version}` the payloads.',
  }),
}).meta({ id: 'Strategy' });
export const StrategyVersion = Version.meta({ id: 'StrategyVersion' });
export const CreatedStrategy = Strategy.extend({ versions: z.array(Version), warnings: z.array(Issue) }).meta({
  id: 'CreatedStrategy',
});
export const VersionListQuery = listQuery(['version'], '-version', { status: z.enum(['draft', 'ready']).optional() });
export const VersionRow = VersionSummary.meta({ id: 'StrategyVersionRow' });
export const DeletedVersion = z.object({ deleted: z.literal(true) }).meta({ id: 'DeletedVersion' });
export const FinalizedVersion = Version.extend({
  warnings: z.array(Issue),
  duplicateOf: Uuid.nullable().meta({ description: 'The oldest other ready version with the same strategyHash.' }),
}).meta({ id: 'FinalizedVersion' });

export const StrategyListQuery = listQuery(['createdAt', 'updatedAt', 'name'], '-createdAt', {
  status: z.enum(['draft', 'ready']).optional().meta({ description: 'Has a version of this status.' }),
  ...labelFilters('the description'),
});

export const DeleteStrategyQuery = z.strictObject({
  permanently: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: '`true` deletes a strategy that nothing has run, with its versions. Default: archive it.' }),
});
export const DeletedStrategy = z.object({ id: Uuid, deleted: z.literal(true) }).meta({ id: 'DeletedStrategy' });
export const ArchivedStrategy = z
  .object({ id: Uuid, archivedAt: instant('When it was archived.') })
  .meta({ id: 'ArchivedStrategy' });

export const ValidateQuery = z.strictObject({
  compiled: z
    .enum(['true', 'false'])
    .default('true')
    .meta({ description: '`false` leaves out the payload in canonical form, most of the answer.' }),
});
export const ValidationReport = z
  .object({
    valid: z.boolean().meta({ description: 'True exactly when finalize would accept the same body.' }),
    summary: z.object({ errors: z.int(), warnings: z.int() }),
    issues: z.array(Issue),
    analysis: Json.meta({
      description: 'inferredLookback recommendedWarmup nodeCount conditionCount indicators timeframes estimatedCost.',
    }),
    compiled: Json.nullish().meta({
      description: 'The canonical payload; null when invalid. Absent with compiled=false.',
    }),
    requiresConfirmation: z.boolean().meta({
      description: 'An entry can never be true: `valid` is false until it is repaired or `ignoreWarnings` is true.',
    }),
  })
  .meta({ id: 'ValidationReport' });

export const Explanation = z
  .object({
    symbol: z.string(),
    timeframe: z.enum(TIMEFRAMES),
    inferredLookback: z.int().meta({ description: 'Base bars before the first value of every expression.' }),
    steps: z.int().meta({ description: 'Number of columns that are computed.' }),
    plan: z.string().meta({ description: 'The plan, printed the way a database prints one.' }),
  })
  .meta({ id: 'StrategyExplanation' });

/** `valid` is what finalize would decide: an entry that can never be true must be acknowledged. */
export const reportBody = (
  { valid, summary, issues, analysis, compiled, requiresConfirmation }: CheckOutcome,
  ignoreWarnings = false,
) => ({
  valid: valid && (ignoreWarnings || !requiresConfirmation),
  summary,
  requiresConfirmation,
  analysis: { ...analysis },
  issues: issueBodies(issues),
  compiled: compiled && { strategyAst: compiled.strategyAst, canonical: compiled.canonical },
});
