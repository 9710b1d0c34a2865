// Crash suspects: a backtest that was running when its worker process died runs again, alone in a process of its own.
// If that process dies too, nothing else dies with it, and the backtest is known to be the cause. Other work goes on
// meanwhile.
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Claim } from '../db/claims.ts';
import type { Sql } from '../db/connect.ts';
import { areCrashSuspectsWaiting, claimCrashSuspect, recordKill } from '../db/crashSuspects.ts';
import { notify } from '../db/notifications.ts';
import type { Pool } from '../engine/index.ts';
import type { Log } from '../log.ts';
import type { Outlast } from './outages.ts';

/** What the process of a suspect is sent (suspectProcess.ts). It answers with any message when the run has ended. */
export interface SuspectMessage {
  readonly claim: Claim;
  readonly workerId: string;
}

interface CrashSuspectParts {
  readonly sql: Sql;
  readonly pool: Pool;
  readonly workerId: string;
  readonly log: Log;
  readonly outlast: Outlast;
  /** Starts a process that calls runSuspects, with a channel that can carry dates. */
  readonly start: () => ChildProcess;
  readonly maxProcesses: number;
}

/** A process takes a second or two to start, so it stays for this long without work. */
const IDLE_MS = 5_000;
/** When a process cannot be started, another is tried after this long. */
const START_AGAIN_MS = 1_000;

export class CrashSuspects {
  readonly #parts: CrashSuspectParts;
  readonly #processes = new Set<SuspectProcess>();
  /** Workspaces that have a suspect running here. The suspects of one workspace run one after the other. */
  readonly #running = new Set<string>();
  readonly #events = new EventEmitter<{ look: []; idle: [] }>();
  readonly #closing = new AbortController();
  #isLooking = false;
  /** Each claim waits for the one before it. */
  #lastClaim: Promise<unknown> = Promise.resolve();

  constructor(parts: CrashSuspectParts) {
    this.#parts = parts;
  }

  /** Call it when suspects are waiting: an idle process takes one, or another process is started. */
  look(): void {
    if (this.#isLooking || this.#closing.signal.aborted) return;
    if ([...this.#processes].some(({ isBusy }) => !isBusy)) return void this.#events.emit('look');
    if (this.#processes.size >= this.#parts.maxProcesses) return;
    this.#isLooking = true;
    void this.#addProcess().finally(() => (this.#isLooking = false));
  }

  /** Claims no more, and ends the processes after `finishMs`; what still runs then is left to be given back. */
  async close(finishMs: number): Promise<void> {
    this.#closing.abort();
    if (this.#running.size > 0)
      await once(this.#events, 'idle', { signal: AbortSignal.timeout(finishMs) }).catch(() => {});
    for (const process of this.#processes) process.end();
  }

  async #addProcess(): Promise<void> {
    const { sql, workerId, log } = this.#parts;
    try {
      if (!(await areCrashSuspectsWaiting(sql, workerId, [...this.#running]))) return;
      const process = new SuspectProcess(this.#parts.start());
      this.#processes.add(process);
      void this.#runSuspects(process).catch((error: unknown) =>
        log.warn({ err: error }, 'crash suspects are left for a moment'),
      );
    } catch (error) {
      log.warn({ err: error }, 'crash suspects could not be looked for, trying again');
    }
  }

  /** Runs one suspect after the other in `process`, until there are none or it ends. */
  async #runSuspects(process: SuspectProcess): Promise<void> {
    try {
      if (!(await process.answered())) {
        await sleep(START_AGAIN_MS, undefined, { signal: this.#closing.signal });
        throw new Error('The process for crash suspects ended at its start.');
      }
      while (!process.hasEnded && !this.#closing.signal.aborted) {
        const claim = await this.#claim();
        if (claim === undefined) {
          if (!(await this.#waitForLook(process))) return;
          continue;
        }
        process.isBusy = true;
        // Suspects of other workspaces need not wait for this one.
        this.look();
        await this.#run(process, claim);
        process.isBusy = false;
      }
    } finally {
      this.#processes.delete(process);
      process.end();
      this.look();
    }
  }

  /** Claims one after the other, so that each knows which workspaces have one already. */
  #claim(): Promise<Claim | undefined> {
    const { sql, workerId, outlast } = this.#parts;
    const next = this.#lastClaim.then(async () => {
      const claim = await outlast(() => claimCrashSuspect(sql, workerId, [...this.#running]));
      if (claim !== undefined) this.#running.add(claim.workspaceId);
      return claim;
    });
    this.#lastClaim = next.catch(() => {});
    return next;
  }

  async #run(process: SuspectProcess, claim: Claim): Promise<void> {
    const { sql, pool, workerId, log, outlast } = this.#parts;
    const releaseMemory = await pool.holdMemory(claim.workspaceId, claim.memoryBytes);
    try {
      process.send({ claim, workerId });
      if ((await process.answered()) || this.#closing.signal.aborted) return;
      log.warn({ backtestId: claim.id }, 'the process of a crash suspect has ended');
      await outlast(async () => notify(sql, 'changed', await recordKill(sql, claim)));
    } finally {
      releaseMemory();
      this.#running.delete(claim.workspaceId);
      if (this.#running.size === 0) this.#events.emit('idle');
    }
  }

  /** Waits for the next call of `look`; false when none came for IDLE_MS, or the process is to end. */
  #waitForLook(process: SuspectProcess): Promise<boolean> {
    const signal = AbortSignal.any([AbortSignal.timeout(IDLE_MS), this.#closing.signal, process.ended]);
    return once(this.#events, 'look', { signal }).then(
      () => true,
      () => false,
    );
  }
}

/** A process that runs one suspect after the other. */
class SuspectProcess {
  /** Whether it has been given a suspect to run; one without looks for one. */
  isBusy = false;
  readonly #child: ChildProcess;
  readonly #ended = new AbortController();

  constructor(child: ChildProcess) {
    this.#child = child;
    child.once('exit', () => this.#ended.abort());
    // It could not be started, or written to.
    child.on('error', () => this.#ended.abort());
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get hasEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  /** A failure to send is ignored: the process has ended then, and `ended` follows. */
  send(message: SuspectMessage): void {
    this.#child.send(message, () => {});
  }

  /** True at its next message, false when it ends before. */
  answered(): Promise<boolean> {
    return once(this.#child, 'message', { signal: this.#ended.signal }).then(
      () => true,
      () => false,
    );
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}
