// Strategy files: a StrategyAst, a SignalGraph, or a whole request body as JSON, read as the members of a request.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { duplicateMembers } from '../api/http/duplicateMembers.ts';
import { isMembers } from '../engine/index.ts';
import { CommandError } from './output.ts';

type Json = Readonly<Record<string, unknown>>;
interface StrategyFile {
  readonly strategyAst?: Json;
  readonly signalGraph?: Json;
  readonly settings?: Json;
  /** The name in a request body, not checked yet. */
  readonly name?: unknown;
}

export interface StrategyOptions {
  readonly strategy: string;
  readonly settings?: string;
}

/** Adds `--strategy` and `--settings`, which `readPayloads` reads. */
export const withStrategyOptions = (command: Command): Command =>
  command
    .requiredOption('--strategy <file>', 'a StrategyAst, a SignalGraph, or a request body with either')
    .option('--settings <file>', 'settings; default: those of the request body, else none');

/** The strategy of the command line, with the settings it is checked with. */
export async function readPayloads({
  strategy,
  settings,
}: StrategyOptions): Promise<StrategyFile & { readonly settings: Json }> {
  const payloads = await readStrategyFile(strategy);
  return { ...payloads, settings: settings === undefined ? (payloads.settings ?? {}) : await readJsonObject(settings) };
}

/**
 * The `protocol` says what a file holds; without one, its members decide.
 * @throws CommandError when it is none of the three, or not valid JSON.
 */
async function readStrategyFile(path: string): Promise<StrategyFile> {
  const content = await readJsonObject(path);
  if ('strategyAst' in content || 'signalGraph' in content) return withoutNulls(content);
  if (content.protocol === 'svc.signal-graph' || 'nodes' in content) return { signalGraph: content };
  if (content.protocol === 'svc.strategy' || 'strategy' in content) return { strategyAst: content };
  const hint =
    'signalInstrument' in content || 'config' in content ? ' It looks like a config: give it as --config.' : '';
  throw new CommandError(
    `${path} is neither a StrategyAst, nor a SignalGraph, nor a request body with one of them.${hint}`,
    'STRATEGY_INVALID',
  );
}

/** The API answers null for a payload that was not sent, so null counts as absent. */
const withoutNulls = (content: Json): StrategyFile =>
  Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null));

/** @throws CommandError when the file is not a JSON object; the errors of reading it are passed on. */
export async function readJsonObject(path: string): Promise<Json> {
  const text = await readText(path);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${path} is not valid JSON: ${(error as Error).message}.`, 'MALFORMED_JSON');
  }
  const [repeated] = duplicateMembers(text);
  if (repeated !== undefined) {
    const message = `${path}: ${repeated.message} Keep one of them, at ${repeated.path}.`;
    throw new CommandError(message, 'MALFORMED_JSON');
  }
  if (isMembers(content)) return content;
  throw new CommandError(`${path} is not a JSON object.`, 'MALFORMED_JSON');
}

/** Without the byte order mark that editors on Windows write. */
async function readText(path: string): Promise<string> {
  // The error for a folder does not name it.
  const bytes = await readFile(path).catch((error: unknown) => Promise.reject(Object.assign(error as Error, { path })));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError(`${path} is not text in UTF-8. Save it as JSON in UTF-8.`, 'MALFORMED_JSON');
  }
}
