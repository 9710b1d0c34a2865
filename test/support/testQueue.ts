// The queue of a test file: a database with one workspace and its data, and the workers that its tests start. After
// each test the workers are stopped and the backtests deleted.
import type { ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { cancelBacktest, findBacktest } from '../../src/db/backtests.ts';
import type { Backtest } from '../../src/db/backtests.ts';
import type { Sql } from '../../src/db/connect.ts';
import type { BacktestConfig } from '../../src/engine/config.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { STATISTIC_POSITIONS } from '../../src/engine/index.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import {
  countByStatus,
  enqueue,
  killWorker,
  makeData,
  makeWorkspace,
  settled,
  spawnWorker,
  startTestWorker,
  type TestData,
  type TestWorkspace,
} from './queue.ts';

export class TestQueue {
  #database!: TestDatabase;
  #data!: TestData;
  #workspace!: TestWorkspace;
  #workers: Worker[] = [];
  #processes: ChildProcess[] = [];

  /** Registers its own set-up and clean-up; call it at the top of a test file. @param bars how many the data has */
  constructor(bars?: number) {
    beforeAll(async () => {
      this.#database = await createTestDatabase();
      this.#data = await makeData(bars);
      this.#workspace = await makeWorkspace(this.sql);
    });
    afterEach(async () => {
      await Promise.all(this.#workers.splice(0).map((worker) => worker[Symbol.asyncDispose]()));
      await Promise.all(this.#processes.splice(0).map((child) => killWorker(child)));
      await this.sql`delete from backtests`;
    });
    afterAll(async () => {
      await this.#data[Symbol.asyncDispose]();
      await this.#database[Symbol.asyncDispose]();
    });
  }

  get url(): string {
    return this.#database.url;
  }

  get sql(): Sql {
    return this.#database.sql;
  }

  get data(): TestData {
    return this.#data;
  }

  get workspace(): TestWorkspace {
    return this.#workspace;
  }

  get workspaceId(): string {
    return this.#workspace.workspaceId;
  }

  /** Starts a worker in this process. @param data what it can open; default: the data of the queue */
  async startWorker({ data = this.#data, threads = 2 } = {}): Promise<Worker> {
    const worker = await startTestWorker(this.url, data, threads);
    this.#workers.push(worker);
    return worker;
  }

  /** Starts a worker in a process of its own. @param finishMs how long runs may take to finish when it stops */
  async spawnWorker(finishMs?: number): Promise<ChildProcess> {
    const child = await spawnWorker(this.url, this.#data, finishMs);
    this.#processes.push(child);
    return child;
  }

  /** Queues one backtest for each of `params`. @returns their ids */
  enqueue(params: readonly BacktestConfig['params'][], options?: Parameters<typeof enqueue>[4]): Promise<string[]> {
    return enqueue(this.sql, this.#workspace, this.#data, params, options);
  }

  find(id: string): Promise<Backtest | undefined> {
    return findBacktest(this.sql, this.workspaceId, id, STATISTIC_POSITIONS);
  }

  cancel(id: string): ReturnType<typeof cancelBacktest> {
    return cancelBacktest(this.sql, this.workspaceId, id);
  }

  countByStatus(): Promise<Record<string, number>> {
    return countByStatus(this.sql);
  }

  /** Waits until nothing is queued or running. */
  settled(): Promise<true> {
    return settled(this.sql);
  }
}
