// The artifact notice: says in plain words how a recomputed result differs from the stored one.
import { isMembers } from '../language/grammar/payloadObjects.ts';
import type { ArtifactNotice, StoredResult } from '../task.ts';
import { ENGINE_VERSION } from '../version.ts';
import type { CompletedRun } from './simulatedRun.ts';

/** A stored result, with its detail unpacked. */
export interface ReadResult extends Pick<StoredResult, 'engineVersion' | 'resultHash'> {
  readonly summary: Json;
  readonly trades: readonly object[];
}
type Json = Readonly<Record<string, unknown>>;

/** The message names at most this many members and counts the rest; the notice lists all of them. */
const MAX_NAMES = 8;
/** A relative difference below this is rounding: sums of a million doubles stay well within it. */
const ROUNDING = 1e-9;

interface Findings {
  readonly differing: string[];
  readonly rounded: string[];
  readonly added: string[];
}

/**
 * Compares what a file was made from with the stored result, member by member and trade by trade.
 * @returns null when both are equal to the last digit, and only the hash differs because another engine made it
 */
export function artifactNotice(stored: ReadResult, run: CompletedRun): ArtifactNotice | null {
  const found: Findings = { differing: [], rounded: [], added: [] };
  compareMembers(stored.summary, { ...run.summary }, '', found);
  const trades = compareTrades(stored.trades, run.trades, found.added);
  const isEqual = trades.differing + trades.rounded === 0 && Object.values(found).every((names) => names.length === 0);
  if (isEqual && stored.engineVersion !== ENGINE_VERSION) return null;
  const differences = {
    tradesDiffering: trades.differing,
    tradesRounded: trades.rounded,
    summaryDiffering: found.differing,
    summaryRounded: found.rounded,
    added: found.added,
  };
  return {
    code: 'RESULT_DIFFERS',
    message: messageOf(stored, run.trades.length, differences),
    stored: { engineVersion: stored.engineVersion, resultHash: stored.resultHash },
    recomputed: { engineVersion: ENGINE_VERSION, resultHash: run.resultHash },
    ...differences,
  };
}

type Verdict = 'same' | 'rounded' | 'different';
const WORST: readonly Verdict[] = ['same', 'rounded', 'different'];
const worse = (a: Verdict, b: Verdict): Verdict => WORST[Math.max(WORST.indexOf(a), WORST.indexOf(b))];

/** Values as JSON writes them, because stored ones went through JSON: NaN is null, -0 is 0, and undefined is absent. */
function compareValues(stored: unknown, recomputed: unknown): Verdict {
  if (typeof stored === 'number' && typeof recomputed === 'number') {
    if (stored === recomputed) return 'same';
    const distance = Math.abs(stored - recomputed);
    return distance <= ROUNDING * Math.max(Math.abs(stored), Math.abs(recomputed)) ? 'rounded' : 'different';
  }
  if (isContainer(stored) && isContainer(recomputed)) {
    const names = Object.keys(stored);
    if (Array.isArray(stored) && names.length !== Object.keys(recomputed).length) return 'different';
    return names.reduce<Verdict>((worst, name) => worse(worst, compareValues(stored[name], recomputed[name])), 'same');
  }
  return JSON.stringify(stored) === JSON.stringify(recomputed) ? 'same' : 'different';
}

const isContainer = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Compares members by name, one level into blocks. A stored member that is now absent differs too. */
function compareMembers(stored: Json, recomputed: Json, prefix: string, found: Findings): void {
  for (const name of Object.keys(stored)) {
    const [before, after] = [stored[name], recomputed[name]];
    if (prefix === '' && isMembers(before) && isMembers(after)) {
      compareMembers(before, after, `${name}.`, found);
      continue;
    }
    const verdict = compareValues(before, after);
    if (verdict === 'different') found.differing.push(prefix + name);
    if (verdict === 'rounded') found.rounded.push(prefix + name);
  }
  for (const name of Object.keys(recomputed)) {
    if (!(name in stored) && recomputed[name] !== undefined) found.added.push(prefix + name);
  }
}

function compareTrades(
  stored: readonly object[],
  recomputed: readonly object[],
  added: string[],
): { readonly differing: number; readonly rounded: number } {
  let differing = Math.abs(stored.length - recomputed.length);
  let rounded = 0;
  for (let index = 0; index < Math.min(stored.length, recomputed.length); index++) {
    const verdict = compareValues(stored[index], recomputed[index]);
    if (verdict === 'different') differing++;
    if (verdict === 'rounded') rounded++;
  }
  if (stored.length > 0 && recomputed.length > 0) {
    for (const name of Object.keys(recomputed[0])) if (!(name in stored[0])) added.push(`trades.${name}`);
  }
  return { differing, rounded };
}

type Differences = Omit<ArtifactNotice, 'code' | 'message' | 'stored' | 'recomputed'>;

function messageOf({ engineVersion }: ReadResult, tradeCount: number, differences: Differences): string {
  const { tradesDiffering, tradesRounded, summaryDiffering, summaryRounded, added } = differences;
  const cause =
    engineVersion === ENGINE_VERSION
      ? 'This file was recomputed, and its result is not byte for byte equal to the stored one.'
      : `This file was recomputed with engine ${ENGINE_VERSION}; the backtest ran with engine ${engineVersion}.`;
  const trades =
    tradesDiffering > 0
      ? `${tradesDiffering} of ${tradeCount} trades differ; the trades artifact has the stored ones.`
      : tradesRounded > 0
        ? `All ${tradeCount} trades are the same up to rounding.`
        : `All ${tradeCount} trades are the same.`;
  const summary =
    summaryDiffering.length > 0
      ? `Different in the summary: ${listed(summaryDiffering)}.`
      : `Every stored member of the summary is the same${summaryRounded.length > 0 ? ' up to rounding' : ''}.`;
  const additions = added.length === 0 ? '' : ` Added since: ${listed(added)}.`;
  return `${cause} ${trades} ${summary}${additions}`;
}

const listed = (names: readonly string[]): string =>
  names.length <= MAX_NAMES
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`;
