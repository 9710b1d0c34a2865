// Checks of names that must exist outside of the expression that uses them: params, symbols, time zones, calendar days.
import type { Param } from '../grammar/ast.ts';
import { numberIssue } from '../grammar/shapes.ts';
import { shown } from '../issues/displayNames.ts';
import type { IssueLog } from '../issues/issues.ts';
import { certainPatch, nearestName, nearestOwnName, suggestionFor } from '../issues/nearest.ts';
import type { ParamUse } from '../form/ownNames.ts';

/** Checks params that stand for a number: they must be declared, and their default must fit the place. */
export function checkParamUses(
  uses: readonly ParamUse[],
  params: ReadonlyMap<string, Param>,
  faulty: ReadonlySet<unknown>,
  log: IssueLog,
): void {
  for (const { name, pointer, shape } of uses) {
    const param = params.get(name);
    if (param === undefined) {
      if (faulty.has(name)) continue;
      // An indicator's args are checked again with the indicator; the log keeps one issue per place.
      reportUndefined(name, pointer, [...params.keys()], log);
      continue;
    }
    if (shape === null) continue;
    const value = typeof param.default === 'boolean' ? Number(param.default) : param.default;
    if (typeof value !== 'number') {
      log.add('TYPE_MISMATCH', pointer, {
        message: `A number is required here, and the default of param ${shown(name)} is ${shown(value)}.`,
      });
      continue;
    }
    const issue = numberIssue(shape, value);
    if (issue !== undefined) {
      const message = `The default of param ${shown(name)} ${issue.message} here.`;
      log.add(shape.code ?? 'OUT_OF_RANGE', pointer, { message });
    }
  }
}

/** As many params as a strategy may declare. */
const MAX_COMPARED = 256;

/** Reports a param that is not declared, once per place. */
export function reportUndefined(name: string, pointer: string, names: readonly string[], log: IssueLog): void {
  log.add('PARAM_UNDEFINED', pointer, () => {
    const nearest = nearestOwnName(name, names.slice(0, MAX_COMPARED));
    const member = pointer.endsWith('/name') ? pointer : `${pointer}/param`;
    return {
      message: `The param ${shown(name)} is not declared.`,
      suggestion: names.length === 0 ? 'Declare it in strategy.params.' : suggestionFor(nearest, names),
      patch: certainPatch(nearest, member, nearest?.name),
    };
  });
}

/** Reports SYMBOL_NOT_AVAILABLE at `path`, with the nearest of the `known` symbols. */
export function reportSymbol(symbol: string, path: string, known: ReadonlySet<string>, log: IssueLog): void {
  log.add('SYMBOL_NOT_AVAILABLE', path, () => {
    const names = [...known];
    return {
      message: `No market data is available for ${shown(symbol)}.`,
      suggestion: suggestionFor(nearestName(symbol, names), names),
    };
  });
}

let zones: readonly string[] | undefined;

/** Whether the runtime knows this IANA time zone; reports it at `path` if not. */
export function checkTimezone(timezone: string, path: string, log: IssueLog): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== '';
  } catch {
    zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone')];
    const nearest = nearestName(timezone, zones);
    log.add('OUT_OF_RANGE', path, {
      message: `Unknown time zone ${shown(timezone)}.`,
      suggestion:
        nearest === undefined
          ? 'Use an IANA name, such as UTC or America/New_York.'
          : `Did you mean "${nearest.name}"?`,
      patch: certainPatch(nearest, path, nearest?.name),
    });
    return false;
  }
}

/** Whether a text of the form YYYY-MM-DD names a day that exists. */
export function isCalendarDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/**
 * The symbol that stands for the instruments of a portfolio, on each of which the strategy runs. None of them has it,
 * so that a node that names an instrument reads it as another series, on its own bars too.
 */
export const EACH_INSTRUMENT = '';

/** Reports a `state` node that names an instrument other than the traded one, which alone has a position. */
export function reportForeignState(
  node: { readonly instrument?: { readonly symbol?: unknown } | undefined },
  traded: string,
  place: string,
  log: IssueLog,
): void {
  const symbol = node.instrument?.symbol;
  if (typeof symbol !== 'string' || symbol === traded) return;
  if (traded === EACH_INSTRUMENT) {
    log.add('NOT_AVAILABLE_YET', place, {
      message: `This reads the state of ${shown(symbol)}, and a portfolio reads state of each instrument on its own.`,
      suggestion: 'Remove `instrument`.',
    });
    return;
  }
  log.add('NOT_AVAILABLE_YET', place, {
    message:
      `This reads the state of ${shown(symbol)}, and only ${shown(traded)} is traded: nothing else has a ` +
      'position.',
    suggestion: `Remove \`instrument\` to read the state of ${traded}, or run the strategy on ${symbol}.`,
  });
}
