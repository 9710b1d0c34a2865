// A stand-in for the engine whose runs compress, and take long at the moment at which ending their thread would abort
// the process: the compressor is made and not yet initialized.
import type { Runner } from '../../src/engine/pool/messages.ts';
import { compressed } from '../../src/engine/pool/nativeCalls.ts';

const COMPRESSING_MS = 700;

/** Deaf: no run looks at its stop flag. */
export const runBacktest: Runner['runBacktest'] = (task, _market, control) => {
  control.report(0, 1);
  const { inside } = task.config.params as unknown as { inside: SharedArrayBuffer };
  return compressAgainAndAgain(inside);
};

export const buildArtifact: Runner['buildArtifact'] = () => {
  throw new Error('This stand-in makes no artifacts.');
};

/** @param inside set to 1 once the thread is inside; `tell` is called then as well */
export function compressAgainAndAgain(inside: SharedArrayBuffer, tell: () => void = () => {}): never {
  for (;;) {
    compressed(new Uint8Array(100), {
      // Node reads this option at that moment.
      get pledgedSrcSize() {
        new Int32Array(inside)[0] = 1;
        tell();
        for (const begun = performance.now(); performance.now() - begun < COMPRESSING_MS;);
        return undefined;
      },
    });
  }
}
