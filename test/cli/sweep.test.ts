// candlepool sweep on the shipped data: the same rows on one thread and on two, files that can be read back, and
// refusals with places.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callCommand } from '../support/command.ts';
import { SLOTTED } from '../support/portfolioSweeps.ts';
import { CONFIG, CROSSING } from '../support/sweeps.ts';

let folder: string;
const file = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-sweep-'));
  await writeFile(file('strategy.json'), JSON.stringify(CROSSING));
  await writeFile(file('config.json'), JSON.stringify({ ...CONFIG, signalInstrument: { symbol: 'SPX' } }));
  await writeFile(
    file('space.json'),
    JSON.stringify({ fast: { values: [5, 10] }, slow: { min: 20, max: 60, step: 20 } }),
  );
  await writeFile(file('wrong.json'), JSON.stringify({ quick: { min: 1, max: 2 } }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const sweep = (...options: string[]) =>
  callCommand(['sweep', '--strategy', file('strategy.json'), '--config', file('config.json'), ...options]);

describe('candlepool sweep', () => {
  it('gives the same result on one thread and on two, and writes rows and report', async () => {
    const one = await sweep('--space', file('space.json'), '--threads', '1', '--rows', file('rows.arrow'), '--json');
    const two = await sweep(
      '--space',
      file('space.json'),
      '--threads',
      '2',
      '--rows',
      file('rows.csv'),
      '--report',
      file('report.html'),
      '--json',
    );
    expect(one).toMatchObject({ code: 0, stderr: '' });
    expect(two.stdout).toBe(one.stdout);
    const result = JSON.parse(one.stdout) as {
      evaluated: number;
      top: { params: object }[];
      verdict: { text: string };
    };
    expect(result.evaluated).toBe(6);
    const table = tableFromIPC(await readFile(file('rows.arrow')));
    expect(table.numRows).toBe(6);
    expect([...table.getChild('fast')!].map(Number)).toEqual([5, 5, 5, 10, 10, 10]);
    expect((await readFile(file('rows.csv'), 'utf8')).trim().split('\n')).toHaveLength(7);
    expect(await readFile(file('report.html'), 'utf8')).toContain(result.verdict.text);
  });

  it('sweeps a portfolio of --symbols over universes and slots, the same on one thread and on two', async () => {
    await writeFile(file('slotted.json'), JSON.stringify(SLOTTED));
    const universes = [
      ['SYN-TECH-01', 'SYN-TECH-02', 'SYN-TECH-03'],
      ['SYN-TECH-04', 'SYN-TECH-01'],
    ];
    const space = { instruments: { values: universes }, slots: { values: [1, 2] }, fast: { values: [5, 10] } };
    await writeFile(file('universes.json'), JSON.stringify({ space, walkForward: { kind: 'rolling', folds: 2 } }));
    const run = (...options: string[]) =>
      sweep('--strategy', file('slotted.json'), '--space', file('universes.json'), ...options);
    const symbols = ['--symbols', universes[0].join()];
    const one = await run(...symbols, '--threads', '1', '--rows', file('universes.csv'), '--json');
    expect(one).toMatchObject({ code: 0, stderr: '' });
    const two = await run(...symbols, '--slots', '9', '--threads', '2', '--json');
    expect(two.stdout).toBe(one.stdout);
    const { evaluated, failures, walkForward } = JSON.parse(one.stdout) as {
      evaluated: number;
      failures: { count: number };
      walkForward: { folds: object[] };
    };
    expect([evaluated, failures.count, walkForward.folds.length]).toEqual([8, 0, 2]);
    const [head, first] = (await readFile(file('universes.csv'), 'utf8')).split('\n');
    expect(head).toMatch(/^variant,instruments,slots,fast,/);
    expect(first).toMatch(/^0,"1: SYN-TECH-01, SYN-TECH-02, SYN-TECH-03",1,5,/);
    const shown = await run(...symbols);
    expect(shown.stdout).toContain('2: SYN-TECH-04, SYN-TECH-01');
  });

  it('says where a sweep of a portfolio names an instrument without bars', async () => {
    await writeFile(file('unknown.json'), JSON.stringify({ instruments: { values: [['IBM'], ['SPX', 'NONE']] } }));
    const { code, stderr } = await sweep('--space', file('unknown.json'), '--symbols', 'SPX,IBM');
    expect(code).toBe(1);
    expect(stderr).toContain('The sweep cannot be run');
    expect(stderr).toContain('/space/instruments/values/1/1: There are no 1d bars of NONE');
  });

  it('points at the lists of the space where the config has no instruments', async () => {
    const { signalInstrument: _, ...bare } = CONFIG;
    const space = { instruments: { values: [['SPX', 'IBM']] } };
    await writeFile(file('bare.json'), JSON.stringify({ config: bare, space }));
    const { code, stderr } = await callCommand([
      'sweep', '--strategy', file('strategy.json'), '--space', file('bare.json'),
    ]); // prettier-ignore
    expect(code).toBe(1);
    expect(stderr).toContain(
      '/config/instruments: The space varies instruments, and the config has no list of its own',
    );
  });

  it.each([
    ['strategy.json', 'a strategy', 'strategy'],
    ['config.json', 'the config of a backtest', 'config'],
  ])('says which option takes the file that is given as the space: %s', async (name, what, option) => {
    const { code, stderr } = await sweep('--space', file(name));
    expect(code).toBe(1);
    expect(stderr).toContain(`${file(name)} holds ${what}, not a space: give it as --${option}.`);
  });

  it.each<[string[], object | null, string]>([
    [['--method', 'random'], null, '--method random needs --budget COUNT, the number of variants to run.'],
    [['--budget', '5'], null, 'A grid runs every point of the space and takes no budget. Leave out --budget,'],
    [['--method', 'grid', '--budget', '5'], null, 'or draw that many variants with --method random.'],
    [['--method', 'grid'], { method: 'tpe', budget: 9 }, '--method grid takes no budget, and '],
    [
      ['--method', 'tpe'],
      { method: 'random', budget: 9, walkForward: { kind: 'rolling', folds: 2 } },
      'Use --method random or latin_hypercube, or remove "walkForward" there.',
    ],
  ])('answers options that do not go together as wrong usage: %j %j', async (options, request, message) => {
    const space = { fast: { values: [5, 10] } };
    await writeFile(file('request.json'), JSON.stringify(request === null ? space : { space, ...request }));
    const { code, stderr } = await sweep('--space', file('request.json'), ...options);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('answers a request that contradicts itself as an invalid file, with a way out', async () => {
    await writeFile(file('request.json'), JSON.stringify({ space: { fast: { values: [5] } }, method: 'random' }));
    const { code, stderr } = await sweep('--space', file('request.json'));
    expect(stderr).toContain(
      '/budget: The method random needs a budget: how many variants to evaluate. (Give a budget',
    );
    expect(code).toBe(1);
  });

  it('answers a misspelled member of the request with the one that was meant', async () => {
    await writeFile(file('request.json'), JSON.stringify({ space: { fast: { values: [5] } }, metod: 'grid' }));
    const { code, stderr } = await sweep('--space', file('request.json'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('Unknown member "metod". (Did you mean "method"?)')]);
  });

  it('takes the config from the request where --config is absent, and asks for one that is in neither', async () => {
    const config = { ...CONFIG, signalInstrument: { symbol: 'SPX' } };
    await writeFile(file('request.json'), JSON.stringify({ space: { fast: { values: [5] } }, config }));
    const alone = ['sweep', '--strategy', file('strategy.json'), '--space'];
    const { code, stdout } = await callCommand([...alone, file('request.json'), '--json']);
    expect(code).toBe(0);
    expect(stdout).toBe((await sweep('--space', file('request.json'), '--json')).stdout);
    const without = await callCommand([...alone, file('space.json')]);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--config <file> is required')]);
  });

  it('prints fractions in percent, as backtest does', async () => {
    const { stdout } = await sweep('--space', file('space.json'));
    expect(stdout).toMatch(/^1\t\d+\t\d+\t-?[\d.]+\t-?[\d.]+ %\t[\d.]+ %\t\d+\t/m);
  });

  it('says once that no variant can win', async () => {
    const constraints = [{ left: 'totalPositions', op: 'gte', right: 30_000 }];
    await writeFile(file('request.json'), JSON.stringify({ space: { fast: { values: [5] } }, constraints }));
    const { stdout } = await sweep('--space', file('request.json'));
    expect(stdout).toContain('1 variant by sharpeRatio');
    expect(stdout.match(/warning/g)).toEqual(['warning']);
  });

  it('prints the best rows as the API answers them', async () => {
    const { stdout } = await sweep('--space', file('space.json'), '--json');
    const { top } = JSON.parse(stdout) as { top: { metrics: { maxDrawdownRecoveredAt: string } }[] };
    expect(top[0].metrics.maxDrawdownRecoveredAt).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
  });

  it('names the keys of the summary for an objective that is none', async () => {
    const { code, stderr } = await sweep('--space', file('space.json'), '--objective', 'sharpee');
    expect(code).toBe(2);
    expect(stderr).toContain("'sharpee' is invalid. Choose one of: returnPct, netProfit,");
  });

  it('runs as many variants as the budget by the given method', async () => {
    const { stdout } = await sweep('--space', file('space.json'), '--method', 'tpe', '--budget', '30', '--json');
    expect((JSON.parse(stdout) as { evaluated: number }).evaluated).toBe(30);
  });

  it('says at how many different points of the space the variants are where some ran several times', async () => {
    await writeFile(file('request.json'), JSON.stringify({ space: { fast: { values: [5, 6] } } }));
    const { stdout } = await sweep('--space', file('request.json'), '--method', 'tpe', '--budget', '30');
    expect(stdout).toContain('30 variants at 2 different points of a space of 2 by sharpeRatio\n');
    const space = { fast: { min: 2, max: 10 }, slow: { min: 20, max: 160, step: 10 } };
    await writeFile(file('request.json'), JSON.stringify({ space }));
    const larger = await sweep('--space', file('request.json'), '--method', 'tpe', '--budget', '60');
    const [, points] = /^60 variants at (\d+) different points of a space of 135 by/.exec(larger.stdout) ?? [];
    expect(Number(points)).toBeGreaterThan(0);
    expect(Number(points)).toBeLessThan(60);
  });

  it('titles the columns of its table in a pipe too, since they depend on the space', async () => {
    const { stdout } = await sweep('--space', file('space.json'));
    const [, titles, best] = stdout.split('\n').map((line) => line.split('\t'));
    const keys = ['sharpeRatio', 'returnPct', 'maxDrawdown', 'totalPositions'];
    expect(titles).toEqual(['rank', 'fast', 'slow', ...keys, 'plateau']);
    expect(best).toHaveLength(titles.length);
  });

  it('refuses an invalid space with the path of every fault', async () => {
    const { code, stderr } = await sweep('--space', file('wrong.json'));
    expect(code).toBe(1);
    expect(stderr).toContain('/space/quick: The strategy declares no param quick.');
  });
});
