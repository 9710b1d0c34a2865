// Labels: the members of requests and answers that name, tag and annotate strategies and runs, and what a change does.
import { z } from 'zod';
import { labelBytes, labelsOf, lockLabels, storeLabels } from '../../db/labels.ts';
import type { LabelChange, Labels, NewLabels } from '../../db/labels.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Caller } from './auth/authentication.ts';
import { instant, instantOrNull, isoOrNull, name, text, Uuid } from './routeSchemas.ts';
import { requireStorage } from './storageQuota.ts';

const MAX_TAGS = 20;
const Tag = name(40).refine((tag) => !tag.includes(','), 'must have no comma');
const Tags = z
  .array(Tag)
  .max(MAX_TAGS)
  .refine((tags) => new Set(tags).size === tags.length, 'must not have the same tag twice')
  .meta({ description: `Up to ${MAX_TAGS} words to find it by, without commas.` });
const Note = text(0, 4_000).meta({ description: 'What is worth remembering.' });

/** What a strategy may be created with, besides its name. */
export const STRATEGY_LABELS = { tags: Tags.nullish(), note: Note.nullish() };
/** What a run may be created with. */
export const RUN_LABELS = {
  name: name(200).nullish().meta({ description: 'What to call it.' }),
  ...STRATEGY_LABELS,
};

const archived = z
  .boolean()
  .optional()
  .meta({ description: 'True takes it out of the lists, false puts it back. It can be read either way.' });
const hasMember = (body: object): boolean => Object.values(body).some((member) => member !== undefined);
const noMember = (names: string) => ({ message: `Send at least one of ${names}.`, params: { code: 'MISSING_FIELD' } });

const EXAMPLE = {
  name: 'Golden cross, wider stop',
  tags: ['spx', 'candidate'],
  note: 'Half the trades of 2008 are gaps.',
} as const;

export const RunLabelsBody = z
  .strictObject({ ...RUN_LABELS, archived })
  .refine(hasMember, noMember('name, tags, note and archived'))
  .meta({
    id: 'LabelRun',
    description: 'Null removes a label; an absent member keeps it.',
    examples: [EXAMPLE, { note: null, archived: true }],
  });
export const StrategyLabelsBody = z
  .strictObject({ name: name(200).optional(), description: text(0, 2_000).optional(), ...STRATEGY_LABELS, archived })
  .refine(hasMember, noMember('name, description, tags, note and archived'))
  .meta({
    id: 'LabelStrategy',
    description: 'Null removes a label; an absent member keeps it.',
    examples: [{ ...EXAMPLE, description: 'Buys when the 50-day average crosses above the 200-day average.' }],
  });

/** The labels in an answer; those that are not set are absent. */
export const LABEL_MEMBERS = {
  name: z.string().optional().meta({ description: 'Absent where it has none, like the other labels.' }),
  tags: z.array(z.string()).optional(),
  note: z.string().optional(),
  archivedAt: instant('When it was archived.').optional(),
};

export const labelMembers = ({ name: given, tags, note, archivedAt }: Labels) => ({
  ...(given !== null && { name: given }),
  ...noteMembers({ tags, note }),
  ...(archivedAt !== null && { archivedAt: isoOrNull(archivedAt)! }),
});

export const noteMembers = ({ tags, note }: Pick<Labels, 'tags' | 'note'>) => ({
  ...(tags.length > 0 && { tags: [...tags] }),
  ...(note !== null && { note }),
});

/** What answers a change of the labels of a run. */
export const LabeledRun = z
  .object({
    id: Uuid,
    name: z.string().nullable(),
    tags: z.array(z.string()),
    note: z.string().nullable(),
    archivedAt: instantOrNull('When it was archived; null while it is in the lists.'),
  })
  .meta({ id: 'LabeledRun' });

/** Filters of a list by labels. @param searched where else `search` looks */
export const labelFilters = (searched: string) => ({
  tag: z
    .preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(Tag).max(MAX_TAGS))
    .optional()
    .meta({ type: 'array', items: { type: 'string' }, description: 'Has this tag; given several times: all of them.' }),
  search: text(1, 200)
    .optional()
    .meta({ description: `Part of the name, ${searched}, a tag or the note, whatever its case.` }),
  archived: z
    .enum(['true', 'false', 'all'])
    .optional()
    .meta({ description: '`true` lists what is archived, `all` lists everything. Default: what is not archived.' }),
});

/**
 * Checks the quota of labels that are about to be stored.
 * @throws TIER_LIMIT_REACHED
 */
export async function requireLabelRoom(
  tx: Transaction,
  caller: Caller,
  items: readonly (NewLabels | undefined)[],
): Promise<void> {
  const bytes = items.reduce((sum, item) => sum + (item === undefined ? 0 : labelBytes(labelsOf(item))), 0);
  if (bytes > 0) await requireStorage(tx, caller, bytes);
}

/** The labels that a run is created with, as its answer has them. */
export const newLabelMembers = (given: NewLabels = {}) => labelMembers(labelsOf(given));

/**
 * Changes labels of what the transaction keeps from being deleted.
 * @throws TIER_LIMIT_REACHED
 */
export async function changeLabels(tx: Transaction, caller: Caller, id: string, change: LabelChange): Promise<Labels> {
  const before = await lockLabels(tx, caller.workspaceId, id);
  const after = changed(before, change);
  const growth = labelBytes(after) - labelBytes(before);
  if (growth > 0) await requireStorage(tx, caller, growth);
  await storeLabels(tx, id, after);
  return after;
}

function changed(before: Labels, { name: given, tags, note, archived: isArchived }: LabelChange): Labels {
  const archivedAt = isArchived ? (before.archivedAt ?? new Date()) : null;
  return {
    name: given === undefined ? before.name : given,
    tags: tags === undefined ? before.tags : (tags ?? []),
    note: note === undefined ? before.note : note || null,
    archivedAt: isArchived === undefined ? before.archivedAt : archivedAt,
  };
}
