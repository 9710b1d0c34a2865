// Arguments: how indicators declare theirs, how they read them, and how a caller's are checked and completed.
import type { ArgDefinition, Args, ArgValue, IndicatorDefinition } from './definition.ts';

/** TA-Lib's own bound on every period; rows beyond it would make a lookback of years on one-minute bars. */
const MAX_LENGTH = 100_000;
/**
 * The longest window of what reads its whole window for every row, because no running form gives the same numbers:
 * about 5 µs per row.
 */
export const MAX_SCANNED_LENGTH = 5_000;
/** TA-Lib's TA_REAL_MAX: the largest real argument it takes. */
const MAX_REAL = 3e37;

/** A count of bars, named `length` unless the indicator has several. */
export function length(defaultValue: number, min = 2, name = 'length'): ArgDefinition {
  return { name, type: 'int', default: defaultValue, min, max: MAX_LENGTH };
}

/** The length of a window that is read whole for every row. */
export function scannedLength(defaultValue: number, min = 2, name = 'length'): ArgDefinition {
  return { ...length(defaultValue, min, name), max: MAX_SCANNED_LENGTH, isScanned: true };
}

export function real(name: string, defaultValue: number, min = -MAX_REAL, max = MAX_REAL): ArgDefinition {
  return { name, type: 'float', default: defaultValue, min, max };
}

export function choice(name: string, defaultValue: string, values: readonly string[]): ArgDefinition {
  return { name, type: 'choice', default: defaultValue, values };
}

/**
 * The resolved number of that name; validation has ensured that it is one. A whole number is returned as V8's small
 * integer: read from a field that elsewhere holds 0.5 it is a double, and a kernel whose row arithmetic uses doubles
 * takes twice as long.
 */
export function number(args: Args, name = 'length'): number {
  const value = args[name] as number;
  const whole = value | 0;
  return whole === value ? whole : value;
}

export function text(args: Args, name: string): string {
  return args[name] as string;
}

/** What is wrong with one argument; `name` is the caller's name for it. */
interface ArgIssue {
  readonly code: 'UNKNOWN_INDICATOR_ARG' | 'INDICATOR_ARG_REQUIRED' | 'INDICATOR_ARG_OUT_OF_RANGE' | 'TYPE_MISMATCH';
  readonly name: string;
  readonly message: string;
}

/** Every arg of `definition`, the given ones checked, the others at their default. Names are ours. */
export function resolveArgs(
  definition: Pick<IndicatorDefinition, 'id' | 'args'>,
  given: Args,
): { args: Args; issues: ArgIssue[] } {
  const issues: ArgIssue[] = [];
  const args: Record<string, ArgValue> = {};
  for (const arg of definition.args) {
    const value = Object.hasOwn(given, arg.name) ? given[arg.name] : undefined;
    if (value === undefined) {
      if (arg.required === true) {
        issues.push({
          code: 'INDICATOR_ARG_REQUIRED',
          name: arg.name,
          message: `${definition.id} needs the argument ${arg.name}`,
        });
      }
      args[arg.name] = arg.default;
      continue;
    }
    const issue = argIssue(arg, value);
    if (issue !== undefined) issues.push(issue);
    args[arg.name] = value;
  }
  for (const name of Object.keys(given)) {
    if (!definition.args.some((arg) => arg.name === name)) {
      const known = definition.args.map((arg) => arg.name).join(', ') || 'none';
      issues.push({
        code: 'UNKNOWN_INDICATOR_ARG',
        name,
        message: `${definition.id} has no argument ${name}; it takes: ${known}`,
      });
    }
  }
  return { args, issues };
}

/** Why `value` cannot be the argument, undefined when it can. */
export function argIssue(arg: ArgDefinition, value: unknown): ArgIssue | undefined {
  const { name } = arg;
  switch (arg.type) {
    case 'bool':
      return typeof value === 'boolean'
        ? undefined
        : { code: 'TYPE_MISMATCH', name, message: `${name} must be true or false` };
    case 'choice': {
      if (typeof value === 'string' && arg.values!.includes(value)) return undefined;
      const code = typeof value === 'string' ? 'INDICATOR_ARG_OUT_OF_RANGE' : 'TYPE_MISMATCH';
      return { code, name, message: `${name} must be one of ${arg.values!.join(', ')}` };
    }
    case 'int':
    case 'float': {
      const isRight =
        typeof value === 'number' && (arg.type === 'int' ? Number.isInteger(value) : Number.isFinite(value));
      if (!isRight)
        return {
          code: 'TYPE_MISMATCH',
          name,
          message: `${name} must be ${arg.type === 'int' ? 'an integer' : 'a number'}`,
        };
      if (value >= (arg.min ?? -Infinity) && value <= (arg.max ?? Infinity)) return undefined;
      const message = `${name} must be between ${arg.min ?? '-∞'} and ${arg.max ?? '∞'}, not ${value}`;
      return { code: 'INDICATOR_ARG_OUT_OF_RANGE', name, message };
    }
  }
}

/**
 * TA-Lib's arguments under our names: TA-Lib's defaults where absent, MA type numbers as names. Issues use TA-Lib's
 * names.
 */
export function resolveTalibArgs(
  definition: IndicatorDefinition,
  given: Readonly<Record<string, unknown>>,
): { args: Args; issues: ArgIssue[] } {
  const talib = definition.talib!;
  const talibName = new Map(Object.entries(talib.args).map(([theirs, ours]) => [ours, theirs]));
  const renamed = definition.args.map((arg) => ({ ...arg, name: talibName.get(arg.name) ?? arg.name }));
  const named: Record<string, ArgValue> = {};
  const issues: ArgIssue[] = [];
  for (const [name, value] of Object.entries(given)) {
    const types = talib.choices !== undefined && Object.hasOwn(talib.choices, name) ? talib.choices[name] : undefined;
    const chosen = types?.[value as number];
    if (types !== undefined && chosen === undefined) {
      const message = `${name} must be an MA type, 0 to ${types.length - 1}`;
      issues.push({ code: 'INDICATOR_ARG_OUT_OF_RANGE', name, message });
    }
    Object.defineProperty(named, name, { value: chosen ?? value, enumerable: true });
  }
  if (issues.length > 0) return { args: {}, issues };
  const resolved = resolveArgs({ id: talib.name, args: renamed }, named);
  const args = definition.args.map(({ name }, index) => {
    const theirs = renamed[index].name;
    const value = Object.hasOwn(named, theirs)
      ? resolved.args[theirs]
      : (talib.defaults?.[name] ?? resolved.args[theirs]);
    return [name, value] as const;
  });
  return { args: Object.fromEntries(args), issues: resolved.issues };
}

/** The inputs of an indicator that are expressions; the others are columns of the bars. */
const SERIES_INPUTS: ReadonlySet<string> = new Set(['source', 'source2', 'periods']);
export const seriesInputsOf = (definition: { readonly inputs: readonly string[] }): readonly string[] =>
  definition.inputs.filter((input) => SERIES_INPUTS.has(input));
