// A stand-in for the engine in tests of the pool and the jobs: what a run does is told by `config.params`.
import { appendFileSync } from 'node:fs';
import { MessagePort, threadId } from 'node:worker_threads';
import type { Market } from '../../src/engine/bars/bars.ts';
import type { ArtifactNotice, ArtifactOutcome, ArtifactRequest, BacktestTask } from '../../src/engine/task.ts';
import { CHUNK_BYTES } from '../../src/engine/pool/artifactChunks.ts';
import { resolveConfig } from '../../src/engine/config.ts';
import type { Result } from '../../src/engine/pool/result.ts';
import type { EndedRun, Runner } from '../../src/engine/pool/messages.ts';
import type { RunControl } from '../../src/engine/task.ts';
import { jsonDetail, jsonTrades, splitSummary } from './jsonResults.ts';
import { summaryBytes } from './summaries.ts';

/** Bytes of results that this thread has sent as a copy: what is moved is empty here afterwards. */
let copiedBytes = 0;
// oxlint-disable-next-line typescript/unbound-method -- it is called with its port
const { postMessage } = MessagePort.prototype;
MessagePort.prototype.postMessage = function (this: MessagePort, message: Partial<EndedRun>, moved: never) {
  postMessage.call(this, message, moved);
  const { outcome } = message;
  if (outcome?.kind !== 'completed') return;
  const { summary, detail, trades } = outcome.result;
  for (const { buffer } of [summary, detail, trades]) copiedBytes += buffer.byteLength;
};

/**
 * `params.act`: absent: a result at once; copied: the same, with `copiedBytes` for the sum of closes; spin: holds its
 * thread for `params.ms`, looking at its flag; deaf: the same without looking; where: the same, its result the number
 * of its thread; fail: an expected failure; throw: a bug; poison: kills its process; exit: ends its thread; nul: a
 * result with a NUL in a text; take: asks for `params.mib` MiB of memory, one after the other, and notes in
 * `params.taken` (shared memory) how many MiB all such runs have and have had at the most, and how many runs were
 * begun. `params.value` makes results differ. An artifact has `params.pieces` chunks more, counted in `params.written`
 * (shared memory). The id of each run is written to the file that RUNS_FILE names.
 */
export function runBacktest(
  task: BacktestTask,
  market: Market,
  control: RunControl,
): ReturnType<Runner['runBacktest']> {
  const { act, ms = 0 } = (task.config.params ?? {}) as { act?: string; ms?: number };
  const rows = market.base.length;
  if (process.env.RUNS_FILE !== undefined) appendFileSync(process.env.RUNS_FILE, `${task.id}\n`);
  control.report(0, rows);
  switch (act) {
    case 'spin':
    case 'deaf':
    case 'where':
      if (!spin(ms, act === 'deaf' ? null : control, rows))
        return { ok: false, error: { code: 'CANCELLED', path: '', message: 'The run was stopped.' } };
      break;
    case 'fail':
      return {
        ok: false,
        error: { code: 'RANGE_NO_DATA', path: '/config/range', message: 'The range holds no bars.' },
      };
    case 'take':
      if (!takeMemory(task, control)) return { ok: false, error: TOOK_TOO_MUCH };
      break;
    case 'throw':
      throw new Error('a bug in the stand-in');
    case 'poison':
      process.kill(process.pid, 'SIGKILL');
      spin(60_000, null, rows);
      break;
    case 'exit':
      process.exit(3);
  }
  control.report(rows, rows);
  return { ok: true, result: encoded(outcomeOf(task, market)) };
}

/** As the engine encodes it: in one buffer, which is moved to the other thread. */
function encoded({ summaryJson, trades, warnings, ...rest }: ReturnType<typeof outcomeOf>): Result {
  const { summary, detail } = splitSummary(summaryJson);
  const parts = [summaryBytes(summary), jsonDetail({ summary: detail, warnings, ...rest }), jsonTrades(trades)];
  const bytes = Uint8Array.from(Buffer.concat(parts));
  const ends = [parts[0].length, parts[0].length + parts[1].length];
  return {
    summary: bytes.subarray(0, ends[0]),
    detail: bytes.subarray(ends[0], ends[1]),
    trades: bytes.subarray(ends[1]),
    warnings: warnings.map(({ code }) => code),
    diagnosis: summaryJson.strategyTrace.diagnosis[0].code,
  };
}

