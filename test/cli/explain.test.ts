// candlepool explain on the command line: options that name the instruments of a portfolio.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { strategy } from '../support/builders.ts';
import { callCommand } from '../support/command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-explain-'));
  await writeFile(join(folder, 'strategy.json'), JSON.stringify(strategy()));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const explain = (...more: string[]) => callCommand(['explain', '--strategy', join(folder, 'strategy.json'), ...more]);

describe('candlepool explain', () => {
  it('explains one plan for all instruments of --symbols', async () => {
    const { code, stdout } = await explain('--symbols', 'SYN-TECH-01,SYN-TECH-02', '--timeframe', '1d');
    expect(code).toBe(0);
    expect(stdout).toContain('Portfolio of 2 instruments: SYN-TECH-01, SYN-TECH-02');
  });

  it('refuses a symbol that is named twice, as a backtest does', async () => {
    const { code, stderr } = await explain('--symbols', 'SYN-TECH-01,SYN-TECH-02,SYN-TECH-01', '--timeframe', '1d');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--symbols names SYN-TECH-01 twice.')]);
  });
});
