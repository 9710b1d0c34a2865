// What commands print: tables on a terminal, tab-separated lines in a pipe, JSON for programs; and how they fail.
import { styleText } from 'node:util';
import type { Command } from 'commander';

/** The command was called wrongly: exit code 2. The message says what was wrong and what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command was called rightly and failed: exit code 1. The message says what failed, where, and the way out. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;
  constructor(message: string, code = 'FAILED') {
    super(message);
    this.code = code;
  }
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON for programs');
}

/** One JSON value on one line of stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

export type TableColumn<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Numbers read best from the right. */
  readonly align?: 'left' | 'right';
};

/** On a terminal with titles and aligned; in a pipe one line a row, tab-separated, without titles, for cut and awk. */
export function printTable<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): void {
  process.stdout.write(formatTable(columns, rows, process.stdout.isTTY));
}

export function formatTable<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  isTerminal: boolean,
): string {
  const cells = rows.map((row) => columns.map((column) => String(column.value(row) ?? (isTerminal ? '–' : ''))));
  if (!isTerminal) return cells.map((line) => `${line.map(asField).join('\t')}\n`).join('');
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => line[index].length)),
  );
  const format = (line: readonly string[]): string =>
    line
      .map((cell, index) =>
        columns[index].align === 'right' ? cell.padStart(widths[index]) : cell.padEnd(widths[index]),
      )
      .join('  ')
      .trimEnd();
  const titles = styleText('bold', format(columns.map((column) => column.title)));
  return `${[titles, ...cells.map(format)].join('\n')}\n`;
}

/** A tab or line break inside a cell would make two of it. */
function asField(cell: string): string {
  return cell.replaceAll(/[\t\r\n]+/g, ' ');
}

/**
 * Prints what went wrong on stderr (as JSON when the command was asked for JSON).
 * @returns the exit code: 2 for a wrong call, 1 for anything else.
 */
export function reportFailure(error: unknown, isJson: boolean): 1 | 2 {
  const { name, message, code } = asFailure(error);
  const isUsage = name === 'UsageError' || name === 'ConfigError';
  if (isJson) process.stderr.write(`${JSON.stringify({ error: { code: isUsage ? 'USAGE' : code, message } })}\n`);
  else process.stderr.write(`${styleText('red', 'error:', { stream: process.stderr })} ${message}\n`);
  return isUsage ? 2 : 1;
}

/** The errors whose message is written for the person at the keyboard; of any other the place matters as well. */
const SPOKEN = new Set([
  'UsageError',
  'ConfigError',
  'CommandError',
  'EmbeddedDatabaseError',
  'ProblemError',
  'MarketDataError',
]);

function asFailure(error: unknown): { name: string; message: string; code: string } {
  if (!(error instanceof Error)) return { name: '', message: String(error), code: 'FAILED' };
  const { code } = error as { code?: unknown };
  const message = SPOKEN.has(error.name) ? error.message : (describeSystemError(error) ?? error.stack ?? error.message);
  return { name: error.name, message, code: typeof code === 'string' ? code : 'FAILED' };
}

/** Failures of the surroundings, in words; undefined when it is none of them. */
function describeSystemError(error: Error): string | undefined {
  const { code, address, port, path } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  switch (code) {
    case 'ENOENT':
      return path === undefined ? undefined : `No such file: ${path}. Check the path.`;
    case 'EACCES':
      return `Not allowed to open ${path ?? address ?? 'a file'}. Check its permissions.`;
    case 'EADDRINUSE':
      return `Port ${port} of ${address} is in use. Choose another with --port, or --port 0 for a free one.`;
    case 'ECONNREFUSED':
      return `Nothing answers at ${address ?? path ?? 'DATABASE_URL'}${port === undefined ? '' : `:${port}`}. Is the database running, and DATABASE_URL right?`;
    case 'ENOTFOUND':
      return `The host of DATABASE_URL cannot be found (${error.message}).`;
    case '28P01':
    case '28000':
    case '3D000':
      return `Postgres refused the connection: ${error.message}. Check DATABASE_URL.`;
    default:
      return undefined;
  }
}
