// Issues: the faults a schema found in an envelope, in the same words and shape as the faults found inside a strategy.
import { constraintAdvice, dimensionFaults, nearestName, pointerTo } from '../../engine/index.ts';
import type { core } from 'zod';
import { problem, type ProblemError, type ProblemIssue } from './problems.ts';

/** An answer lists at most this many issues; more would only repeat them. */
const MAX_ISSUES = 100;

/**
 * @param root goes before each path: '' for the body, `/query` for query parameters
 * @param sent what was checked
 * @param names its members; an unknown member may be a misspelling of one of them
 */
export function issuesOfZod(
  issues: readonly core.$ZodIssue[],
  root = '',
  sent?: unknown,
  names: readonly string[] = [],
): ProblemIssue[] {
  if (root === '' && Array.isArray(sent) && names.includes('items')) return [bareList()];
  const found = withoutEchoes(issues).flatMap((issue) => issuesOfOne(issue, root, sent));
  const lists = listsMissing(issues, root);
  const missed = found.filter(({ code }) => code === 'MISSING_FIELD').map(({ path }) => path);
  const known = [...missed, ...names.map((name) => `${root}/${name}`)];
  return found
    .slice(0, MAX_ISSUES)
    .map((issue) => (issue.code === 'UNKNOWN_FIELD' ? asMisspelled(issue, known, lists, sent) : issue));
}

/** Agents send the items of a batch without the object that holds them. */
const bareList = (): ProblemIssue => ({
  ...faultAt([], '', 'TYPE_MISMATCH', 'The body must be an object, not a list.'),
  suggestion: 'Put the list into an object, as its member "items": {"items": […]}.',
});

/** The paths of the lists that are missing. */
const listsMissing = (issues: readonly core.$ZodIssue[], root: string): string[] =>
  issues
    .filter((issue) => issue.code === 'invalid_type' && issue.expected === 'array' && isAbsent(issue))
    .map(({ path }) => pointerTo(root, ...path.map(String)));

/**
 * An unknown member may be another one of the same object, misspelled, or a list under another name.
 * @param known the paths of members
 * @param lists the paths of the lists that are missing
 */
function asMisspelled(
  issue: ProblemIssue,
  known: readonly string[],
  lists: readonly string[],
  sent: unknown,
): ProblemIssue {
  const [owner, name] = split(issue.path);
  const [list, ...otherLists] = lists.map(split).filter(([place]) => place === owner);
  if (list !== undefined && otherLists.length === 0 && owner === '' && Array.isArray(valueAt(sent, [name])))
    return { ...issue, message: issue.message.replace('; remove it', ''), suggestion: `Name this list "${list[1]}".` };
  if (issue.path === '/matrix' && known.includes('/items'))
    return { ...issue, suggestion: 'Send its members to POST /public/v1/backtests/matrix.' };
  if (issue.path === '/items' && known.includes('/strategyVersionId'))
    return { ...issue, suggestion: 'Send several backtests to POST /public/v1/backtests/batch.' };
  const names = known
    .map(split)
    .filter(([place]) => place === owner)
    .map(([, one]) => one);
  const meant = nearestName(name, names);
  if (meant === undefined) return issue;
  const message = issue.message.replace('; remove it', '');
  return { ...issue, message, suggestion: `Did you mean "${meant.name}"?` };
}

/** The place of an object and the name of its member. */
const split = (path: string): readonly [owner: string, name: string] => {
  const at = path.lastIndexOf('/');
  return [path.slice(0, at), path.slice(at + 1)];
};

/** Without the other faults of a value that has the wrong type, such as its length. */
function withoutEchoes(issues: readonly core.$ZodIssue[]): readonly core.$ZodIssue[] {
  const placeOf = ({ path }: core.$ZodIssue): string => pointerTo('', ...path.map(String));
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(placeOf));
  return issues.filter((issue) => issue.code === 'invalid_type' || !mistyped.has(placeOf(issue)));
}

