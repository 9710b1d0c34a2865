// A progress bar on stderr: redrawn in place on a terminal, silent in a pipe.

const WIDTH = 30;
/** Often enough to look alive, seldom enough to cost nothing. */
const REDRAW_MS = 100;

export type Progress = Disposable & {
  /** @param note replaces what stands behind the bar. */
  update(done: number, note?: string): void;
};

/** Dispose to take the bar away. */
export function startProgress(label: string, total: number): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { update: () => {}, [Symbol.dispose]: () => {} };
  let drawnAt = 0;
  return {
    update: (done, note = '') => {
      const now = Date.now();
      if (now - drawnAt < REDRAW_MS && done < total) return;
      drawnAt = now;
      const filled = Math.round((WIDTH * Math.min(done, total)) / Math.max(1, total));
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      stderr.write(`\r\u001B[2K${label} ${bar} ${done}/${total} ${note}`);
    },
    [Symbol.dispose]: () => stderr.write('\r\u001B[2K'),
  };
}
