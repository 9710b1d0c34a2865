// Inputs: turns what a claim names (a version, snapshots) into what the engine takes, and caches what many claims
// share.
import { LruMap } from '../engine/index.ts';
import type { BacktestConfig, BacktestTask, PoolRun, RunError, Snapshot } from '../engine/index.ts';
import type { Queryable } from '../db/connect.ts';
import { MarketDataError } from '../market/import/importError.ts';
import { MAX_ATTEMPTS } from '../db/crashSuspects.ts';
import { readRunnableVersions } from '../db/claims.ts';
import type { RunnableVersion } from '../db/claims.ts';
import { strategyOf } from '../db/strategyVersions.ts';
import type { Log } from '../log.ts';

/** The part of the market's catalog that runs need. */
export interface SnapshotSource {
  open(sha256s: readonly string[]): Promise<readonly Snapshot[]>;
  /** Removes snapshots that nothing refers to; absent where the market data is not the worker's to remove. */
  prune?(): Promise<readonly object[]>;
}

/** What a claim or a rerun says about a run. */
interface RunRequest {
  readonly id: string;
  readonly strategyVersionId: string;
  readonly config: object;
  readonly snapshots: readonly string[];
}
export interface Inputs {
  readonly snapshots: readonly Snapshot[];
  /** The runs in the order of the requests; an error where the inputs no longer exist. */
  readonly runs: readonly (PoolRun | RunError)[];
  /** Snapshots that could not be opened here. */
  readonly missing: readonly string[];
}

/** Tells the other workers which snapshots are missing here. @returns those that are missing everywhere */
export type NoteMissing = (names: readonly string[]) => Promise<ReadonlySet<string>>;

/** A version takes a few KB. Reusing the object lets a batch send each strategy once. */
const KEPT_VERSIONS = 2_000;

export class InputReader {
  readonly #sql: Queryable;
  readonly #source: SnapshotSource;
  readonly #log: Log;
  #hasOpened = false;
  readonly #versions = new LruMap<string, Promise<RunnableVersion | undefined>>(KEPT_VERSIONS);

  constructor(sql: Queryable, source: SnapshotSource, log: Log) {
    this.#sql = sql;
    this.#source = source;
    this.#log = log;
  }

  async read(requests: readonly RunRequest[]): Promise<Inputs> {
    const { opened, missing } = await this.openSnapshots(requests.flatMap((request) => request.snapshots));
    const indexes = new Map([...opened.keys()].map((name, index) => [name, index]));
    const versions = await this.#readVersions(requests.map((request) => request.strategyVersionId));
    const runs = requests.map((request) => {
      const version = versions.get(request.strategyVersionId);
      if (!version) return VERSION_MISSING;
      if (request.snapshots.some((name) => !indexes.has(name))) return SNAPSHOTS_MISSING;
      return { task: taskOf(request, version), snapshots: request.snapshots.map((name) => indexes.get(name)!) };
    });
    return { snapshots: [...opened.values()], runs, missing };
  }

  /** Snapshots by name, and the names of those that could not be opened here. */
  async openSnapshots(
    named: readonly string[],
  ): Promise<{ readonly opened: ReadonlyMap<string, Snapshot>; readonly missing: readonly string[] }> {
    const names = [...new Set(named)];
    const found = await Promise.all(names.map(async (name) => [name, await this.#open(name)] as const));
    const opened = new Map(found.flatMap(([name, snapshot]) => (snapshot === null ? [] : [[name, snapshot] as const])));
    if (opened.size > 0) this.#hasOpened = true;
    return { opened, missing: names.filter((name) => !opened.has(name)) };
  }

  /** A version; undefined: it no longer exists. */
  async readVersion(id: string): Promise<RunnableVersion | undefined> {
    return (await this.#readVersions([id])).get(id);
  }

  /**
   * Whether another worker may have the snapshots that are missing here. A worker that has never opened a snapshot may
   * have no files at all: it does not decide that they are lost, unless the work has been tried often enough.
   * @param missingEverywhere those that no worker could open
   */
  mayRunElsewhere(
    work: { readonly snapshots: readonly string[]; readonly attempt: number },
    missing: readonly string[],
    missingEverywhere: ReadonlySet<string>,
  ): boolean {
    const missingOfWork = work.snapshots.filter((name) => missing.includes(name));
    if (missingOfWork.length === 0) return false;
    const mayDecide = this.#hasOpened || work.attempt >= MAX_ATTEMPTS;
    const isLost = mayDecide && missingOfWork.some((name) => missingEverywhere.has(name));
    return !isLost;
  }

  async #open(name: string): Promise<Snapshot | null> {
    try {
      const [snapshot] = await this.#source.open([name]);
      return snapshot;
    } catch (error) {
      // A database that is away says nothing about the snapshot.
      if (!(error instanceof MarketDataError)) throw error;
      // The reason names a path of the server, which belongs in the log and not in an answer.
      this.#log.error({ err: error, snapshot: name }, 'a snapshot could not be opened');
      return null;
    }
  }

  /** One query for all versions that are not cached. */
  async #readVersions(ids: readonly string[]): Promise<Map<string, RunnableVersion | undefined>> {
    const wanted = [...new Set(ids)];
    let query: Promise<Map<string, RunnableVersion>> | undefined;
    const unknown: string[] = [];
    const found = wanted.map((id) =>
      this.#versions.get(id, () => {
        unknown.push(id);
        // The query is sent after this loop, with every id that is not kept.
        query ??= Promise.resolve().then(() => this.#query(unknown));
        return query.then((rows) => rows.get(id));
      }),
    );
    try {
      return new Map((await Promise.all(found)).map((version, index) => [wanted[index], version]));
    } catch (error) {
      for (const id of unknown) this.#versions.delete(id);
      throw error;
    }
  }

  async #query(ids: readonly string[]): Promise<Map<string, RunnableVersion>> {
    return new Map((await readRunnableVersions(this.#sql, ids)).map((version) => [version.id, version]));
  }
}

export const isPoolRun = (run: PoolRun | RunError): run is PoolRun => 'task' in run;

export const inputMissing = (message: string): RunError => ({ code: 'INPUT_MISSING', path: '', message });

/** What ends a run whose snapshots nobody can open. */
export const SNAPSHOTS_MISSING = inputMissing(
  'The market data that this run was accepted with is no longer stored. Queue it again.',
);
const VERSION_MISSING = inputMissing(
  'The strategy version of this backtest no longer exists. Queue the backtest again with a version that does.',
);

const taskOf = ({ id, config }: RunRequest, version: RunnableVersion): BacktestTask => ({
  id,
  ...strategyOf(version),
  config: config as BacktestConfig,
});
