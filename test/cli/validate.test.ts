import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stripVTControlCharacters } from 'node:util';
import { issueLines } from '../../src/cli/validate.ts';
import { callCommand } from '../support/command.ts';
import { compare, graph, indicator, strategy, type Json } from '../support/builders.ts';

let folder: string;
const file = async (name: string, content: Json): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-validate-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('candlepool validate', () => {
  it('reports an AST, a graph, and a request body as valid, with exit code 0', async () => {
    const files = [
      await file('ast.json', strategy()),
      await file('graph.json', graph()),
      await file('body.json', { name: 'mine', settings: { warmupPeriod: 30 }, signalGraph: graph() }),
    ];
    for (const path of files) {
      const { code, stdout } = await callCommand(['validate', '--strategy', path]);
      expect(stdout).toMatch(/^valid: 0 errors, 0 warnings/m);
      expect(code).toBe(0);
    }
  });

  it('accepts a version as the API answers it, with null for the payload that was not sent', async () => {
    const body = { settings: { warmupPeriod: 30 }, strategyAst: strategy(), signalGraph: null };
    const { code, stdout, stderr } = await callCommand(['validate', '--strategy', await file('version.json', body)]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^valid: 0 errors/m);
  });

  it('lists the issues of an invalid one, one per line, with exit code 1', async () => {
    const path = await file('bad.json', strategy(compare(indicator('rsi', { lenght: 3 }), '<', 30)));
    const { code, stdout } = await callCommand(['validate', '--strategy', path]);
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.split('\t').slice(0, 3).join(' '))).toEqual([
      'error UNKNOWN_OPERATOR /strategyAst/strategy/entry/trigger/op',
      'error UNKNOWN_INDICATOR_ARG /strategyAst/strategy/entry/trigger/left/args/lenght',
      'not valid: 2 errors, 0 warnings (6 nodes, 2 conditions)',
    ]);
  });

  it('prints the whole outcome for programs, and reads settings from a file', async () => {
    const path = await file('ast.json', strategy());
    const settings = await file('settings.json', { warmupPeriod: 3 });
    const { code, stdout } = await callCommand(['validate', '--strategy', path, '--settings', settings, '--json']);
    const outcome: Json = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(outcome.valid).toBe(true);
    expect(outcome.issues.map((issue: Json) => issue.code)).toEqual(['WARMUP_TOO_SHORT']);
    expect(outcome.analysis.inferredLookback).toBe(19);
  });

  it('refuses a file that is none of the three, is not JSON, or does not exist', async () => {
    const other = await callCommand(['validate', '--strategy', await file('other.json', { a: 1 })]);
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining('is neither a StrategyAst, nor a SignalGraph'),
    ]);
    const text = await callCommand(['validate', '--strategy', await file('text.json', '{"a"')]);
    expect([text.code, text.stderr]).toEqual([1, expect.stringContaining('is not valid JSON')]);
    await writeFile(join(folder, 'twice.json'), '{"strategyAst":{"version":1,"version":2}}');
    const twice = await callCommand(['validate', '--strategy', join(folder, 'twice.json')]);
    expect(twice.code).toBe(1);
    expect(twice.stderr).toContain('names "version" more than once. Keep one of them, at /strategyAst/version.');
    const absent = await callCommand(['validate', '--strategy', join(folder, 'absent.json')]);
    expect([absent.code, absent.stderr]).toEqual([1, expect.stringContaining('There is no file')]);
    const none = await callCommand(['validate', '--strategy', folder]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining(`${folder} is a folder, not a file.`)]);
  });

  it('reads a file that begins with a byte order mark, and refuses one that is not text', async () => {
    const marked = await callCommand([
      'validate',
      '--strategy',
      await file('bom.json', `\ufeff${JSON.stringify(strategy())}`),
    ]);
    expect([marked.code, marked.stderr]).toEqual([0, '']);
    await writeFile(join(folder, 'utf16.json'), Buffer.from('\ufeff{}', 'utf16le'));
    const wide = await callCommand(['validate', '--strategy', join(folder, 'utf16.json')]);
    expect([wide.code, wide.stderr]).toEqual([1, expect.stringContaining('utf16.json is not text in UTF-8. Save it')]);
  });

  it('points to the other option when strategy and config are swapped', async () => {
    const [ast, config] = [
      await file('a.json', strategy()),
      await file('c.json', { signalInstrument: { symbol: 'SPX' } }),
    ];
    const first = await callCommand(['validate', '--strategy', config]);
    expect(first.stderr).toContain('It looks like a config: give it as --config.');
    const second = await callCommand(['backtest', '--strategy', ast, '--config', ast]);
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringContaining('holds a strategy, not the config of a backtest: give it as --strategy.'),
    ]);
  });

  it('prints an issue on a terminal in two lines, of its place and its message', () => {
    const issue = {
      severity: 'error',
      code: 'TYPE_MISMATCH',
      path: '/a/b',
      field: 'a',
      message: 'M.',
      suggestion: 'S.',
    } as const;
    expect(stripVTControlCharacters(issueLines(issue))).toBe('error TYPE_MISMATCH at /a/b\n  M. S.');
  });
});
