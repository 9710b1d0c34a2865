// Strategy names: the names to show for backtests and sweeps, whose rows have only the ids of strategies and versions.
import { signal } from '@preact/signals';
import { listOf } from './api.ts';
import { may } from './session.ts';

interface NamedStrategy {
  readonly id: string;
  readonly name: string;
  readonly versions: readonly { readonly id: string; readonly version: number }[];
}

/** Strategies in use and archived ones, by id. */
export const strategies = signal<ReadonlyMap<string, NamedStrategy>>(new Map());
/** The newest versions by their ids. */
const versions = signal<ReadonlyMap<string, number>>(new Map());

const MOST = 1_000;
let reading: Promise<void> | undefined;

/** Reads the names once, and again when `isStale`. */
export function readStrategyNames(isStale = false): void {
  if (!may('strategies_read') || (reading !== undefined && !isStale)) return;
  reading = (async () => {
    const lists = [
      listOf<NamedStrategy>('/strategies', {}, MOST),
      listOf<NamedStrategy>('/strategies', { archived: 'true' }, MOST),
    ];
    const all = (await Promise.all(lists)).flat();
    strategies.value = new Map(all.map((strategy) => [strategy.id, strategy]));
    versions.value = new Map(all.flatMap((each) => each.versions.map(({ id, version }) => [id, version] as const)));
  })();
}

/** The name of a strategy; until it is known, the end of its id. */
export const strategyName = (id: string): string => strategies.value.get(id)?.name ?? `Strategy …${id.slice(-6)}`;

/** ` v3`, or nothing where the version is not known. */
export const versionText = (versionId: string): string => {
  const version = versions.value.get(versionId);
  return version === undefined ? '' : `v${version}`;
};
