// Params: the values of a strategy that a run may set. Checks their declarations and resolves their values.
import type { Param } from '../grammar/ast.ts';
import { numericText, shown } from '../issues/displayNames.ts';
import type { IssueLog } from '../issues/issues.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { nearestName, suggestionFor } from '../issues/nearest.ts';
import { pointerTo } from '../pointer.ts';

type ParamValue = number | boolean | string;
export type GivenParams = Readonly<Record<string, ParamValue>>;

interface ParamIssue {
  readonly code: IssueCode;
  readonly message: string;
  /** The nearest value that the param can have, where that is clear. */
  readonly nearest?: ParamValue;
}

/** Why a param cannot have this value, as a predicate (`must be …`); undefined when it can. */
export function paramIssue(param: Param, value: ParamValue): ParamIssue | undefined {
  const { type, min, max, values } = param;
  if (type === 'bool') {
    if (typeof value === 'boolean') return undefined;
    const meant = value === 'true' || value === 1 ? true : value === 'false' || value === 0 ? false : undefined;
    return { code: 'TYPE_MISMATCH', message: 'must be true or false', ...(meant !== undefined && { nearest: meant }) };
  }
  if (values !== undefined && !values.includes(value)) {
    const near = typeof value === 'string' ? nearestName(value, values.map(String)) : undefined;
    const nearest = values.find((each) => String(each) === (near?.isCertain === true ? near.name : String(value)));
    const message = `must be one of ${values.join(', ')}, not ${shown(value)}`;
    return { code: 'OUT_OF_RANGE', message, ...(nearest !== undefined && { nearest }) };
  }
  if (type === 'choice') return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value) || (type === 'int' && !Number.isInteger(value))) {
    const numeric = typeof value === 'number' ? value : numericText(value);
    const nearest = numeric !== undefined && type === 'int' ? Math.round(numeric) : numeric;
    const message = `must be ${type === 'int' ? 'a whole number' : 'a number'}, not ${shown(value)}`;
    return { code: 'TYPE_MISMATCH', message, ...(Number.isFinite(nearest) && { nearest: nearest! }) };
  }
  if (value < (min ?? -Infinity) || value > (max ?? Infinity)) {
    const nearest = value < (min ?? -Infinity) ? min! : max!;
    return { code: 'OUT_OF_RANGE', message: `must be ${boundsText(min, max)}, not ${value}`, nearest };
  }
  return undefined;
}

/** `at least 3`, `at most 9`, `between 3 and 9`. */
function boundsText(min: number | undefined, max: number | undefined): string {
  if (max === undefined) return `at least ${min}`;
  return min === undefined ? `at most ${max}` : `between ${min} and ${max}`;
}

/** The value of every declared param: the given one, else its default. Issues have places under `/config/params`. */
export function resolveParams(declared: readonly Param[], given: GivenParams, log: IssueLog): Map<string, ParamValue> {
  const values = new Map<string, ParamValue>();
  const paramOf = new Map<string, Param>();
  for (const param of declared) {
    values.set(param.name, param.default);
    paramOf.set(param.name, param);
  }
  for (const name of Object.keys(given)) {
    const param = paramOf.get(name);
    const issue = param && paramIssue(param, given[name]);
    if (param === undefined) reportUndeclared(name, paramOf, given, log);
    else if (issue === undefined) values.set(name, given[name]);
    else reportUnfit(name, issue, log);
  }
  return values;
}

function reportUndeclared(name: string, declared: ReadonlyMap<string, Param>, given: GivenParams, log: IssueLog): void {
  const path = pointerTo('/config/params', name);
  // Comparing names takes time, and only the first hundred issues are kept.
  log.add('PARAM_UNDEFINED', path, () => {
    const names = [...declared.keys()];
    const nearest = nearestName(
      name,
      names.filter((one) => !Object.hasOwn(given, one)),
    );
    const target = nearest?.isCertain === true ? pointerTo('/config/params', nearest.name) : undefined;
    return {
      message: `The strategy does not declare a param ${shown(name)}.`,
      suggestion: names.length === 0 ? 'Remove it: the strategy has no params.' : suggestionFor(nearest, names),
      ...(target !== undefined && { patch: [{ op: 'move', from: path, path: target }] }),
      ...(names.length === 0 && { patch: [{ op: 'remove', path }] }),
    };
  });
}

function reportUnfit(name: string, issue: ParamIssue, log: IssueLog): void {
  const path = pointerTo('/config/params', name);
  log.add(issue.code, path, { message: `Param ${shown(name)} ${issue.message}.`, ...repairOf(issue, path) });
}

const repairOf = ({ nearest }: ParamIssue, path: string) =>
  nearest === undefined
    ? {}
    : { suggestion: `Use ${String(nearest)}.`, patch: [{ op: 'replace', path, value: nearest } as const] };

/** Reports issues of the declarations themselves; `pointerOf` gives the place of a member of a param. */
export function checkParams(
  params: readonly Param[],
  log: IssueLog,
  pointerOf: (param: Param, ...member: string[]) => string,
): void {
  const names = new Set<string>();
  for (const param of params) {
    const { name, type, min, max, values } = param;
    if (names.has(name)) {
      log.add('NODE_ID_DUPLICATE', pointerOf(param, 'name'), {
        message: `The param ${shown(name)} is declared twice.`,
        suggestion: 'Give every param its own name.',
      });
    }
    names.add(name);
    if (type === 'choice' && values === undefined) {
      log.add('MISSING_FIELD', pointerOf(param, 'values'), {
        message: `Param ${shown(name)} is a choice without values.`,
        suggestion: 'List its possible values in `values`.',
      });
      continue;
    }
    if (min !== undefined && max !== undefined && min > max) {
      log.add('OUT_OF_RANGE', pointerOf(param, 'min'), {
        message: `The min ${min} of param ${shown(name)} is above its max ${max}.`,
      });
      continue;
    }
    const issue = paramIssue(param, param.default);
    if (issue !== undefined) {
      const message = `The default of param ${shown(name)} ${issue.message}.`;
      const path = pointerOf(param, 'default');
      // Beyond the bounds that its author gave, either may be what was not meant.
      const repair = issue.code === 'TYPE_MISMATCH' ? repairOf(issue, path) : {};
      log.add(issue.code, path, { message, ...repair });
    }
  }
}
