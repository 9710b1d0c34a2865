// What the operating system knows about other processes: whether one is alive, and whether it is still the same one.
import { readFileSync } from 'node:fs';

/** Whether a process with this pid is running. A zombie (killed, not yet reaped) is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return statFields(pid)?.[0] !== 'Z';
}

/**
 * The pid of a process and the time of its start, in clock ticks since the machine booted: pids are reused, this pair
 * is not. Without /proc, the pid alone.
 */
export function processStamp(pid: number): string {
  // Field 22 of /proc/<pid>/stat; field 3 is the first one after the name.
  return `${pid}:${statFields(pid)?.[19] ?? ''}`;
}

/** Whether the process that had this stamp still runs. */
export function isStampAlive(stamp: string): boolean {
  const pid = Number(stamp.split(':')[0]);
  return Number.isInteger(pid) && pid > 0 && isAlive(pid) && processStamp(pid) === stamp;
}

/** The fields of /proc/<pid>/stat after the command's name, which may itself hold spaces and brackets. */
function statFields(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
