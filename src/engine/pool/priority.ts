// Priorities: threads and processes that compute for a long time let those that answer requests go first.
import { readdirSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Lowers the priority of the calling thread only. It works on Linux, where a priority belongs to a thread and a thread
 * can learn its number; elsewhere it does nothing. On a machine with a core to spare, it makes no difference.
 * @param niceness 0 (as before) to 19
 */
export function lowerThreadPriority(niceness: number): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), niceness);
  } catch {
    // Another system, or one that does not allow it.
  }
}

/**
 * Lowers the priority of every thread of this process, those of V8 that mark garbage included. Threads that are started
 * later begin with it.
 * @param niceness 0 (as before) to 19
 */
export function lowerProcessPriority(niceness: number): void {
  try {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness);
  } catch {
    // Another system, or one that does not allow it.
  }
}
