// Artifacts: one file of one run, made on a thread and taken chunk by chunk.
import { MessageChannel } from 'node:worker_threads';
import type { ArtifactOutcome, ArtifactRequest, RunError } from '../task.ts';
import type { Admission, Lease } from './admission.ts';
import { ChunkReceiver, type TakeChunk } from './artifactChunks.ts';
import { BatchControl } from './control.ts';
import { bytesNeeded, batchMessage, ownerOf, PoolClosedError, threadLost, tooLarge, type Dispatch } from './job.ts';
import type { Dispatched } from './job.ts';
import { estimateArtifactBytes, RunMemory } from './memory.ts';
import type { ArtifactAnswer, PoolBatch } from './messages.ts';

/** Tables of trades in memory at once: one of the result and one of the file. */
const TABLES_OF_FILE = 2;

/**
 * Makes an artifact of the only run of `batch`. When the run is refused memory, it starts over with more.
 * @param take is given the file chunk by chunk
 * @throws PoolClosedError when the pool is disposed of meanwhile
 */
export async function buildArtifact(
  batch: PoolBatch,
  request: ArtifactRequest,
  take: TakeChunk,
  admission: Admission,
  dispatch: Dispatch,
): Promise<ArtifactOutcome> {
  const [run] = batch.runs;
  const read = run.snapshots.map((index) => batch.snapshots[index]);
  const bytes = bytesNeeded(batch, run) + estimateArtifactBytes(request, run.task, read);
  if (bytes > admission.maxBytes) return { ok: false, error: tooLarge(bytes, admission.maxBytes) };
  const memory = new RunMemory(bytes, admission.maxBytes, TABLES_OF_FILE);
  for (;;) {
    const lease = await admission.enter({ owner: ownerOf(run), bytes: memory.bytes });
    try {
      const outcome = await buildOnce(batch, request, take, { memory, lease, dispatch });
      // Starting over is safe: memory is refused while trades are made, which is before the first chunk.
      if (outcome.ok || !memory.takeRefusal()) return outcome;
    } finally {
      lease.leave();
    }
  }
}

interface Admitted {
  readonly memory: RunMemory;
  readonly lease: Lease;
  readonly dispatch: Dispatch;
}

async function buildOnce(
  batch: PoolBatch,
  request: ArtifactRequest,
  take: TakeChunk,
  { memory, lease, dispatch }: Admitted,
): Promise<ArtifactOutcome> {
  const [run] = batch.runs;
  const control = BatchControl.create(1);
  control.grant(0, memory.more);
  const { port1: near, port2: port } = new MessageChannel();
  const receiver = new ChunkReceiver(near, take, () => control.stop(0, 'cancelled'));
  try {
    const inputs = batchMessage(batch.snapshots, [run], control.buffer);
    const message = { kind: 'artifact', batch: inputs, request, port, taken: receiver.taken } as const;
    const mayTake: Dispatched['mayTake'] = (_, more) => memory.answer(more, lease);
    const dispatched = dispatch({ message, port, control, lease, timeLimitsMs: [run.timeLimitMs], mayTake });
    const answer = await (dispatched as Promise<ArtifactAnswer>).catch((error: unknown) => {
      if (control.runningRun() === -1 || error instanceof PoolClosedError) throw error;
      return { ok: false, error: threadLost(error), chunks: 0 } as const;
    });
    const received = await receiver.finish();
    const { chunks, ...outcome } = answer;
    if (outcome.ok && received !== chunks) throw new Error(`${received} of ${chunks} chunks of an artifact arrived.`);
    return control.stopReason(0) === 'time_limit' && !outcome.ok ? { ok: false, error: TOOK_TOO_LONG } : outcome;
  } finally {
    near.close();
  }
}

const TOOK_TOO_LONG: RunError = {
  code: 'RESOURCE_LIMIT',
  path: '',
  message: 'Making the file took longer than a backtest may. Use a shorter range or a coarser timeframe.',
};
