// A tool: its schema, and how a call of it becomes calls of the public API.
import { z } from 'zod';
import { AGENT_BYTES } from '../http/detailQuery.ts';
import type { ApiAnswer, ApiRequest } from './apiCall.ts';

/** The path of the public API; tools name paths below it. */
const BASE = '/public/v1';

export type ToolArguments = Readonly<Record<string, unknown>>;

/** Which part of an answer is shown. */
export interface ShownPart {
  /** RFC 6901 pointer into the answer; '' is the whole. */
  readonly path: string;
  readonly maxBytes: number;
}

export interface ToolContext {
  readonly call: (request: ApiRequest) => Promise<ApiAnswer>;
  /** Tells the client how far a waiting call has come, as a fraction from 0 to 1. */
  readonly report: (fraction: number, message: string) => Promise<void>;
  readonly shown: ShownPart;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The arguments of `run`, and those of `ShownPart`, which every tool takes. */
  readonly input: z.ZodObject;
  /** Members that no answer shortens, and their types. Undefined: no structured content. */
  readonly output?: Readonly<Record<string, 'string' | 'boolean' | 'integer'>>;
  /** Changes nothing. */
  readonly isReadOnly: boolean;
  /** Deletes what cannot be made again. */
  readonly isDestructive: boolean;
  /** Calling it again with the same arguments changes nothing more. */
  readonly isIdempotent: boolean;
  readonly run: (args: ToolArguments, context: ToolContext) => Promise<ApiAnswer>;
}

/** The largest view that the API answers. */
export const MAX_BYTES = AGENT_BYTES.max;
/** No pointer into an answer is longer; where one leads is looked for name by name. */
const MAX_PATH = 2_000;
const SHOWN_PART = {
  path: z
    .string()
    .max(MAX_PATH)
    .regex(/^(\/.*)?$/, 'must be empty or begin with /')
    .default('')
    .describe('JSON pointer into the answer, to read a part that an earlier answer omitted. Default: the whole.'),
  maxBytes: z
    .int()
    .min(AGENT_BYTES.min)
    .max(MAX_BYTES)
    .default(AGENT_BYTES.default)
    .describe('Size limit of the answer.'),
};

/** A tool that only reads. */
export const readTool = (
  name: string,
  title: string,
  description: string,
  input: z.ZodRawShape,
  run: Tool['run'],
): Tool => ({
  name,
  title,
  description,
  input: z.strictObject({ ...input, ...SHOWN_PART }),
  isReadOnly: true,
  isDestructive: false,
  isIdempotent: true,
  run,
});

/** A tool that writes; repeatable only under an idempotency key, where `input` has one. */
export const writeTool = (...definition: Parameters<typeof readTool>): Tool => ({
  ...readTool(...definition),
  isReadOnly: false,
  isIdempotent: false,
});

/** The same tool with another default for the size of its answers. */
export const withMaxBytes = (tool: Tool, bytes: number): Tool => ({
  ...tool,
  input: tool.input.extend({ maxBytes: SHOWN_PART.maxBytes.unwrap().default(bytes) }),
});

/** The same tool with structured content, which has these members. */
export const answering = (output: NonNullable<Tool['output']>, tool: Tool): Tool => ({ ...tool, output });

/** A tool that answers a page of a list. */
export const listing = (tool: Tool): Tool => answering({}, tool);

/** The argument that a writeTool passes on as its request's header. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe('Makes the call safe to repeat: the same key gives the same answer for 24 hours.');

/** @param path below the public API's own */
export const get = (path: string): ApiRequest => ({ method: 'GET', path: BASE + path });

/** @param args the members of the body, and the idempotency key if there is one; without `args` there is no body */
export function post(path: string, args?: ToolArguments): ApiRequest {
  const request = { method: 'POST', path: BASE + path } as const;
  if (args === undefined) return request;
  const { idempotencyKey: key, ...body } = args;
  return { ...request, body, idempotencyKey: key as string | undefined };
}

/** @param path below the public API's own */
export const patch = (path: string, body: ToolArguments): ApiRequest => ({ method: 'PATCH', path: BASE + path, body });

/** @param path below the public API's own */
export const remove = (path: string): ApiRequest => ({ method: 'DELETE', path: BASE + path });

export const upload = (path: string, file: Uint8Array, key: unknown): ApiRequest => ({
  method: 'POST',
  path: BASE + path,
  file,
  idempotencyKey: key as string | undefined,
});

/** The query of a request: a list gives its parameter several times. */
export const queryOf = (args: ToolArguments): string =>
  Object.entries(args)
    .flatMap(([name, value]) => (Array.isArray(value) ? value.map((item: unknown) => [name, item]) : [[name, value]]))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${String(name)}=${segment(value)}`)
    .join('&');

/** A value as one segment of a path. */
export const segment = (value: unknown): string => encodeURIComponent(String(value));
