// Issues: the faults a schema found in an envelope, in the same words and shape as the faults found inside a strategy.
import { pointerTo } from '../../engine/index.ts';
import type { core } from 'zod';
import { problem, type ProblemError, type ProblemIssue } from './problems.ts';

/** A body cannot buy more than this many issues; the rest would only repeat them. */
const MAX_ISSUES = 100;

/** `root` goes before each path: '' for the body, `/query` for query parameters. */
export function issuesOfZod(issues: readonly core.$ZodIssue[], root = ''): ProblemIssue[] {
  return issues.flatMap((issue) => issuesOfOne(issue, root)).slice(0, MAX_ISSUES);
}

/** For a query parameter that its schema allows, and what is asked for does not. */
export function queryRefused(field: string, message: string): ProblemError {
  const issue = { code: 'OUT_OF_RANGE', path: `/query/${field}`, field, severity: 'error', message };
  return problem('VALIDATION_FAILED', { message, issues: [issue] });
}

function issuesOfOne(issue: core.$ZodIssue, root: string): ProblemIssue[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, MAX_ISSUES).map((key) => {
      const what = root === '/query' ? 'query parameter' : 'member';
      return faultAt([...issue.path, key], root, 'UNKNOWN_FIELD', `Unknown ${what} "${key}"; remove it.`);
    });
  const isUnexplained = issue.code === 'invalid_union' && issue.message === 'Invalid input';
  if (isUnexplained && issue.errors.length > 0) {
    // The branch with the fewest faults is the one the author most likely meant.
    const nearest = issue.errors.toSorted((a, b) => a.length - b.length)[0];
    return nearest.flatMap((each) => issuesOfOne({ ...each, path: [...issue.path, ...each.path] }, root));
  }
  return [faultAt(issue.path, root, codeOf(issue), messageOf(issue))];
}

/** A request without a body has the body null. */
const isAbsent = (issue: core.$ZodIssue): boolean =>
  issue.code === 'invalid_type' &&
  issue.message.endsWith(issue.path.length === 0 ? 'received null' : 'received undefined');

function codeOf(issue: core.$ZodIssue): string {
  if (isAbsent(issue)) return 'MISSING_FIELD';
  if (issue.code === 'custom') return typeof issue.params?.code === 'string' ? issue.params.code : 'TYPE_MISMATCH';
  const isBound = issue.code === 'too_small' || issue.code === 'too_big' || issue.code === 'invalid_value';
  return isBound || issue.code === 'not_multiple_of' ? 'OUT_OF_RANGE' : 'TYPE_MISMATCH';
}

function messageOf(issue: core.$ZodIssue): string {
  const name = issue.path.at(-1);
  const what = name === undefined ? 'the body' : `"${String(name)}"`;
  if (isAbsent(issue))
    return `Missing ${name === undefined ? 'body' : 'member'} ${name === undefined ? '' : what}`.trim() + '.';
  return issue.code === 'custom' ? issue.message : `${issue.message} (${what})`;
}

/** An RFC 6901 pointer; `field` is the top-level member concerned. */
function faultAt(path: readonly PropertyKey[], root: string, code: string, message: string): ProblemIssue {
  return {
    code,
    path: pointerTo(root, ...path.map(String)),
    field: path.length > 0 ? String(path[0]) : '',
    severity: 'error',
    message,
  };
}
