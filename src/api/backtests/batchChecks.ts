// The checks of a batch: each item is accepted or refused on its own.
import { setImmediate as immediate } from 'node:timers/promises';
import type { NewBacktest } from '../../db/backtests.ts';
import type { StrategyVersion } from '../../db/strategyVersions.ts';
import { issuesOfZod } from '../http/envelopeIssues.ts';
import { ProblemError, problem } from '../http/problems.ts';
import { Uuid } from '../http/routeSchemas.ts';
import { requireReady, type BacktestCheck } from './backtestChecks.ts';
import { CreateBacktestBody } from './backtestSchemas.ts';
import { configFaults } from './configFaults.ts';

/** What is stored of an item, or why it is refused. */
export type CheckedItem = NewBacktest | ProblemError;

/** How long a batch may keep the event loop before it lets other requests pass. */
const SLICE_MS = 5;

/** What the ids of the items lead to, by id. */
interface NamedVersions {
  readonly versions: ReadonlyMap<string, StrategyVersion>;
  /** Refusals of ids that no version has, but something else. */
  readonly explained: ReadonlyMap<string, ProblemError>;
}

/** @param onSlice called between slices; throws to stop */
export async function checkItems(
  items: readonly unknown[],
  { versions, explained }: NamedVersions,
  check: BacktestCheck,
  onSlice: () => void = () => {},
): Promise<CheckedItem[]> {
  const checkOne = async (item: unknown, index: number): Promise<CheckedItem> => {
    const root = `/items/${index}`;
    const parsed = CreateBacktestBody.safeParse(item);
    if (!parsed.success) {
      const version = versions.get(versionIdOf(item) ?? '');
      const faults = issuesOfZod(parsed.error.issues, root, item);
      return problem('VALIDATION_FAILED', { issues: await configFaults(item, faults, check, version, root) });
    }
    const { strategyVersionId, config, name, tags, note } = parsed.data;
    const id = strategyVersionId.toLowerCase();
    const refusal = explained.get(id);
    if (refusal !== undefined) return refusal;
    try {
      const version = requireReady(versions.get(id), strategyVersionId);
      return { ...(await check.accept(version, config, { root })), labels: { name, tags, note } };
    } catch (error) {
      if (error instanceof ProblemError) return error;
      throw error;
    }
  };
  const checked: CheckedItem[] = [];
  let sliceBegan = performance.now();
  for (const [index, item] of items.entries()) {
    checked.push(await checkOne(item, index));
    if (performance.now() - sliceBegan < SLICE_MS) continue;
    // Requests that came in the meantime go first.
    await immediate();
    onSlice();
    sliceBegan = performance.now();
  }
  return checked;
}

/** The version that an item names, well-formed or not. */
export function versionIdOf(item: unknown): string | undefined {
  const id = typeof item === 'object' && item !== null ? Reflect.get(item, 'strategyVersionId') : undefined;
  const parsed = Uuid.safeParse(id);
  return parsed.success ? parsed.data.toLowerCase() : undefined;
}