/** Refuses a query parameter that the schema allows, but not what is asked for. */
export function queryRefused(field: string, message: string): ProblemError {
  const issue = { code: 'OUT_OF_RANGE', path: `/query/${field}`, field, severity: 'error', message };
  return problem('VALIDATION_FAILED', { message, issues: [issue] });
}

function issuesOfOne(issue: core.$ZodIssue, root: string, sent: unknown): ProblemIssue[] {
  const ofDimension = root === '' ? dimensionIssues(issue, sent) : [];
  if (ofDimension.length > 0) return ofDimension;
  if (issue.code === 'unrecognized_keys') return unknownMembers(issue, root);
  const isUnexplained = issue.code === 'invalid_union' && issue.message === 'Invalid input';
  if (isUnexplained && issue.errors.length > 0)
    return nearestBranch(issue.errors).flatMap((each) =>
      issuesOfOne({ ...each, path: [...issue.path, ...each.path] }, root, sent),
    );
  return [issueOfValue(issue, root, sent)];
}

/** A dimension of a sweep's space has a reader of its own, which says more than its schema. */
function dimensionIssues({ path: place }: core.$ZodIssue, sent: unknown): ProblemIssue[] {
  if (place[0] !== 'space' || place.length !== 2) return [];
  return dimensionFaults(String(place[1]), valueAt(sent, place)).map(({ code, path, message, ...advice }) => ({
    ...faultAt([...place, ...path], '', code, message),
    ...advice,
  }));
}

function unknownMembers({ path, keys }: core.$ZodIssueUnrecognizedKeys, root: string): ProblemIssue[] {
  const what = root === '/query' ? 'query parameter' : 'member';
  return keys
    .slice(0, MAX_ISSUES)
    .map((key) => faultAt([...path, key], root, 'UNKNOWN_FIELD', `Unknown ${what} "${key}"; remove it.`));
}

/** The author most likely meant a branch that takes a value of this type, and of these the one with fewest faults. */
function nearestBranch(branches: readonly (readonly core.$ZodIssue[])[]): readonly core.$ZodIssue[] {
  const isOtherType = (branch: readonly core.$ZodIssue[]): boolean =>
    branch.some(({ code, path }) => path.length === 0 && code !== 'unrecognized_keys');
  const [nearest] = branches.toSorted((a, b) => Number(isOtherType(a)) - Number(isOtherType(b)) || a.length - b.length);
  return nearest;
}

/** The fault of one value, with the advice that suits what was sent. */
function issueOfValue(issue: core.$ZodIssue, root: string, sent: unknown): ProblemIssue {
  const [owner, member] = issue.path;
  const faultOf = (code: string, message: string): ProblemIssue => faultAt(issue.path, root, code, message);
  if (root === '' && owner === 'constraints' && typeof member === 'number') {
    const isWhole = issue.path.length === 2 || issue.path[2] === 'op';
    const advice = isWhole ? constraintAdvice(member, valueAt(sent, issue.path.slice(0, 2))) : undefined;
    if (advice !== undefined) return { ...faultOf(codeOf(issue), messageOf(issue, root)), ...advice };
  }
  const given = valueAt(sent, issue.path);
  if (root === '/query' && Array.isArray(given)) {
    const fault = faultOf('DUPLICATE_MEMBER', `${nameOf(issue.path)} is given more than once.`);
    return { ...fault, suggestion: 'Keep one of them.' };
  }
  if (issue.code === 'invalid_value' && sent !== undefined && given === undefined) {
    const suggestion = `Use ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}.`;
    return { ...faultOf('MISSING_FIELD', missing(issue.path, root)), suggestion };
  }
  const misspelled = misspelledName(issue, given);
  if (misspelled !== undefined) {
    const message = `${nameOf(issue.path)} cannot be ${JSON.stringify(misspelled.given)}.`;
    return { ...faultOf(codeOf(issue), message), suggestion: `Did you mean "${misspelled.meant}"?` };
  }
  const fault = faultOf(codeOf(issue), messageOf(issue, root));
  const suggestion = isAbsent(issue) ? MISSING_ADVICE[String(issue.path.at(-1))] : formAdvice(issue, given);
  if (suggestion === undefined) return fault;
  const patch =
    isAbsent(issue) && fault.field === 'settings' ? [{ op: 'add', path: fault.path, value: {} }] : undefined;
  return { ...fault, suggestion, ...(patch !== undefined && { patch }) };
}

