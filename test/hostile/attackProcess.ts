// The attackers, in a process of their own. Where the neighbor is timed they have the lowest priority: real ones have
// their own machines, and what ours compute must not delay the neighbor. Elsewhere they have the priority of any other
// process, since on a busy machine the lowest one takes minutes to finish its last requests.
import { writeFileSync } from 'node:fs';
import { lowerProcessPriority } from '../../src/engine/index.ts';
import type { Target } from './attack.ts';
import { attack } from './attacks.ts';

export type FromAttackers = 'ready' | Awaited<ReturnType<typeof attack>>;

const PRIORITY = 19;
const SESSION_PRIORITY = '/proc/self/autogroup';

if (process.env.CANDLEPOOL_HOSTILE !== undefined) lowerPriority();

const stop = new AbortController();
const tell = (message: FromAttackers): void => void process.send!(message);
process.once('disconnect', () => process.exit(1));
process.on('message', (message: Omit<Target, 'signal'> | 'stop') => {
  if (message === 'stop') return stop.abort();
  void attack({ ...message, signal: stop.signal }, () => tell('ready')).then((tallies) =>
    process.send!(tallies, () => process.exit(0)),
  );
});

function lowerPriority(): void {
  lowerProcessPriority(PRIORITY);
  // Where Linux divides the processor between sessions first (sched_autogroup_enabled), a priority holds within its
  // session alone; this process leads one of its own.
  try {
    writeFileSync(SESSION_PRIORITY, String(PRIORITY));
  } catch {
    // Another system, or one that does not allow it.
  }
}
