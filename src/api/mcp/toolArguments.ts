// Arguments of tools: how they are read from what a client sent. What belongs to the body of a request is left to the
// API, which explains every fault with its remedy.
import { z } from 'zod';
import { pointerTo } from '../../engine/index.ts';
import { duplicateMembers } from '../http/duplicateMembers.ts';
import { issuesOfZod } from '../http/envelopeIssues.ts';
import { BODY_BOUNDS, exceededBound, type JsonBounds } from '../http/jsonBounds.ts';
import type { ProblemIssue } from '../http/problems.ts';
import type { ToolArguments } from './tool.ts';

/**
 * What a message may hold, and a string of it that is JSON. A message is read on the thread that answers everybody,
 * whatever its size: its tool may wait for a run, and the thread of heavy requests takes one request of a workspace at
 * a time. 1,000 items of a batch have 30,000 values.
 */
export const MESSAGE_BOUNDS: JsonBounds = { ...BODY_BOUNDS, values: 50_000, containers: 20_000 };

const API_CHECKED = new WeakSet<z.core.$ZodType>();

/** Members of a request's body as arguments: they are passed on even where they are wrong. */
export function bodyMembers<Shape extends z.ZodRawShape>(shape: Shape): Shape {
  for (const member of Object.values(shape)) API_CHECKED.add(member);
  return shape;
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

/** An answer lists at most this many; more would only repeat them. */
const MAX_ISSUES = 100;

/** Agents often write an object as a string. The arguments are copied once, however many strings they hold. */
function readStrings(sent: unknown, faults: readonly z.core.$ZodIssue[]): { value: unknown; issues: ProblemIssue[] } {
  let copy: unknown;
  const issues: ProblemIssue[] = [];
  for (const { code, path } of faults) {
    if (issues.length >= MAX_ISSUES) break;
    const text = code === 'invalid_type' ? memberAt(copy ?? sent, path) : undefined;
    if (typeof text !== 'string') continue;
    const place = pointerTo('', ...path.map(String));
    try {
      const excess = exceededBound(Buffer.from(text), MESSAGE_BOUNDS);
      const member: unknown = excess === null ? JSON.parse(text) : undefined;
      const faultsOfText =
        excess === null ? duplicateMembers(text, place) : [{ ...excess, path: `${place}${excess.path}` }];
      for (const issue of faultsOfText) issues.push(issue);
      if (faultsOfText.length === 0) copy = withMember(copy ?? structuredClone(sent), path, member);
    } catch (error) {
      // Another string was not meant to be JSON.
      if (/^\s*[[{]/.test(text)) issues.push(notJson(path, (error as Error).message));
    }
  }
  return { value: copy ?? sent, issues };
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

/** Puts `member` at `path` of `value`. @returns the value, or the member where the path is the value's own */
function withMember(value: unknown, path: readonly PropertyKey[], member: unknown): unknown {
  if (path.length === 0) return member;
  const owner = memberAt(value, path.slice(0, -1)) as Record<PropertyKey, unknown>;
  owner[path.at(-1)!] = member;
  return value;
}

/** An unknown member is an argument here; unless it is near to one of the names, all of them are listed. */
function asArgument(issue: ProblemIssue, names: readonly string[]): ProblemIssue {
  if (issue.code !== 'UNKNOWN_FIELD') return issue;
  const suggestion = issue.suggestion ?? `The arguments are ${names.join(', ')}.`;
  return { ...issue, message: `Unknown argument "${issue.field}".`, suggestion };
}
