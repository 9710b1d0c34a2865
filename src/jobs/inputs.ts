// Inputs: turns what a claim names (a version, snapshots) into what the engine takes, keeping what many claims share.
import { KeptMap } from '../engine/index.ts';
import type { BacktestConfig, BacktestTask, PoolRun, RunError, Snapshot, StrategyAst } from '../engine/index.ts';
import type { Queryable } from '../db/connect.ts';
import { readRunnableVersions } from '../db/claims.ts';
import type { RunnableVersion } from '../db/claims.ts';

/** The part of the market's catalogue that runs need. */
export interface SnapshotSource {
  open(sha256s: readonly string[]): Promise<readonly Snapshot[]>;
}

/** What a claim or a rerun tells of a run. */
export interface RunRequest {
  readonly id: string;
  readonly strategyVersionId: string;
  readonly config: object;
  readonly snapshots: readonly string[];
}
export interface Inputs {
  readonly snapshots: readonly Snapshot[];
  /** In the order of the requests; an error where the inputs are not there any more. */
  readonly runs: readonly (PoolRun | RunError)[];
}

/** A version is some KB; the same object again lets a batch send each strategy once. */
const KEPT_VERSIONS = 2_000;

export class InputReader {
  readonly #sql: Queryable;
  readonly #source: SnapshotSource;
  readonly #versions = new KeptMap<string, Promise<RunnableVersion | undefined>>(KEPT_VERSIONS);

  constructor(sql: Queryable, source: SnapshotSource) {
    this.#sql = sql;
    this.#source = source;
  }

  async read(requests: readonly RunRequest[]): Promise<Inputs> {
    const names = [...new Set(requests.flatMap((request) => request.snapshots))];
    const opened = await Promise.all(names.map((name) => this.#open(name)));
    const snapshots: Snapshot[] = [];
    const indexes = new Map<string, number>();
    opened.forEach((snapshot, index) => {
      if ('code' in snapshot) return;
      indexes.set(names[index], snapshots.length);
      snapshots.push(snapshot);
    });
    const versions = await this.#readVersions(requests.map((request) => request.strategyVersionId));
    const runs = requests.map((request) => {
      const version = versions.get(request.strategyVersionId);
      if (!version) return missing('The strategy version of this backtest does not exist any more.');
      const lost = request.snapshots.find((name) => !indexes.has(name));
      if (lost !== undefined) return opened[names.indexOf(lost)] as RunError;
      return { task: taskOf(request, version), snapshots: request.snapshots.map((name) => indexes.get(name)!) };
    });
    return { snapshots, runs };
  }

  async #open(name: string): Promise<Snapshot | RunError> {
    try {
      const [snapshot] = await this.#source.open([name]);
      return snapshot;
    } catch (error) {
      return missing((error as Error).message);
    }
  }

  /** One query for all that are not kept. */
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

const missing = (message: string): RunError => ({ code: 'INPUT_MISSING', path: '', message });

/** What is stored was checked when it was accepted. */
function taskOf(request: RunRequest, version: RunnableVersion): BacktestTask {
  return {
    id: request.id,
    strategyAst: version.strategyAst as StrategyAst,
    settings: version.settings,
    config: request.config as BacktestConfig,
    strategyHash: version.strategyHash,
  };
}
