// The sweep task: runs the shards of sweeps and robustness checks through the pool, one after the other, and makes a
// result of their outcomes at the end.
import type { Sql } from '../db/connect.ts';
import { MAX_ATTEMPTS } from '../db/crashSuspects.ts';
import { notify } from '../db/notifications.ts';
import {
  claimShard,
  completeSweep,
  countEarlierTrials,
  failSweep,
  finishShard,
  readEndedSweeps,
  returnShard,
} from '../db/sweepShards.ts';
import type { ShardClaim } from '../db/sweepShards.ts';
import { readSweepShards } from '../db/sweeps.ts';
import { addSweepTickets, PassedOnTicket, SWEEP_TASK } from '../db/tickets.ts';
import {
  compressed,
  decodeRows,
  historyOf,
  joinRankingRows,
  objectiveOf,
  rankingRows,
  runsInRounds,
  spaceOf,
} from '../engine/index.ts';
import type {
  PartRun,
  Pool,
  RankingRows,
  RobustnessJob,
  RunError,
  ShardRange,
  StopReason,
  SweepJob,
  SweepOutcome,
  SweepWork,
} from '../engine/index.ts';
import type { Log } from '../log.ts';
import { inputMissing, SNAPSHOTS_MISSING, type InputReader, type NoteMissing } from './inputs.ts';
import { maskInternalError } from './internalErrors.ts';
import type { Outlast } from './outages.ts';
import { encodeOutcomes, robustnessJobOf, robustnessResultOf } from './robustnessTask.ts';
import { inputsOf, nextShard, rangeOf, sweepJobOf, type PartInputs } from './shardInputs.ts';
import { ShardPlaces, shardPlaces } from './shardPlaces.ts';
import { QUICK_SHARD_COST, TICKET_MS } from './shares.ts';

type Unfinished = Extract<SweepOutcome, { kind: 'failed' | 'stopped' }>;

/** A shard that this process holds, from its claim to its end. */
interface Active {
  readonly sweepId: string;
  /** Undefined while its inputs are read. */
  run: Pick<PartRun<unknown>, 'stop'> | undefined;
  /** The shard must not start, or is to stop. */
  stopReason: StopReason | undefined;
}

function stop(active: Active, reason: StopReason): void {
  active.stopReason ??= reason;
  active.run?.stop(reason);
}

export class SweepRunner {
  readonly #sql: Sql;
  readonly #pool: Pool;
  readonly #inputs: InputReader;
  readonly #workerId: string;
  readonly #log: Log;
  readonly #noteMissing: NoteMissing;
  readonly #outlast: Outlast;
  readonly #places: ShardPlaces;
  readonly #passedOn: PassedOnTicket;
  readonly #active = new Set<Active>();
  #isStopping = false;
  /** Set once shards are given back; a shard whose claim is under way is then given back as well. */
  #isReturning = false;

  constructor(parts: {
    readonly sql: Sql;
    readonly pool: Pool;
    readonly inputs: InputReader;
    readonly workerId: string;
    readonly log: Log;
    readonly noteMissing: NoteMissing;
    readonly outlast: Outlast;
  }) {
    this.#sql = parts.sql;
    this.#pool = parts.pool;
    this.#inputs = parts.inputs;
    this.#noteMissing = parts.noteMissing;
    this.#outlast = parts.outlast;
    this.#workerId = parts.workerId;
    this.#log = parts.log;
    this.#places = new ShardPlaces(shardPlaces(parts.pool.threads));
    this.#passedOn = new PassedOnTicket(parts.sql, SWEEP_TASK);
  }

