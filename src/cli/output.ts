// What commands print: tables on a terminal, tab-separated lines in a pipe, JSON for programs, and failures.
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { describeUnreachable } from '../db/sqlErrors.ts';
import { serveCommandWith } from './invocation.ts';

/** The command line is wrong: exit code 2. The message says what is wrong and what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: string;
  constructor(message: string, code = 'USAGE') {
    super(message);
    this.code = code;
  }
}

/**
 * The command line is right and the command failed: exit code 1. The message says what failed, where, and what to do.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;
  constructor(message: string, code = 'FAILED') {
    super(message);
    this.code = code;
  }
}

/** The error of an input whose faults are listed, one on each line. */
export function refusal(
  code: string,
  what: string,
  faults: readonly { readonly path: string; readonly message: string; readonly suggestion?: string }[],
): CommandError {
  const lines = faults.map(
    ({ path, message, suggestion }) => `  ${path}: ${message}${suggestion ? ` (${suggestion})` : ''}`,
  );
  return new CommandError(`${what}:\n${lines.join('\n')}`, code);
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

interface TableColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Numbers are easiest to read when aligned to the right. */
  readonly align?: 'left' | 'right';
}

/**
 * On a terminal, aligned and with titles; in a pipe, one line per row, tab-separated and without titles, for cut and
 * awk.
 * @param isTitled with titles in a pipe too, for tables whose columns differ from call to call
 */
export function printTable<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[], isTitled = false): void {
  if (isTitled && !process.stdout.isTTY) printLine(columns.map(({ title }) => asField(title)).join('\t'));
  process.stdout.write(formatTable(columns, rows, process.stdout.isTTY));
}

/** Aligned columns with titles for a terminal; else lines of cells with tabs between them, without titles. */
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

/** Replaces tabs and line breaks, which would split the cell. */
function asField(cell: string): string {
  return cell.replaceAll(/[\t\r\n]+/g, ' ');
}

/**
 * Prints what went wrong on stderr (as JSON when the command was asked for JSON).
 * @returns the exit code: 2 for a wrong command line, 1 for anything else.
 */
export function reportFailure(error: unknown, isJson: boolean): 1 | 2 {
  const { name, message, code } = asFailure(error);
  const isUsage = name === 'UsageError' || name === 'ConfigError';
  if (isJson) process.stderr.write(`${JSON.stringify({ error: { code, message } })}\n`);
  else process.stderr.write(`${styleText('red', 'error:', { stream: process.stderr })} ${message}\n`);
  return isUsage ? 2 : 1;
}

/** Names of errors whose message is written for the user. Any other error is printed with its stack. */
const EXPECTED = new Set([
  'ApiStartError',
  'UsageError',
  'ConfigError',
  'CommandError',
  'DatabaseVersionError',
  'EmbeddedDatabaseError',
  'EmbeddedPackageError',
  'FolderError',
  'ProblemError',
  'MarketDataError',
  'SourceError',
]);

function asFailure(error: unknown): { name: string; message: string; code: string } {
  if (!(error instanceof Error)) return { name: '', message: String(error), code: 'FAILED' };
  const { code } = error as { code?: unknown };
  const message = EXPECTED.has(error.name)
    ? error.message
    : (describeSystemError(error) ?? error.stack ?? error.message);
  return { name: error.name, message, code: typeof code === 'string' ? code : 'FAILED' };
}

/** Describes a failure of files, network or database as a sentence; undefined for any other error. */
function describeSystemError(error: Error): string | undefined {
  const { code, address, port, path } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  switch (code) {
    case 'ENOENT':
      return path === undefined ? describeUnreachable(error) : `There is no file ${path}. Check the path.`;
    case 'EISDIR':
      return `${path ?? 'A path'} is a folder, not a file. Name a file.`;
    case 'ENOTDIR':
      return `A folder on the way to ${path} is a file. Check the path.`;
    case 'ENOSPC':
      return `The disk is full${path === undefined ? '' : `: ${path} could not be written`}. Free some space.`;
    case 'EROFS':
      return `${path ?? 'The file'} is on a read-only file system. Choose another place.`;
    case 'EPERM':
    case 'EACCES':
      return `Permission denied: ${path ?? address ?? 'a file'}. Check its permissions.`;
    case 'EADDRINUSE':
      return (
        `Port ${port} of ${address} is in use. Choose another one, or let a free one be found: ` +
        serveCommandWith('--port 0', process.argv[2])
      );
    case '28P01':
    case '28000':
    case '3D000':
      return `Postgres refused the connection: ${error.message}. Check DATABASE_URL.`;
    default:
      return describeUnreachable(error);
  }
}

/** A fraction in percent, or a dash if there is none. */
export const percent = (fraction: number | null | undefined): string =>
  typeof fraction === 'number' ? `${(100 * fraction).toFixed(2)} %` : '–';
