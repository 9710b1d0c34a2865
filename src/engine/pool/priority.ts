// Priorities: threads and processes that compute for a long time let those that answer requests go first.
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
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
    if (leadsSession()) lowerSessionPriority(niceness, SESSION_TRIES);
  } catch {
    // Another system, or one that does not allow it.
  }
}

const SESSION_TRIES = 10;
/** Linux lets ordinary users set the priority of a session ten times a second in all, and refuses more. */
const SESSION_RETRY_MS = 250;

/**
 * Where Linux first divides the processor between sessions (sched_autogroup_enabled), the priority of a process counts
 * within its session alone: a worker with a session of its own would take as much from the API as at priority 0.
 */
function lowerSessionPriority(niceness: number, tries: number): void {
  try {
    writeFileSync('/proc/self/autogroup', String(niceness));
  } catch (error) {
    const isRefused = (error as NodeJS.ErrnoException).code === 'EAGAIN';
    if (isRefused && tries > 1) setTimeout(() => lowerSessionPriority(niceness, tries - 1), SESSION_RETRY_MS).unref();
  }
}

/** The session of a terminal or of a supervisor, which has other processes, is left alone. */
function leadsSession(): boolean {
  const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const session = fields.split(' ')[3];
  return Number(session) === process.pid;
}
