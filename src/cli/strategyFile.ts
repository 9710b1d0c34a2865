// Strategy files: a StrategyAst, a SignalGraph, or a whole request body as JSON, read into the members of a request.
import { readFile } from 'node:fs/promises';
import { CommandError, UsageError } from './output.ts';

type Json = Readonly<Record<string, unknown>>;
export interface StrategyFile {
  readonly strategyAst?: Json;
  readonly signalGraph?: Json;
  readonly settings?: Json;
}

/**
 * What a file holds is told by its `protocol`, else by its members.
 * @throws UsageError when it is none of the three, CommandError when it is no JSON.
 */
export async function readStrategyFile(path: string): Promise<StrategyFile> {
  const content = await readJsonObject(path);
  if ('strategyAst' in content || 'signalGraph' in content) return content;
  if (content.protocol === 'svc.signal-graph' || 'nodes' in content) return { signalGraph: content };
  if (content.protocol === 'svc.strategy' || 'strategy' in content) return { strategyAst: content };
  throw new UsageError(`${path} is no StrategyAst, no SignalGraph and no request body that holds one.`);
}

/** @throws CommandError when the file holds no JSON object; errors of reading it as they are. */
export async function readJsonObject(path: string): Promise<Json> {
  const text = await readFile(path, 'utf8');
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${path} is no JSON: ${(error as Error).message}.`, 'MALFORMED_JSON');
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content as Json;
  throw new CommandError(`${path} holds no JSON object.`, 'MALFORMED_JSON');
}
