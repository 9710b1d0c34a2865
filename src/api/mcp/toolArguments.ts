// Arguments of tools: their schema as clients see it, and how they are read from what a client sent. What belongs to
// the body of a request is left to the API, which explains every fault with its remedy.
import { fromJsonSchema, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { pointerTo } from '../../engine/index.ts';
import { duplicateMembers } from '../http/duplicateMembers.ts';
import { issuesOfZod } from '../http/envelopeIssues.ts';
import type { ProblemIssue } from '../http/problems.ts';
import type { ToolArguments } from './tool.ts';

const API_CHECKED = new WeakSet<z.core.$ZodType>();

/** Members of a request's body as arguments: they are passed on even where they are wrong. */
export function bodyMembers<Shape extends z.ZodRawShape>(shape: Shape): Shape {
  for (const member of Object.values(shape)) API_CHECKED.add(member);
  return shape;
}

type ListedSchema = Parameters<typeof fromJsonSchema>[0];
/** Made once: every request has a server of its own. */
const listed = new WeakMap<z.ZodObject, StandardSchemaWithJSON>();

/** What a tool lists. Validates nothing: `readArguments` does, in the words of the API. */
export function listedSchema(input: z.ZodObject): StandardSchemaWithJSON {
  const known = listed.get(input);
  if (known !== undefined) return known;
  // Two types of the same JSON, by two libraries.
  const json = z.toJSONSchema(input, { io: 'input', override: replaceByOverride }) as ListedSchema;
  const schema = fromJsonSchema(json, {
    getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
  });
  listed.set(input, schema);
  return schema;
}

/** Replaces the patterns of dates, which nobody can read, by their short form in `override`, as in OpenAPI. */
function replaceByOverride({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (typeof jsonSchema.override !== 'object') return;
  const { override, ...others } = jsonSchema;
  Object.assign(jsonSchema, others, override);
  delete jsonSchema.override;
}

type ReadArguments = { readonly args: ToolArguments } | { readonly issues: readonly ProblemIssue[] };

/** Reads the arguments of a tool. Where a string was sent in place of another type, it is parsed as JSON. */
export function readArguments(input: z.ZodObject, sent: unknown): ReadArguments {
  let value = sent;
  let parsed = input.safeParse(value);
  let issues: readonly ProblemIssue[] = [];
  for (let round = 0; !parsed.success && issues.length === 0 && round < MAX_ROUNDS; round++) {
    const read = readStrings(value, parsed.error.issues);
    issues = read.issues;
    if (read.value === value) break;
    value = read.value;
    parsed = input.safeParse(value);
  }
  if (parsed.success && issues.length === 0) return { args: parsed.data };
  const all = [...issues, ...issuesOfTool(input, value, parsed.error?.issues ?? [])];
  return all.length > 0 ? { issues: all } : { args: validOrAsSent(input, value as ToolArguments) };
}

/** The faults that the API would not see, because the members are the tool's own. */
function issuesOfTool(input: z.ZodObject, value: unknown, faults: readonly z.core.$ZodIssue[]): ProblemIssue[] {
  const own = faults.filter(({ path: [name] }) => !API_CHECKED.has(input.shape[String(name)]));
  const names = Object.keys(input.shape);
  return issuesOfZod(own, '', value, names).map((issue) => asArgument(issue, names));
}

/** Each argument as its schema reads it, with its default; one that is wrong is passed on as it was sent. */
function validOrAsSent(input: z.ZodObject, sent: ToolArguments): ToolArguments {
  const members = Object.entries(input.shape).map(([name, schema]) => {
    const { data: read = sent[name] } = z.safeParse(schema, sent[name]);
    return [name, read] as const;
  });
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

/** A list, its items and their objects may each be strings. */
const MAX_ROUNDS = 3;

/** Agents often write an object as a string. */
function readStrings(sent: unknown, faults: readonly z.core.$ZodIssue[]): { value: unknown; issues: ProblemIssue[] } {
  let value = sent;
  const issues: ProblemIssue[] = [];
  for (const { code, path } of faults) {
    const text = code === 'invalid_type' ? memberAt(value, path) : undefined;
    if (typeof text !== 'string') continue;
    try {
      const member: unknown = JSON.parse(text);
      const repeated = duplicateMembers(text, pointerTo('', ...path.map(String)));
      for (const issue of repeated) issues.push(issue);
      if (repeated.length === 0) value = withMember(value, path, member);
    } catch (error) {
      // Another string was not meant to be JSON.
      if (/^\s*[[{]/.test(text)) issues.push(notJson(path, (error as Error).message));
    }
  }
  return { value, issues };
}

function notJson(path: readonly PropertyKey[], reason: string): ProblemIssue {
  return {
    code: 'TYPE_MISMATCH',
    path: `/${path.map(String).join('/')}`,
    field: String(path[0]),
    severity: 'error',
    message: `"${String(path.at(-1))}" is a string that is not valid JSON: ${reason}.`,
    suggestion: 'Send the object itself, not a string of it.',
  };
}

const memberAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((part, name) => (part as Readonly<Record<PropertyKey, unknown>>)[name], value);

/** A copy with `member` at `path`. */
function withMember(value: unknown, path: readonly PropertyKey[], member: unknown): unknown {
  if (path.length === 0) return member;
  const [name, ...rest] = path;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<PropertyKey, unknown>;
  copy[name] = withMember(copy[name], rest, member);
  return copy;
}

/** An unknown member is an argument here; unless it is near to one of the names, all of them are listed. */
function asArgument(issue: ProblemIssue, names: readonly string[]): ProblemIssue {
  if (issue.code !== 'UNKNOWN_FIELD') return issue;
  const suggestion = issue.suggestion ?? `The arguments are ${names.join(', ')}.`;
  return { ...issue, message: `Unknown argument "${issue.field}".`, suggestion };
}
