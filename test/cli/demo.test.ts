// The demo as a newcomer runs it: one command, the whole main job, nothing left behind.
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('candlepool-demo-'));

describe('candlepool demo', () => {
  it('repairs a strategy from its issues, runs 200 backtests, and says why one never traded; then nothing is left', async () => {
    const before = leftovers();
    const { code, stdout, stderr } = await runCommand(['demo', '--json']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const outcome = JSON.parse(stdout) as Record<string, unknown>;
    expect(outcome.repaired).toEqual(
      expect.arrayContaining(['REF_NOT_FOUND', 'UNKNOWN_INDICATOR', 'UNKNOWN_FIELD', 'UNKNOWN_INDICATOR_ARG']),
    );
    expect(outcome).toMatchObject({ backtests: 200, completed: 200, silent: { diagnosis: 'NEVER_TOGETHER' } });
    expect(leftovers()).toEqual(before);
  });
});
