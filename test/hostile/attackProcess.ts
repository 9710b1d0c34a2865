// The attackers, in a process of their own. Where the neighbor is timed they have the lowest priority: real ones have
// their own machines, and what ours compute must not delay the neighbor. Elsewhere they have the priority of any other
// process, since on a busy machine the lowest one takes minutes to finish its last requests.
import { lowerProcessPriority } from '../../src/engine/index.ts';
import type { Target } from './attack.ts';
import { attack } from './attacks.ts';

export type FromAttackers = 'ready' | Awaited<ReturnType<typeof attack>>;

const PRIORITY = 19;

// This process leads a session of its own, whose priority is lowered as well.
if (process.env.CANDLEPOOL_HOSTILE !== undefined) lowerProcessPriority(PRIORITY);

const stop = new AbortController();
const tell = (message: FromAttackers): void => void process.send!(message);
process.once('disconnect', () => process.exit(1));
process.on('message', (message: Omit<Target, 'signal'> | 'stop') => {
  if (message === 'stop') return stop.abort();
  void attack({ ...message, signal: stop.signal }, () => tell('ready')).then((tallies) =>
    process.send!(tallies, () => process.exit(0)),
  );
});
