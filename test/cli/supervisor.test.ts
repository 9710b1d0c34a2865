// The supervisor, when its child cannot be started.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { supervise } from '../../src/cli/supervisor.ts';

/** More than any system passes on, so that `spawn` throws, as it does when there is no memory. */
const TOO_LARGE = { DATA_DIR: 'x'.repeat(4 << 20) };

it('tries again, and says why, while the child cannot be started', async () => {
  const deaths: { readonly err?: { readonly message: string }; readonly restartInMs: number }[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void deaths.push(JSON.parse(line)) });
  {
    await using _supervisor = supervise(['worker'], TOO_LARGE, log);
    while (deaths.length < 3) await sleep(5);
  }
  expect(deaths.slice(0, 3).map(({ restartInMs }) => restartInMs)).toEqual([10, 20, 40]);
  expect(deaths[0].err?.message).toMatch(/^spawn/);
});
