// The attackers, in a process of their own and at the lowest priority: real ones have their own machines, and what ours
// compute must not delay the neighbor whose time is taken.
import { writeFileSync } from 'node:fs';
import { lowerProcessPriority } from '../../src/engine/index.ts';
import { attack, type Target } from './attacks.ts';

export type FromAttackers = 'ready' | Awaited<ReturnType<typeof attack>>;

const PRIORITY = 19;
const SESSION_PRIORITY = '/proc/self/autogroup';

lowerProcessPriority(PRIORITY);
// Where Linux divides the processor between sessions first (sched_autogroup_enabled), a priority holds within its
// session alone; this process leads one of its own.
try {
  writeFileSync(SESSION_PRIORITY, String(PRIORITY));
} catch {
  // Another system, or one that does not allow it.
}
const stop = new AbortController();
const tell = (message: FromAttackers): void => void process.send!(message);
process.once('disconnect', () => process.exit(1));
process.on('message', (message: Omit<Target, 'signal'> | 'stop') => {
  if (message === 'stop') return stop.abort();
  void attack({ ...message, signal: stop.signal }, () => tell('ready')).then((tallies) =>
    process.send!(tallies, () => process.exit(0)),
  );
});
