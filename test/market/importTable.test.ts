// The import table: every shape of file gives the bars that it was made of, or is refused with a way out that leads to
// them. docs/imports.md lists the shapes; UPDATE_DOCS=1 writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { readOptionsOf, withReadOptions } from '../../src/cli/importOptions.ts';
import { ROOT } from '../../src/config.ts';
import { MarketDataError } from '../../src/market/import/importError.ts';
import type { ReadOptions } from '../../src/market/import/readOptions.ts';
import { readSeries } from '../../src/market/import/severalSeries.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';
import { BINARY_FILES, JSON_FILES } from '../support/imports/binaryShapes.ts';
import { EXCHANGES } from '../support/imports/exchangeShapes.ts';
import type { ImportSection, ImportShape } from '../support/imports/importTable.ts';
import { PLATFORMS } from '../support/imports/platformShapes.ts';
import { COLUMNS, NUMBERS, ROWS, SYMBOLS } from '../support/imports/priceShapes.ts';
import type { SourceBar } from '../support/imports/sourceBars.ts';
import { TEXT } from '../support/imports/textShapes.ts';
import { TIMES } from '../support/imports/timeShapes.ts';
import { UNREAD } from '../support/imports/unreadFormats.ts';

const SECTIONS: readonly ImportSection[] = [
  TEXT, TIMES, NUMBERS, ROWS, COLUMNS, SYMBOLS, PLATFORMS, JSON_FILES, EXCHANGES, BINARY_FILES, UNREAD,
]; // prettier-ignore
const PAGE = join(ROOT, 'docs', 'imports.md');

/** As the command line reads them. */
const parsedOptions = (text: string): ReadOptions => {
  const command = withReadOptions(new Command());
  command.parse(text === '' ? [] : text.split(' '), { from: 'user' });
  return readOptionsOf(command.opts());
};

interface Read {
  readonly series: Readonly<Record<string, readonly SourceBar[]>>;
  readonly notes: readonly string[];
}

async function read(file: string | Uint8Array, options: string): Promise<Read> {
  const table = await readSource(typeof file === 'string' ? Buffer.from(file) : file);
  const found = readSeries(table, parsedOptions(options));
  const barsOf = ({ time, open, high, low, close, volume }: (typeof found)[number]['bars']['columns']): SourceBar[] =>
    Array.from(time, (at, row) => ({
      time: at,
      open: open[row],
      high: high[row],
      low: low[row],
      close: close[row],
      volume: volume[row],
    }));
  const isOne = found.length === 1;
  return {
    series: Object.fromEntries(found.map(({ symbol, bars }) => [isOne ? 'bars' : symbol!, barsOf(bars.columns)])),
    notes: found.flatMap(({ bars }) => bars.report.notes),
  };
}

const expected = ({ bars }: ImportShape): Read['series'] =>
  Array.isArray(bars) ? { bars: bars as readonly SourceBar[] } : (bars as Read['series']);
const flagsOf = (options: string): string[] => options.split(' ').filter((word) => word.startsWith('--'));

async function check(shape: ImportShape): Promise<void> {
  const { file, options = '', refused, wayOut, says = '' } = shape;
  if (refused === undefined) {
    const { series, notes } = await read(file, options);
    expect(series).toEqual(expected(shape));
    expect(notes.join('\n')).toContain(says);
    return;
  }
  const error: unknown = await read(file, options).catch((thrown: unknown) => thrown);
  if (!(error instanceof MarketDataError)) throw new Error(`read, or failed otherwise: ${String(error)}`);
  expect(error.code).toBe(refused);
  if (wayOut === undefined) throw new Error('A refusal needs a way out.');
  if ('edit' in wayOut) {
    expect((await read(wayOut.file, options)).series).toEqual(expected(shape));
    return;
  }
  for (const flag of flagsOf(wayOut.options)) expect(error.message).toContain(flag);
  expect((await read(file, wayOut.options)).series).toEqual(expected(shape));
}

describe.each(SECTIONS)('$title', ({ shapes }) => {
  it.each(shapes)('$shape', check);
});

const outcomeOf = ({ refused, wayOut, says = '' }: ImportShape): string => {
  if (refused === undefined) return says === '' ? 'read' : `read; the report says "${says}"`;
  const way = wayOut && ('edit' in wayOut ? wayOut.edit : `\`${wayOut.options}\``);
  return `refused, \`${refused}\`; then ${way}`;
};

const page = (): string => {
  const count = SECTIONS.reduce((sum, { shapes }) => sum + shapes.length, 0);
  const tables = SECTIONS.map(({ title, shapes }) =>
    [
      `## ${title}\n`,
      '| the file has | options | what an import does |',
      '|---|---|---|',
      ...shapes.map(
        (shape) => `| ${shape.shape} | ${shape.options ? `\`${shape.options}\`` : ''} | ${outcomeOf(shape)} |`,
      ),
    ].join('\n'),
  );
  return `# Import table

A test writes this page and reads each of its ${count} files (\`test/market/importTable.test.ts\`). "Read" means that
every time, price and volume of the import equals those that the file was made of. "Refused" means that nothing is
imported, that the message names the options after "then", and that the same values are read when they are given.
[market-data.md](market-data.md) describes the options.

${tables.join('\n\n')}
`;
};

it('docs/imports.md lists these shapes', () => {
  const text = page();
  if (process.env.UPDATE_DOCS) writeFileSync(PAGE, text);
  expect(readFileSync(PAGE, 'utf8')).toBe(text);
});

it('no two shapes have the same name', () => {
  const names = SECTIONS.flatMap(({ title, shapes }) => shapes.map(({ shape }) => `${title}: ${shape}`));
  expect(new Set(names).size).toBe(names.length);
});