  /** What a ticket does: runs shards until none is due that may take a place here. */
  async work(): Promise<void> {
    using entry = this.#places.enter();
    if (entry === undefined) return this.#passedOn.add();
    const until = performance.now() + TICKET_MS;
    while (!this.#isStopping) {
      const isRun = await this.#places.takeShard(
        (only) => claimShard(this.#sql, this.#workerId, only),
        (claim) => this.#run(claim),
      );
      if (!isRun) return this.#places.isFull ? this.#passedOn.add() : undefined;
      if (performance.now() > until) break;
    }
    await addSweepTickets(this.#sql, 1);
  }

  cancel(ids: readonly string[]): void {
    for (const active of this.#active) if (ids.includes(active.sweepId)) stop(active, 'cancelled');
  }

  /** Stops the shards of sweeps that have ended; for when the notification of a cancel may have been missed. */
  async cancelEnded(): Promise<void> {
    const held = [...new Set([...this.#active].map(({ sweepId }) => sweepId))];
    if (held.length > 0) this.cancel(await readEndedSweeps(this.#sql, held));
  }

  /** From now on no shard is claimed. */
  close(): void {
    this.#isStopping = true;
  }

  /** Tells every shard to stop; they go back to the queue. */
  returnAll(): void {
    this.#isReturning = true;
    for (const active of this.#active) stop(active, 'returned');
  }

  async #run(claim: ShardClaim): Promise<void> {
    const active: Active = {
      sweepId: claim.sweepId,
      run: undefined,
      stopReason: this.#isReturning ? 'returned' : undefined,
    };
    this.#active.add(active);
    try {
      // A cancel that came before this shard was registered found nothing to stop here.
      await this.cancelEnded();
      await this.#runActive(claim, active);
    } catch (error) {
      if (claim.attempt >= MAX_ATTEMPTS)
        await this.#fail(claim, {
          code: 'ATTEMPTS_EXHAUSTED',
          path: '',
          message:
            `A part of this ${kindOf(claim)} was started ${MAX_ATTEMPTS} times and never ended. The fault is on our ` +
            'side; start it again or report it.',
        });
      // If it were not given back, it would stay claimed for as long as this process lives.
      else await this.#outlast(() => returnShard(this.#sql, claim));
      throw error;
    } finally {
      this.#active.delete(active);
    }
  }

  async #runActive(claim: ShardClaim, active: Active): Promise<void> {
    const version = await this.#inputs.readVersion(claim.strategyVersionId);
    if (version === undefined)
      return this.#fail(claim, inputMissing(`The strategy version of this ${kindOf(claim)} no longer exists.`));
    const { opened, missing } = await this.#inputs.openSnapshots(claim.snapshots);
    if (missing.length > 0) return this.#leaveToOthers(claim, missing);
    const inputs = inputsOf(claim, opened);
    if (claim.backtestId === null) await this.#runSweep(claim, sweepJobOf(claim, version), inputs, active);
    else await this.#runRobustness(claim, robustnessJobOf(claim, version), inputs, active);
  }

  /** Gives back a shard whose snapshots are missing here, and fails its sweep when they are missing everywhere. */
  async #leaveToOthers(claim: ShardClaim, missing: readonly string[]): Promise<void> {
    const missingEverywhere = await this.#noteMissing(missing);
    if (!this.#inputs.mayRunElsewhere(claim, missing, missingEverywhere)) return this.#fail(claim, SNAPSHOTS_MISSING);
    await returnShard(this.#sql, claim);
    await addSweepTickets(this.#sql, 2);
  }

  async #runSweep(claim: ShardClaim, job: SweepJob, inputs: PartInputs, active: Active): Promise<void> {
    const range = rangeOf(claim);
    const work = range === null ? await this.#finishingWork(claim, job) : await this.#shardWork(claim, job, range);
    const outcome = await runPart(active, () => this.#pool.sweep({ ...inputs, isQuick: isQuick(claim), job, work }));
    switch (outcome.kind) {
      case 'rows': {
        const { bytes, best } = outcome;
        const { sign } = objectiveOf(job.spec);
        const next = range && nextShard(range, claim.cost, job);
        await this.#sql.begin((tx) => finishShard(tx, claim, { bytes, best, sign, next }));
        break;
      }
      case 'result': {
        const { result, page } = outcome;
        const finished = { trials: result.trials.sweep, result, page: compressed(page) };
        await this.#sql.begin((tx) => completeSweep(tx, claim, finished));
        break;
      }
      default:
        return this.#settleUnfinished(claim, outcome);
    }
    await notify(this.#sql, 'changed', [claim.sweepId]);
  }

  async #runRobustness(claim: ShardClaim, job: RobustnessJob, inputs: PartInputs, active: Active): Promise<void> {
    const { sweepId } = claim;
    const range = rangeOf(claim);
    if (range === null) {
      const parts: Uint8Array[] = [];
      for await (const part of readSweepShards(this.#sql, sweepId)) parts.push(part);
      const result = await robustnessResultOf(this.#sql, claim, job, parts);
      if ('code' in result) return this.#fail(claim, result);
      await this.#sql.begin((tx) => completeSweep(tx, claim, { trials: null, result, page: null }));
    } else {
      const outcome = await runPart(active, () =>
        this.#pool.robustness({ ...inputs, isQuick: isQuick(claim), job, range }),
      );
      if (outcome.kind !== 'steps') return this.#settleUnfinished(claim, outcome);
      const bytes = encodeOutcomes(outcome.outcomes);
      await this.#sql.begin((tx) => finishShard(tx, claim, { bytes, best: null, sign: 1, next: null }));
    }
    await notify(this.#sql, 'changed', [sweepId]);
  }

  async #settleUnfinished(claim: ShardClaim, outcome: Unfinished): Promise<void> {
    if (outcome.kind === 'failed') return this.#fail(claim, outcome.error);
    if (outcome.reason === 'time_limit')
      return this.#fail(claim, {
        code: 'RESOURCE_LIMIT',
        path: '',
        message:
          `A part of this ${kindOf(claim)} took longer than the time limit. Use a shorter range, a coarser ` +
          'timeframe, shorter periods or fewer nodes.',
      });
    await returnShard(this.#sql, claim);
    await notify(this.#sql, 'changed', [claim.sweepId]);
  }

  async #fail(claim: ShardClaim, error: RunError): Promise<void> {
    const masked = maskInternalError(this.#log, kindOf(claim), { sweepId: claim.sweepId }, error);
    await this.#sql.begin((tx) => failSweep(tx, claim.sweepId, masked));
    await notify(this.#sql, 'changed', [claim.sweepId]);
    this.cancel([claim.sweepId]);
  }

  async #finishingWork(claim: ShardClaim, job: SweepJob): Promise<SweepWork> {
    const rows = await this.#rankingRows(claim, job);
    return { kind: 'finish', rows, earlierTrials: await countEarlierTrials(this.#sql, claim), title: 'Sweep' };
  }

  /** A round is proposed from the rows of the rounds before it. */
  async #shardWork(claim: ShardClaim, job: SweepJob, range: ShardRange): Promise<SweepWork> {
    if (!runsInRounds(job.spec) || range.first === 0) return { kind: 'shard', range };
    const history = historyOf({ job, space: spaceOf(job) }, await this.#rankingRows(claim, job));
    return { kind: 'shard', range: { ...range, history } };
  }

  /** The ranking rows of all finished shards, decoded one after the other, so that only what is read is in memory. */
  async #rankingRows({ sweepId }: ShardClaim, job: SweepJob): Promise<RankingRows> {
    const context = { job, space: spaceOf(job) };
    const parts: RankingRows[] = [];
    for await (const bytes of readSweepShards(this.#sql, sweepId)) parts.push(rankingRows(context, decodeRows(bytes)));
    return joinRankingRows(parts);
  }
}

const kindOf = ({ backtestId }: ShardClaim): string => (backtestId === null ? 'sweep' : 'robustness check');

const isQuick = ({ cost }: ShardClaim): boolean => cost <= QUICK_SHARD_COST;

/** Starts a part unless it is to stop already, and waits for it. */
async function runPart<Outcome>(active: Active, start: () => PartRun<Outcome>): Promise<Outcome | Unfinished> {
  if (active.stopReason !== undefined) return { kind: 'stopped', reason: active.stopReason };
  const run = start();
  active.run = run;
  return run.outcome;
}