/** A value that is none of those allowed, but near to one; a list of all of them would hide that one. */
function misspelledName(issue: core.$ZodIssue, given: unknown): { given: string; meant: string } | undefined {
  if (issue.code !== 'invalid_value' || typeof given !== 'string') return undefined;
  // In an order of sorting, a leading minus is not part of the name.
  const names = issue.values.map(String).filter((name) => name.startsWith('-') === given.startsWith('-'));
  const nearest = nearestName(given, names);
  return nearest && { given, meant: nearest.name };
}

const valueAt = (sent: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((part, name) => (part as Record<PropertyKey, unknown> | null | undefined)?.[name], sent);

/** What to write for a value of the wrong type, where its type alone says too little. */
function formAdvice(issue: core.$ZodIssue, given: unknown): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.expected === 'array' && typeof given === 'string' && given.length <= MAX_WRITTEN)
    return `Put it into a list: ${JSON.stringify([given])}.`;
  return issue.path.length === 2 ? FORM_ADVICE[String(issue.path[0])] : undefined;
}
const MAX_WRITTEN = 160;
/** What items of the lists and maps look like, by the name of the member that holds them. */
const FORM_ADVICE: Readonly<Record<string, string>> = {
  constraints: 'Give an object, such as {"left": "fast", "op": "lt", "right": "slow"}.',
};

/** What to send for required members whose names say too little. */
const MISSING_ADVICE: Readonly<Record<string, string>> = {
  settings: 'Send {} for the defaults.',
  items: 'Send a list of {"strategyVersionId": …, "config": {…}}.',
};

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

/** The fault as a sentence about the member, in our words instead of zod's. */
function messageOf(issue: core.$ZodIssue, root: string): string {
  if (isAbsent(issue)) return missing(issue.path, root);
  const what = issue.path.length === 0 ? `The ${wholeAt(root)}` : nameOf(issue.path);
  if (issue.message.startsWith('must ')) return `${what} ${issue.message}.`;
  return issue.code === 'custom' ? issue.message : `${what} ${requirementOf(issue)}.`;
}

const wholeAt = (root: string): string => (root === '' ? 'body' : 'item');

const missing = (path: readonly PropertyKey[], root: string): string =>
  path.length === 0
    ? `Missing ${wholeAt(root)}.`
    : `Missing ${root === '/query' ? 'query parameter' : 'member'} "${String(path.at(-1))}".`;

/** `"analyses[0]"` for the first item of a list. */
const nameOf = (path: readonly PropertyKey[]): string =>
  typeof path.at(-1) === 'number'
    ? `"${String(path.at(-2) ?? '')}[${String(path.at(-1))}]"`
    : `"${String(path.at(-1))}"`;

function requirementOf(issue: core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return `must ${boundOf(issue.inclusive === false ? 'below' : 'at most', issue.maximum, issue.origin)}`;
    case 'too_small':
      return `must ${boundOf(issue.inclusive === false ? 'above' : 'at least', issue.minimum, issue.origin)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? `is not valid: ${issue.message}`;
    default:
      return `is not valid: ${issue.message}`;
  }
}

function boundOf(bound: string, value: number | bigint, origin: string): string {
  const unit = origin === 'string' ? 'character' : origin === 'array' ? 'item' : undefined;
  return unit === undefined
    ? `be ${bound} ${value}`
    : `have ${bound} ${value} ${unit}${Number(value) === 1 ? '' : 's'}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};
const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be an ISO 8601 time with its zone, such as 2026-01-31T00:00:00Z',
  uuid: 'must be an id (a UUID)',
};

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
