// The options of `backtest` that write artifacts: one per artifact, whose format is the extension of the file.
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { ARTIFACT_NAMES, buildArtifact, FORMATS_OF, PORTFOLIO_ARTIFACT_NAMES } from '../engine/index.ts';
import type {
  ArtifactFormat,
  ArtifactName,
  BacktestTask,
  Market,
  Universe,
  ReportHeading,
  RunControl,
} from '../engine/index.ts';
import { CommandError } from './output.ts';
import type { OutputFile } from './outputFiles.ts';

/** Feather version 2 is the Arrow file format under another name. */
const EXTENSIONS: Readonly<Record<ArtifactFormat, readonly string[]>> = {
  csv: ['.csv'],
  json: ['.json'],
  arrow: ['.arrow', '.feather'],
  html: ['.html'],
};
const NAMES: readonly ArtifactName[] = [...ARTIFACT_NAMES, ...PORTFOLIO_ARTIFACT_NAMES];
const CONTENT: Readonly<Record<ArtifactName, string>> = {
  report: 'the report, a page that needs no network',
  trades: 'the trades, one row per exit',
  equity: 'the equity, one row per bar',
  orders: 'the orders, filled or not',
  signals: 'what the rules signaled, one row per bar',
  weights: 'the weight of each instrument of a portfolio, one row per instant',
  instruments: 'what each instrument of a portfolio earned, one row per instrument',
};

/** A run that nothing stops: Ctrl-C ends the whole process. */
const UNCONTROLLED: RunControl = { isCancelled: () => false, report: () => {} };

interface ArtifactFile {
  readonly path: string;
  readonly format: ArtifactFormat;
}
export type ArtifactOptions = Readonly<Partial<Record<ArtifactName, ArtifactFile>>>;

/** Adds `--report`, `--trades` and so on. */
export function withArtifactOptions(command: Command): Command {
  for (const name of NAMES) {
    const description = `write ${CONTENT[name]} (${extensionsOf(name).join(', ')})`;
    command.option(`--${name} <file>`, description, artifactFile(name));
  }
  return command;
}

const extensionsOf = (name: ArtifactName): string[] => FORMATS_OF[name].flatMap((format) => EXTENSIONS[format]);

function artifactFile(name: ArtifactName): (path: string) => ArtifactFile {
  return (path) => {
    const extension = extname(path).toLowerCase();
    const format = FORMATS_OF[name].find((each) => EXTENSIONS[each].includes(extension));
    if (format !== undefined) return { path, format };
    const extensions = extensionsOf(name).join(', ');
    throw new InvalidArgumentError(`The ${name} can be written as ${extensions}. Use one of these file extensions.`);
  };
}

/** The paths of all files that were asked for. */
export const artifactPaths = (options: ArtifactOptions): string[] => NAMES.flatMap((name) => options[name]?.path ?? []);

/** The contents of every file that was asked for. */
export function makeArtifacts(
  options: ArtifactOptions,
  task: BacktestTask,
  market: Market | Universe,
  heading: ReportHeading,
): OutputFile[] {
  return NAMES.flatMap((name) => {
    const file = options[name];
    if (file === undefined) return [];
    const pieces: Uint8Array[] = [];
    const write = (piece: Uint8Array): void => void pieces.push(piece.slice());
    const made = buildArtifact(task, market, UNCONTROLLED, { name, format: file.format, heading }, write);
    if (!made.ok) throw new CommandError(made.error.message, made.error.code);
    return { path: file.path, content: Readable.from(pieces, { objectMode: false }) };
  });
}
