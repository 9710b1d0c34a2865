// candlepool indicator as a user runs it: files in, lines out, no database.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callCommand } from '../support/command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-indicator-'));
  await writeFile(join(folder, 'TEST-1h.csv'), BARS.join('\n'));
});
afterAll(() => rm(folder, { recursive: true }));

const BARS = [
  'time,open,high,low,close,volume,signal',
  '2024-01-01 00:00,1,2,0.5,1.5,10,0.25',
  '2024-01-01 01:00,1.5,2,1,1.75,5,',
  '2024-01-01 02:00,2,2,2,2,1,1',
  '2024-01-01 03:00,2,3,1,2.5,4,2',
];

interface Answer {
  readonly code: number | null;
  readonly out: Buffer;
  readonly err: string;
}
function indicator(args: readonly string[], input = ''): Promise<Answer> {
  const command = join(import.meta.dirname, '..', '..', 'bin', 'candlepool');
  const child = spawn(process.execPath, [command, 'indicator', ...args], { cwd: folder, stdio: 'pipe' });
  const out: Buffer[] = [];
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out: Buffer.concat(out), err })));
}
const call = (...args: string[]) => callCommand(['indicator', ...args]);
const onFile = (...args: string[]): Promise<Answer> => indicator(['--bars', 'TEST-1h.csv', ...args]);

async function batch(...requests: readonly unknown[]): Promise<unknown[]> {
  const lines = requests.map((request) => (typeof request === 'string' ? request : JSON.stringify(request)));
  const { code, out, err } = await indicator(['--bars', 'TEST-1h.csv', '--batch', '-'], lines.join('\n'));
  expect(err).toBe('');
  expect(code).toBe(0);
  return out
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

describe('candlepool indicator', () => {
  it('prints one line per bar, empty before the lookback', async () => {
    const { code, out } = await onFile('--name', 'sma', '--args', '{"length":2}');
    expect(code).toBe(0);
    expect(out.toString()).toBe(
      [
        'time,value',
        '2024-01-01T00:00:00.000Z,',
        '2024-01-01T01:00:00.000Z,1.625',
        '2024-01-01T02:00:00.000Z,1.875',
        '2024-01-01T03:00:00.000Z,2.25',
        '',
      ].join('\n'),
    );
  });

  it('reads shipped series by name alone, even resampled', async () => {
    const { code, stdout } = await call('--symbol', 'EURUSD', '--timeframe', '1d', '--talib', 'ATR', '--json');
    expect(code).toBe(0);
    const { lookback, time, outputs } = JSON.parse(stdout) as {
      lookback: number;
      time: number[];
      outputs: { real: (number | null)[] };
    };
    expect(lookback).toBe(14);
    expect(outputs.real.findIndex((value) => value !== null)).toBe(14);
    expect(outputs.real.length).toBe(time.length);
    expect(time[0] % 86_400_000).toBe(0);
  });

  it('writes an Arrow file with null where there is no value', async () => {
    const { out } = await onFile('--talib', 'MOM', '--args', '{"timeperiod":1}', '--format', 'arrow');
    const table = tableFromIPC(out);
    expect(table.schema.fields.map((field) => field.name)).toEqual(['time', 'real']);
    expect(table.getChild('real')!.toArray()).toHaveLength(4);
    expect([0, 1, 2, 3].map((row) => table.getChild('real')!.get(row))).toEqual([null, 0.25, 0.25, 0.5]);
  });

  it('answers a batch line by line, with errors in place of invalid lines', async () => {
    const answers = await batch(
      { talib: 'ADD', inputs: ['high', 'low'] },
      { talib: 'MAXINDEX', args: { timeperiod: 2 } },
      { name: 'max', args: { length: 2, source: 'volume' } },
      { name: 'sma', args: { length: 2 }, inputs: ['signal'] },
      { talib: 'CDLDOJI' },
      { name: 'doji' },
      'no json',
      { talib: 'ADD' },
      { talib: 'RSI', args: { timeperiod: 1 } },
      { name: 'RSII' },
      { name: 'rsi', talib: 'RSI' },
      { name: 'atr', inputs: ['high', 'low'] },
      { name: 'rsi', inputs: ['nothing'] },
      [],
    );
    expect(answers).toMatchObject([
      { lookback: 0, outputs: { real: [2.5, 3, 4, 4] } },
      { lookback: 1, outputs: { integer: [0, 1, 2, 3] } },
      { lookback: 1, outputs: { value: [null, 10, 5, 4] } },
      { lookback: 1, outputs: { value: [null, null, 0.625, 1.5] } },
      { outputs: { integer: [0, 0, 0, 0] } },
      { outputs: { value: [null, null, null, null] } },
      ...[
        'INVALID_JSON',
        'INPUT_REQUIRED',
        'INDICATOR_ARG_OUT_OF_RANGE',
        'UNKNOWN_INDICATOR',
        'INVALID_REQUEST',
        'INPUT_COUNT',
        'UNKNOWN_INPUT',
        'INVALID_REQUEST',
      ].map((code) => ({ error: { code } })),
    ]);
  });

  it('exits with 2 for an invalid call and 1 for bars that are not there, saying what to do', async () => {
    const bars = ['--bars', join(folder, 'TEST-1h.csv')];
    const said = (text: string): string => expect.stringContaining(text) as string;
    expect(await call('--name', 'rsi')).toMatchObject({ code: 2, stderr: said('--symbol') });
    expect(await call(...bars)).toMatchObject({ code: 2, stderr: said('--name') });
    expect(await call(...bars, '--name', 'rsi', '--args', '{')).toMatchObject({ code: 2 });
    expect(await call(...bars, '--name', 'rsi', '--args', '{"length":0}')).toMatchObject({
      code: 2,
      stderr: said('between 2 and'),
    });
    expect(await call(...bars, '--name', 'rsii')).toMatchObject({ code: 2, stderr: said('Did you mean "rsi"?') });
    expect(await call(...bars, '--talib', 'STOHC')).toMatchObject({ code: 2, stderr: said('Did you mean "STOCH"?') });
    expect(await call(...bars, '--name', 'qwertz')).toMatchObject({ code: 2, stderr: said('docs/indicators.md') });
    const asked = await call(...bars, '--name', 'rsi', '--inputs', 'clsoe', '--json');
    expect([asked.code, JSON.parse(asked.stderr)]).toEqual([
      2,
      { error: { code: 'UNKNOWN_INPUT', message: said('There is no column "clsoe". Use one of open, high,') } },
    ]);
    expect(await call('--symbol', 'NONE', '--timeframe', '1h', '--name', 'rsi')).toMatchObject({ code: 1 });
    expect(await call('--bars', 'absent.csv', '--name', 'rsi')).toMatchObject({ code: 1, stderr: said('absent.csv') });
  });
});
