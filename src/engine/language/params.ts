// Params: the numbers of a strategy that a run may set, their declarations checked and their values resolved.
import type { Param } from './ast.ts';
import type { ParamValues } from './canonical.ts';
import type { IssueCode, IssueLog } from './issues.ts';
import { nearestName, suggestionFor } from './nearest.ts';
import { pointerTo } from './pointer.ts';

export type ParamValue = number | boolean | string;
export type GivenParams = Readonly<Record<string, ParamValue>>;

interface Fault {
  readonly code: IssueCode;
  readonly message: string;
}

/** Why `value` cannot be the value of a param; undefined when it can. */
function paramFault(param: Param, value: ParamValue): Fault | undefined {
  const { name, type, min, max, values } = param;
  if (type === 'bool') {
    return typeof value === 'boolean' ? undefined : { code: 'TYPE_MISMATCH', message: `${name} must be true or false` };
  }
  if (values !== undefined && !values.includes(value)) {
    return { code: 'OUT_OF_RANGE', message: `${name} must be one of ${values.slice(0, 20).join(', ')}, not ${value}` };
  }
  if (type === 'choice') return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value) || (type === 'int' && !Number.isInteger(value))) {
    return {
      code: 'TYPE_MISMATCH',
      message: `${name} must be ${type === 'int' ? 'a whole number' : 'a number'}, not ${value}`,
    };
  }
  if (value < (min ?? -Infinity) || value > (max ?? Infinity)) {
    return { code: 'OUT_OF_RANGE', message: `${name} must be between ${min ?? '-∞'} and ${max ?? '∞'}, not ${value}` };
  }
  return undefined;
}

/** Every declared param's value: the given one, else its default. Issues are placed under `/config/params`. */
export function resolveParams(declared: readonly Param[], given: GivenParams, log: IssueLog): ParamValues {
  const values = new Map<string, ParamValue>(declared.map((param) => [param.name, param.default]));
  for (const [name, value] of Object.entries(given)) {
    const param = declared.find((one) => one.name === name);
    const path = pointerTo('/config/params', name);
    if (param === undefined) {
      const names = declared.map((one) => one.name);
      log.add('PARAM_UNDEFINED', path, {
        message: `the strategy declares no param ${name}`,
        suggestion:
          names.length === 0 ? 'declare it in strategy.params' : suggestionFor(nearestName(name, names), names),
      });
      continue;
    }
    const fault = paramFault(param, value);
    if (fault === undefined) values.set(name, value);
    else log.add(fault.code, path, { message: fault.message });
  }
  return values;
}

/** Faults of the declarations themselves; `pointerOf` gives the place of a member of a param. */
export function checkParams(
  params: readonly Param[],
  log: IssueLog,
  pointerOf: (param: Param, ...member: string[]) => string,
): void {
  const names = new Set<string>();
  for (const param of params) {
    const { name, type, min, max, values } = param;
    if (names.has(name)) {
      log.add('NODE_ID_DUPLICATE', pointerOf(param, 'name'), { message: `param ${name} is declared twice` });
    }
    names.add(name);
    if (type === 'choice' && values === undefined) {
      log.add('MISSING_FIELD', pointerOf(param, 'values'), {
        message: `param ${name} is a choice and has no values`,
        suggestion: 'list what it may be in `values`',
      });
      continue;
    }
    if (min !== undefined && max !== undefined && min > max) {
      log.add('OUT_OF_RANGE', pointerOf(param, 'min'), { message: `param ${name}: min ${min} is above max ${max}` });
      continue;
    }
    const fault = paramFault(param, param.default);
    if (fault !== undefined)
      log.add(fault.code, pointerOf(param, 'default'), { message: `the default of param ${fault.message}` });
  }
}
