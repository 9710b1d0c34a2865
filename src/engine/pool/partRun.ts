// Parts of sweeps and robustness checks: one message each, with one outcome.
import type { Admission } from './admission.ts';
import { BatchControl, type RunProgress } from './control.ts';
import { PoolClosedError, threadLost, type Dispatch, type Dispatched } from './job.ts';
import { RunMemory } from './memory.ts';
import type { RobustnessOutcome, StopReason, SweepOutcome, ThreadMessage } from './messages.ts';

/** A part of a sweep or of a robustness check under way; `barsDone` of its progress counts variants or steps. */
export interface PartRun<Outcome> {
  readonly outcome: Promise<Outcome>;
  stop(reason: StopReason): void;
  progress(): RunProgress;
}

interface PartOptions {
  readonly owner: string | undefined;
  readonly isQuick?: boolean;
  /** What the part may need; a pool with less memory runs it alone. */
  readonly bytes: number;
  /** As in `RunMemory`. */
  readonly tables?: number;
  readonly admission: Admission;
  readonly dispatch: Dispatch;
}

/** Starts a part. It waits for memory and a thread; when it is refused more memory, it starts over with more. */
export function startPart<Outcome extends SweepOutcome | RobustnessOutcome>(
  messageWith: (control: SharedArrayBuffer) => ThreadMessage,
  { owner, isQuick = false, bytes, tables, admission, dispatch }: PartOptions,
): PartRun<Outcome | Extract<SweepOutcome, { kind: 'failed' | 'stopped' }>> {
  let control = BatchControl.create(1);
  const memory = new RunMemory(Math.min(bytes, admission.maxBytes), admission.maxBytes, tables);
  const runOnce = async () => {
    const lease = await admission.enter({ owner: owner ?? '', bytes: memory.bytes, isQuickShard: isQuick });
    try {
      const stopped = control.stopReason(0);
      if (stopped !== null) return { kind: 'stopped', reason: stopped } as const;
      control.grant(0, memory.more);
      const mayTake: Dispatched['mayTake'] = (_, more) => memory.answer(more, lease);
      const message = messageWith(control.buffer);
      return (await dispatch({ message, control, lease, timeLimitsMs: [], mayTake })) as Outcome;
    } catch (error) {
      if (control.runningRun() === -1 || error instanceof PoolClosedError) throw error;
      const reason = control.stopReason(0);
      return reason ? ({ kind: 'stopped', reason } as const) : ({ kind: 'failed', error: threadLost(error) } as const);
    } finally {
      lease.leave();
    }
  };
  const run = async () => {
    for (;;) {
      const outcome = await runOnce();
      if (outcome.kind !== 'failed' || !memory.takeRefusal()) return outcome;
      const stopped = control.stopReason(0);
      if (stopped !== null) return { kind: 'stopped', reason: stopped } as const;
      control = BatchControl.create(1);
    }
  };
  return { outcome: run(), stop: (reason) => control.stop(0, reason), progress: () => control.progress(0) };
}
