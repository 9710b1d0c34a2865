// A progress bar on stderr: redrawn in place on a terminal, silent in a pipe.

const WIDTH = 30;
/** Frequent enough to look live, rare enough to cost nothing. */
const REDRAW_MS = 100;
/** The assumed width of a terminal that does not report one. */
const DEFAULT_COLUMNS = 80;
const ERASE_LINE = '\r\u001B[2K';

type Progress = Disposable & {
  /**
   * @param note replaces the text after the bar
   * @param isUrgent drawn even if the bar was drawn a moment ago
   */
  update(done: number, note?: string, isUrgent?: boolean): void;
};

/** Dispose to erase the bar. */
export function startProgress(label: string, total: number): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { update: () => {}, [Symbol.dispose]: () => {} };
  let drawnAt = 0;
  return {
    update: (done, note = '', isUrgent = false) => {
      const now = Date.now();
      if (!isUrgent && now - drawnAt < REDRAW_MS && done < total) return;
      drawnAt = now;
      // A line that wraps cannot be erased. A pty without a size reports 0 columns.
      const columns = stderr.columns || DEFAULT_COLUMNS;
      stderr.write(ERASE_LINE + progressLine(label, done, total, note).slice(0, columns - 1));
    },
    [Symbol.dispose]: () => stderr.write(ERASE_LINE),
  };
}

/** Accepts any counts, because they may change between two reads, and a progress bar must not end the program. */
function progressLine(label: string, done: number, total: number, note = ''): string {
  const end = Number.isFinite(total) ? Math.max(0, total) : 0;
  const reached = Number.isFinite(done) ? Math.min(Math.max(0, done), end) : 0;
  const filled = end === 0 ? 0 : Math.round((WIDTH * reached) / end);
  return `${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${reached}/${end} ${note}`;
}