/** A shard runs until it is stopped. */
export const runSweepWork: NonNullable<Runner['runSweepWork']> = (_job, _work, _marketOf, control) => {
  while (!control.isCancelled()) hold(LOOK_EVERY_MS);
  return null;
};

const NOTICE: ArtifactNotice = {
  code: 'RESULT_DIFFERS',
  message: 'The stand-in has drifted.',
  stored: { engineVersion: 'stand-in', resultHash: 'before' },
  recomputed: { engineVersion: 'stand-in', resultHash: 'after' },
  tradesDiffering: 0,
  tradesRounded: 0,
  summaryDiffering: ['sharpeRatio'],
  summaryRounded: [],
  added: [],
};

export function buildArtifact(
  task: BacktestTask,
  market: Market,
  control: RunControl,
  request: ArtifactRequest,
  write: (piece: Uint8Array) => void,
): ArtifactOutcome {
  if (process.env.STAND_IN_BUG !== undefined) throw new Error('a bug');
  const failure = process.env.STAND_IN_FAILURE;
  if (failure !== undefined) return { ok: false, error: { code: 'INPUT_MISSING', path: '', message: failure } };
  const outcome = runBacktest(task, market, control);
  if (!outcome.ok) return outcome;
  const text = `${request.name} ${request.format} ${market.base.length}`;
  const { resultHash } = outcomeOf(task, market).reproducibility;
  const { stored } = request;
  const isStored = stored === undefined || stored.resultHash === resultHash;
  const { pieces = 0, written } = (task.config.params ?? {}) as { pieces?: number; written?: SharedArrayBuffer };
  write(new TextEncoder().encode(text));
  for (let piece = 0; piece < pieces; piece++) {
    write(new Uint8Array(CHUNK_BYTES).fill(piece));
    if (written) Atomics.store(new Int32Array(written), 0, piece + 1);
  }
  return { ok: true, resultHash, notice: isStored ? null : NOTICE };
}

const TOOK_TOO_MUCH = { code: 'RESOURCE_LIMIT', path: '', message: 'It takes more memory than the worker allows.' };

/** False when it was refused more. */
function takeMemory(task: BacktestTask, control: RunControl): boolean {
  const { mib, taken } = task.config.params as unknown as { mib: number; taken: SharedArrayBuffer };
  const counts = new Int32Array(taken);
  Atomics.add(counts, 2, 1);
  let has = 0;
  try {
    for (; has < mib; has++) {
      if (control.mayTake!((has + 1) << 20) !== 'yes') return false;
      const now = Atomics.add(counts, 0, 1) + 1;
      if (now > counts[1]) counts[1] = now;
      spin(2, control, 1);
    }
    return true;
  } finally {
    Atomics.sub(counts, 0, has);
  }
}

const LOOK_EVERY_MS = 2;
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Keeps the thread, in which nothing else happens meanwhile, and leaves the core to the rest of the test. */
const hold = (ms: number): unknown => Atomics.wait(never, 0, 0, ms);

/** False when it was stopped. */
function spin(ms: number, control: RunControl | null, rows: number): boolean {
  const start = performance.now();
  for (let now = start; now - start < ms; now = performance.now()) {
    if (control?.isCancelled()) return false;
    control?.report(Math.floor((rows * (now - start)) / ms), rows);
    hold(Math.min(LOOK_EVERY_MS, ms - (now - start)));
  }
  return true;
}

function outcomeOf(task: BacktestTask, market: Market) {
  const act = task.config.params?.act;
  const value = act === 'where' ? threadId : Number(task.config.params?.value ?? 0);
  let sum = 0;
  for (const close of market.base.close) sum += close;
  return {
    summaryJson: {
      returnPct: value,
      sharpeRatio: null,
      maxDrawdown: 0.25,
      totalPositions: 2,
      closeSum: act === 'copied' ? copiedBytes : sum,
      equityPreview: [1, 2, 3],
      strategyTrace: { diagnosis: [{ code: 'OK' }], funnel: { barsTotal: market.base.length } },
      ruleStatsSummary: { rules: [] },
    },
    trades: [{ positionId: 1, pnl: value }],
    reproducibility: {
      engineVersion: 'stand-in',
      strategyHash: task.strategyHash,
      dataHash: market.base.sha256,
      configHash: 'config',
      runKey: `run-${task.strategyHash}-${value}`,
      resultHash: `result-${value}-${sum}${process.env.STAND_IN_DRIFT ?? ''}`,
    },
    warnings: act === 'nul' ? [{ code: 'a\u0000b' }] : [],
    resolvedConfig: resolveConfig(task.config),
  };
}
