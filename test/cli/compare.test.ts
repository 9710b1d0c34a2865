// `candlepool compare`: folders that `candlepool backtest --out` has written, side by side.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, CROSS_GRAPH } from '../../src/cli/demoStrategies.ts';
import { callCommand } from '../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
const at = (name: string): string => join(folder, name);
const read = (name: string) => JSON.parse(readFileSync(at(name), 'utf8'));

beforeAll(async () => {
  writeFileSync(at('strategy.json'), JSON.stringify({ name: 'Two means', signalGraph: CROSS_GRAPH }));
  const config = configOf('SPX', '1d');
  const range = { start: '2005-01-01', end: '2015-01-01' };
  for (const [name, more] of [
    ['a', { range }],
    ['b', { range, initialBalance: 50_000 }],
  ] as const) {
    writeFileSync(at('config.json'), JSON.stringify({ ...config, ...more }));
    const inputs = ['--strategy', at('strategy.json'), '--config', at('config.json'), '--out', at(name)];
    const { code, stderr } = await callCommand(['backtest', ...inputs]);
    expect([code, stderr]).toEqual([0, '']);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('compare', () => {
  it('prints metrics, settings that differ, positions and correlations as tables', async () => {
    const { code, stdout, stderr } = await callCommand([
      'compare',
      at('a'),
      at('b'),
      '--metrics',
      'returnPct,totalPositions',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    const { returnPct, totalPositions } = read('a/summary.json').summaryJson;
    const lines = stdout.split('\n');
    expect(lines[0]).toBe(`metric\t${at('a')}\t${at('b')}`);
    expect(lines[1]).toMatch(new RegExp(`^returnPct\t${(100 * returnPct).toFixed(2)} %\t`));
    expect(lines[2]).toBe(`totalPositions\t${totalPositions}\t${totalPositions}`);
    expect(stdout).toMatch(/^config: initial balance\t10000\t50000$/m);
    expect(stdout).toContain(`${totalPositions} positions in both`);
    expect(stdout).toMatch(/^correlation\t.*\n.*\t1\.000\t/m);
    expect(stdout).toContain('warning BALANCES_DIFFER: The runs begin with different balances: 10000; 50000.');
  });

  it('answers the same as JSON, with daily returns of the equity of each day', async () => {
    const { stdout } = await callCommand(['compare', at('a'), at('b'), '--json', '--rows', '2']);
    const { settings, metrics, trades, correlations, warnings } = JSON.parse(stdout);
    expect(settings.map(({ path }: { path: string }) => path)).toEqual(['/config/initialBalance']);
    expect(metrics.length).toBe(13);
    expect(trades).toMatchObject([{ a: 0, b: 1, onlyA: { count: 0 }, onlyB: { count: 0 } }]);
    const equities = ['a', 'b'].map((name) =>
      readFileSync(at(`${name}/daily.csv`), 'utf8')
        .trim()
        .split('\r\n')
        .slice(1),
    );
    expect(correlations.days[0]).toEqual([equities[0].length, equities[1].length]);
    expect(correlations.returns[0][1]).toBeGreaterThan(0.9);
    expect(Number(equities[1].at(-1)!.split(',')[1])).toBe(read('b/summary.json').summaryJson.finalEquity);
    expect(warnings.map(({ code }: { code: string }) => code)).toEqual(['BALANCES_DIFFER']);
  });

  it('compares what older results have, and says what they lack', async () => {
    cpSync(at('a'), at('old'), { recursive: true });
    rmSync(at('old/daily.csv'));
    rmSync(at('old/strategy.json'));
    const { code, stdout } = await callCommand(['compare', at('a'), at('old'), '--json']);
    const { correlations, settings, warnings } = JSON.parse(stdout);
    const advice = 'Run the backtest again with --out.';
    expect([code, correlations, settings]).toEqual([0, null, []]);
    expect(warnings.map(({ message }: { message: string }) => message)).toEqual([
      `${at('old')}: no strategy.json, so that strategies are compared by their hash alone. ${advice}`,
      `${at('old')}: no daily.csv, so that returns are not correlated. ${advice}`,
    ]);
  });

  it('writes a strategy that backtest takes again, with the same result', async () => {
    writeFileSync(
      at('config.json'),
      JSON.stringify({ ...configOf('SPX', '1d'), range: { start: '2005-01-01', end: '2015-01-01' } }),
    );
    const inputs = ['--strategy', at('a/strategy.json'), '--config', at('config.json'), '--json'];
    const { stdout } = await callCommand(['backtest', ...inputs]);
    const { reproducibility } = JSON.parse(stdout);
    expect(reproducibility.resultHash).toBe(read('a/summary.json').reproducibility.resultHash);
  });

  it('says what is wrong with its arguments and folders', async () => {
    writeFileSync(at('file.json'), '{}');
    cpSync(at('a'), at('broken'), { recursive: true });
    writeFileSync(at('broken/trades.json'), '[');
    cpSync(at('a'), at('other'), { recursive: true });
    writeFileSync(at('other/summary.json'), '{}');
    for (const [args, code, message] of [
      [[at('a')], 2, 'Name 2 to 10 folders'],
      [[at('a'), at('none')], 1, `${at('none')} has no summary.json`],
      [[at('a'), at('broken')], 1, `${at('broken/trades.json')} is not valid JSON`],
      [[at('a'), at('other')], 1, `${at('other/summary.json')} is not a result of candlepool backtest`],
      [[at('a'), at('b'), '--metrics', 'sharpRatio'], 2, 'no "sharpRatio". Did you mean sharpeRatio?'],
      [[at('a'), at('b'), '--rows', '-1'], 2, 'Give a whole number from 0 to 1000.'],
    ] as const) {
      const result = await callCommand(['compare', ...args]);
      expect([args, result.code, result.stdout]).toEqual([args, code, '']);
      expect(result.stderr).toContain(message);
    }
  });
});
