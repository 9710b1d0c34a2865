import { mkdtemp, rm, writeFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { callCommand, type CommandResult } from '../support/command.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'candlepool-data-'));
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const data = (...args: string[]): Promise<CommandResult> =>
  callCommand(['data', ...args], { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data') });
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await data(...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}
async function file(name: string, lines: readonly string[]): Promise<string> {
  await writeFile(join(folder, name), lines.join('\n'));
  return join(folder, name);
}

const HEADER = 'time,open,high,low,close,volume,signal';
const BARS = [
  '2024-01-01 00:00,1,2,0.5,1.5,10,0.25',
  '2024-01-01 01:00,1.5,2,1,1.75,5,',
  '2024-01-01 03:00,2,2,2,2,1,1',
];

describe('candlepool data', () => {
  it('lists the shipped series on the first call, as lines in a pipe and as JSON', async () => {
    const { code, stdout } = await data('list');
    expect(code).toBe(0);
    expect(stdout.split('\n')[1]).toBe('EURUSD\t1h\t6225\t2017-01-01T22:00Z\t2017-12-29T22:00Z\t52\tno');
    const { data: rows } = (await json('list')) as { data: Record<string, unknown>[] };
    expect(rows[1]).toMatchObject({ symbol: 'EURUSD', timeframe: '1h', bars: 6225, gaps: 52, synthetic: false });
  });

  it('prints what an import inferred, and show and gaps read it back', async () => {
    const path = await file('XAU-hours.csv', [HEADER, ...BARS]);
    const answer = await json(
      'import',
      path,
      '--symbol',
      'XAUUSD',
      '--instrument',
      '{"qtyStep":0.01,"tradesAllDay":false}',
    );
    expect(answer).toMatchObject({
      symbol: 'XAUUSD',
      timeframe: '1h',
      isTimeframeInferred: true,
      bars: 3,
      start: Date.UTC(2024, 0, 1),
      end: Date.UTC(2024, 0, 1, 4),
      gaps: 1,
      missingBars: 1,
      time: { column: 'time', unit: 'ISO 8601', zone: 'none given, read as UTC', is: 'open' },
      series: ['signal'],
      instrument: { symbol: 'XAUUSD', base: 'XAU', quote: 'USD', qtyStep: 0.01, tradesAllDay: false },
    });
    const shown = await json('show', '--symbol', 'XAUUSD', '--timeframe', '1h');
    expect(shown.sha256).toBe(answer.sha256);
    expect(shown.rows).toHaveLength(3);
    expect((await data('gaps', '--symbol', 'XAUUSD', '--timeframe', '1h')).stdout).toBe(
      '2024-01-01T02:00Z\t2024-01-01T03:00Z\t1\t\n',
    );
  });

  it('marks the gaps in which a market is closed, and says that they are expected', async () => {
    const { stdout, stderr } = await data('gaps', '--symbol', 'SPX', '--timeframe', '1d', '--limit', '2000');
    const rows = stdout.trimEnd().split('\n');
    expect(rows[0]).toBe('1999-01-09T00:00Z\t1999-01-11T00:00Z\t2\tweekend');
    // Thanksgiving, a holiday within the week.
    expect(rows).toContain('1999-11-25T00:00Z\t1999-11-26T00:00Z\t1\t');
    const closed = rows.filter((row) => row.endsWith('weekend')).length;
    expect(stderr).toBe(
      `${closed} of ${rows.length} gaps are expected: the market closes then (weekend, night). ` +
        'Holidays are not known.\n',
    );
    expect(await json('gaps', '--symbol', 'SPX', '--timeframe', '1d', '--limit', '1')).toMatchObject({
      data: [{ from: Date.UTC(1999, 0, 9), to: Date.UTC(1999, 0, 11), missingBars: 2, closure: 'weekend' }],
    });
  });

  it('stores the calendar of an exchange, lists it, and marks its holidays', async () => {
    const days = ['2024-03-27', '2024-03-28', '2024-04-01', '2024-04-03'];
    const path = await file('CAL.csv', [HEADER, ...days.map((day) => `${day}T00:00Z,1,2,1,2,5,1`)]);
    const answer = await json('import', path, '--symbol', 'CAL', '--timeframe', '1d', '--calendar', 'XNAS');
    expect(answer.instrument).toMatchObject({ calendar: 'XNYS' });
    expect(answer.notes).toEqual([
      'Trading days and hours of XNYS: New York Stock Exchange, and Nasdaq.',
      '1 trading day of XNYS without bars: 2024-04-02.',
    ]);
    const { stdout: listed } = await data('list');
    expect(listed.split('\n').find((row) => row.startsWith('CAL\t'))).toContain('\tXNYS\t');
    const { stdout } = await data('gaps', '--symbol', 'CAL', '--timeframe', '1d');
    expect(stdout.trimEnd().split('\n')).toEqual([
      '2024-03-29T00:00Z\t2024-04-01T00:00Z\t3\tholiday',
      '2024-04-02T00:00Z\t2024-04-03T00:00Z\t1',
    ]);
    const refused = await data('import', path, '--symbol', 'CAL', '--replace', '--calendar', 'NYSE');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('calendar: Use XNYS') });
    expect((await data('remove', '--symbol', 'CAL', '--timeframe', '1d')).code).toBe(0);
  });

  it('keeps what an earlier import stated about the instrument, unless told otherwise', async () => {
    const path = await file('XAUUSD.csv', [HEADER, ...BARS.slice(0, 2)]);
    const answer = await json('import', path, '--replace', '--instrument', '{"minNotional":5}');
    expect(answer.instrument).toMatchObject({ qtyStep: 0.01, tradesAllDay: false, minNotional: 5 });
  });

  it('refuses to import a stored series, and appends, replaces, exports and removes it', async () => {
    const first = await file('AGAIN-1h.csv', [HEADER, ...BARS]);
    const more = await file('AGAIN-1h-more.csv', [HEADER, BARS[2], '2024-01-01 04:00,2,3,2,3,4,1']);
    expect((await data('import', first)).code).toBe(0);
    const refused = await data('import', more);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'AGAIN 1h is already stored: 3 bars, 2024-01-01 to 2024-01-01T04:00Z. ' +
        'The new series has 2 bars, 2024-01-01T03:00Z to 2024-01-01T05:00Z. Give --append',
    );
    expect((await data('import', more, '--append', '--replace')).code).toBe(2);
    expect((await data('import', more, '--append')).stdout).toContain(
      'Added 1 bar to the 3 stored ones; bars in both: 1, in agreement.',
    );
    const series = ['--symbol', 'AGAIN', '--timeframe', '1h'];
    const out = join(folder, 'AGAIN-1h.csv.gz');
    expect((await data('export', ...series, '--out', out)).stdout).toContain('Wrote 4 bars of AGAIN 1h');
    // Nothing but the export lies in the folder: it was written under another name and renamed.
    expect((await readdir(folder)).filter((name) => name.includes('.partial'))).toEqual([]);
    const nowhere = await data('export', ...series, '--out', join(folder, 'none', 'AGAIN.csv'));
    expect(nowhere.code).toBe(2);
    expect(nowhere.stderr).toContain('Create it first.');
    const before = await json('show', ...series);
    expect((await data('remove', ...series)).stdout).toContain('Removed AGAIN 1h: 4 bars');
    expect((await data('show', ...series)).stderr).toContain('There is no stored series AGAIN 1h');
    expect((await json('import', out)).sha256).toBe(before.sha256);
    expect((await data('export', ...series)).stdout.split('\n')[1]).toBe(
      '2024-01-01T00:00:00.000Z,1,2,0.5,1.5,10,0.25',
    );
    expect((await json('import', first, '--replace')).bars).toBe(3);
  });

  it('prints how an imported series is annualized and why, and lists outliers', async () => {
    const day = (at: number): Date => new Date(Date.UTC(2024, 0, 1 + at));
    const rows = Array.from({ length: 60 }, (_, at) => at)
      .filter((at) => ![0, 6].includes(day(at).getUTCDay()))
      .map((at) => `${day(at).toISOString().slice(0, 10)},100,101,${at === 30 ? 1 : 99},100,5`);
    const path = await file('STOCK-1d.csv', ['Date,Open,High,Low,Close,Volume', ...rows]);
    const { stdout } = await data('import', path);
    expect(stdout).toContain(
      '252 periods per year, inferred from the bars, which leave out the same days of every week. ' +
        `--instrument '{"periodsPerYear":365}' would annualize by 365.`,
    );
    expect(stdout).toContain('Outliers: 1. They were imported as they are');
    expect(stdout).toContain('  2024-01-31: low 1 is 99.0 % below the bars beside it (99)');
    const stated = await json('import', path, '--replace', '--instrument', '{"periodsPerYear":365}');
    expect(stated).toMatchObject({
      periodsPerYear: 365,
      periodsPerYearReason: 'stated for the instrument',
      outliers: [{ kind: 'spike', column: 'low', price: 1, neighbor: 99 }],
    });
  });

  it('imports with --time-is close and a given timeframe', async () => {
    const path = await file('closes.csv', [HEADER, ...BARS]);
    const answer = await json('import', path, '--symbol', 'CLOSES', '--timeframe', '1h', '--time-is', 'close');
    expect(answer).toMatchObject({
      start: Date.UTC(2023, 11, 31, 23),
      isTimeframeInferred: false,
      time: { is: 'close' },
    });
  });

  it('refuses invalid rows with exit code 1 and writes nothing', async () => {
    const path = await file('BAD-1h.csv', [HEADER, BARS[0], '2024-01-01 01:00,1.5,1,1,1.75,5,', BARS[0]]);
    const plain = await data('import', path);
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr).toContain('Row 2 (line 3): high 1 is below close 1.75');
    const { stderr, code } = await data('import', path, '--json');
    expect(code).toBe(1);
    const { error } = JSON.parse(stderr) as { error: { total: number; refusals: { code: string; row: number }[] } };
    expect(error.refusals.map((refusal) => `${refusal.row} ${refusal.code}`)).toEqual([
      '2 HIGH_BELOW_BODY',
      '3 TIME_DUPLICATE',
    ]);
    expect((await data('list')).stdout).not.toContain('BAD');
  });

  it('synthesizes the same series each time, marked as synthetic', async () => {
    const first = await json('synth', '--symbol', 'SYN-BTC', '--days', '2', '--seed', '7');
    const second = await json('synth', '--symbol', 'SYN-BTC', '--days', '2', '--seed', '7');
    expect(first).toMatchObject({ timeframe: '1m', synthetic: true, notes: ['Synthetic bars, seed 7.'] });
    expect(second.sha256).toBe(first.sha256);
    expect((await data('list')).stdout).toMatch(/SYN-BTC\t1m\t.*\tyes\n/);
  });

  it.each([
    [['import', '/no/such/file.csv'], 1, 'There is no file at /no/such/file.csv'],
    [['show', '--symbol', 'NONE', '--timeframe', '1h'], 1, 'candlepool data list" shows the stored series.'],
    [['synth', '--symbol', 'BTC', '--days', '1'], 1, 'does not begin with SYN-'],
    [['synth', '--symbol', 'SYN-A', '--days', '0'], 2, 'a whole number from 1 to 3660'],
    [['import', 'x.csv', '--timeframe', '7h'], 2, 'one of: 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 1w, 1M'],
    [['import'], 2, "missing required argument 'file'"],
    [['import', 'x.csv', '--symbol', 'a b'], 1, 'is not a symbol'],
    [['import', 'x.csv', '--instrument', '{'], 1, 'The instrument is not valid JSON'],
  ])('%j fails with exit code %i and says why', async (args, code, message) => {
    const answer = await data(...args);
    expect(answer.code).toBe(code);
    expect(answer.stderr).toContain(message);
  });
});
