// Batch answers: one row per item, or a short form with counts, the first ids, and each kind of refusal once.
import type { z } from 'zod';
import { linkTo, type PublicAddress } from '../http/links.ts';
import { PROBLEMS } from '../http/problemTable.ts';
import type { ProblemError } from '../http/problems.ts';
import { issueBodies } from '../http/routeSchemas.ts';
import { BACKTESTS } from './backtestBodies.ts';
import type { BatchAnswer, ShortBatchAnswer } from './backtestSchemas.ts';

/** What became of an item, by its place in the batch. */
export type ItemOutcome = Queued | Refused;
interface Queued {
  readonly index: number;
  readonly id: string;
}
interface Refused {
  readonly index: number;
  readonly error: ProblemError;
}

const isRefused = (outcome: ItemOutcome): outcome is Refused => 'error' in outcome;
const isQueued = (outcome: ItemOutcome): outcome is Queued => 'id' in outcome;

/**
 * Issues of all items that an answer lists; beyond them each item has its first. A thousand items with a hundred each
 * would be an answer of 25 MB, which takes a second to write.
 */
const MAX_BATCH_ISSUES = 2_000;

/** A row for each item. */
export function rowsAnswer(outcomes: readonly ItemOutcome[]): z.input<typeof BatchAnswer> {
  let issuesLeft = MAX_BATCH_ISSUES;
  const data = outcomes.map((outcome) => {
    if (!isRefused(outcome)) return { ...outcome, status: 'queued' as const };
    const error = errorBody(outcome.error, Math.max(1, issuesLeft));
    issuesLeft -= error.issues?.length ?? 0;
    return { index: outcome.index, error };
  });
  const refused = outcomes.filter(isRefused).length;
  return { data, accepted: outcomes.length - refused, refused };
}

/** Ids that the short answer has; the list of the batch has them all. */
const MAX_IDS = 20;
/** Kinds of refusals that it tells apart, and issues of each. */
const MAX_KINDS = 10;
const MAX_ISSUES = 5;

/** Counts, the first ids, where all of them are, and each kind of refusal once. */
export function shortAnswer(
  outcomes: readonly ItemOutcome[],
  batchId: string,
  address: PublicAddress,
): z.input<typeof ShortBatchAnswer> {
  const refused = outcomes.filter(isRefused);
  const queued = outcomes.filter(isQueued);
  const kinds = kindsOf(refused);
  const shown = kinds.slice(0, MAX_KINDS).map((items) => ({
    count: items.length,
    indices: rangesOf(items.map(({ index }) => index)),
    error: errorBody(items[0].error, MAX_ISSUES),
  }));
  const left = kinds.slice(MAX_KINDS).reduce((sum, items) => sum + items.length, 0);
  return {
    ...(queued.length > 0 && { batchId }),
    accepted: queued.length,
    refused: refused.length,
    first: queued.slice(0, MAX_IDS),
    refusals: shown,
    ...(left > 0 && { otherRefusals: left }),
    links: queued.length > 0 ? { backtests: linkTo(address, `${BACKTESTS}?batchId=${batchId}`) } : {},
  };
}

/** Refusals with equal texts together, most frequent first; if they are too many, those with equal codes and places. */
function kindsOf(refused: readonly Refused[]): (readonly Refused[])[] {
  const exact = Object.values(Object.groupBy(refused, ({ index, error }) => kindOf(index, error, true)));
  const kinds =
    exact.length <= MAX_KINDS
      ? exact
      : Object.values(Object.groupBy(refused, ({ index, error }) => kindOf(index, error, false)));
  return kinds.flatMap((items) => (items === undefined ? [] : [items])).sort((a, b) => b.length - a.length);
}

/** What equal refusals have in common: the places of their issues within the item, and the texts if `hasTexts`. */
function kindOf(index: number, { code, message, issues = [] }: ProblemError, hasTexts: boolean): string {
  const root = `/items/${index}/`;
  const placed = issues.map((issue) => [
    issue.code,
    issue.path.startsWith(root) ? issue.path.slice(root.length) : issue.path,
    hasTexts ? issue.message : '',
  ]);
  return JSON.stringify([code, hasTexts ? message : '', placed]);
}

/** A list of ranges longer than this is cut off. */
const MAX_RANGES = 40;

/** `0-3, 7, 9-10`. @param indices ascending */
function rangesOf(indices: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const index of indices) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === index - 1) range[1] = index;
    else ranges.push([index, index]);
  }
  const texts = ranges.slice(0, MAX_RANGES).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return texts.join(', ') + (ranges.length > MAX_RANGES ? ', …' : '');
}

function errorBody({ status, code, message, issues, extras }: ProblemError, most: number) {
  const { retryable } = PROBLEMS[code];
  const shown = issues && issueBodies(issues.slice(0, most));
  return { status, code, message, retryable, ...(shown && { issues: shown }), ...extras };
}
