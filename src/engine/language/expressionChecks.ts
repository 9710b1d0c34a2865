// Expression checks: what a node means, beyond its form: names, arities, clocks, comparisons that cannot be meant as written.
import { TIMEFRAME_MS, type StoredTimeframe } from '../columns/bars.ts';
import { MATH_RULES } from '../columns/kernels/math.ts';
import type { Expression, Param, TimeWindowCondition, Value } from './ast.ts';
import { checkIndicator, checkPattern } from './calls.ts';
import type { KeyOf } from './facts.ts';
import type { IssueLog, PatchOperation } from './issues.ts';
import { nearestName, suggestionFor } from './nearest.ts';
import { isDiscrete } from './ranges.ts';
import type { PointerOf } from './rules.ts';
import { type ParamUse } from './structure.ts';
import { shown } from './wording.ts';
import { numberFault } from './shapes.ts';
import { childSlots } from './visit.ts';

/** Kinds of the grammar that cannot run yet: they are refused (NOT_AVAILABLE_YET), never answered wrongly. */
export const UNAVAILABLE_KINDS: ReadonlySet<string> = new Set<string>([]);

export interface ExpressionContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  readonly faulty: Set<object>;
  readonly params: ReadonlyMap<string, Param>;
  readonly baseTimeframe: StoredTimeframe | undefined;
  readonly knownSymbols: ReadonlySet<string> | undefined;
  readonly unavailableKinds: ReadonlySet<string>;
}

type Members = Readonly<Record<string, unknown>>;
const ALIASES: Readonly<Record<string, string>> = { and: 'all', or: 'any' };
/** Modes of rolling_window that compare a count with `value`. */
const COUNT_MODES: ReadonlySet<unknown> = new Set(['count_gt', 'count_lt', 'count_eq']);

export class ExpressionChecks {
  readonly #context: ExpressionContext;
  readonly #sound = new Map<object, boolean>();
  /** Checked expressions at or above a `state` leaf. */
  readonly #overState = new Set<object>();

  constructor(context: ExpressionContext) {
    this.#context = context;
  }

  /** Checks an expression and all below it, each object once; true when nothing in it has a fault, so that its meaning can be judged. */
  check(expression: Expression): boolean {
    const known = this.#sound.get(expression);
    if (known !== undefined) return known;
    let isSound = true;
    for (const child of childSlots(expression)) {
      if (!this.check(child.expression)) isSound = false;
      if (this.#overState.has(child.expression)) this.#overState.add(expression);
    }
    if (expression.kind === 'state') this.#overState.add(expression);
    const { faulty } = this.#context;
    if (!this.#node(expression)) faulty.add(expression);
    isSound &&= !faulty.has(expression);
    this.#sound.set(expression, isSound);
    return isSound;
  }

  isSound = (expression: Expression): boolean => this.#sound.get(expression) === true;
  /** Every expression that was checked. */
  get checked(): Iterable<Expression> {
    return this.#sound.keys() as Iterable<Expression>;
  }

  #node(node: Members): boolean {
    const { log, unavailableKinds } = this.#context;
    const kind = node.kind as string;
    const at = (...member: (string | number)[]): string => this.#context.pointerOf(node, ...member);
    if (Object.hasOwn(ALIASES, kind)) {
      const patch: PatchOperation[] = [{ op: 'replace', path: at('kind'), value: ALIASES[kind] }];
      log.add('ALIAS_USED', at('kind'), {
        message: `${kind} is another name of ${ALIASES[kind]}`,
        suggestion: `write "${ALIASES[kind]}"`,
        patch,
      });
    }
    let isSound = true;
    if (unavailableKinds.has(kind)) {
      isSound = false;
      log.add('NOT_AVAILABLE_YET', at('kind'), { message: `${kind} is part of the language and cannot run yet` });
    }
    if (kind === 'indicator' && !this.#checkStateless(node as unknown as Expression, at)) isSound = false;
    if (!this.#checkPlace(node, at)) isSound = false;
    return this.#checkKind(node, at) && isSound;
  }

  /** An indicator is a column made before the fill loop, and state exists only inside it. */
  #checkStateless(node: Expression, at: (...member: (string | number)[]) => string): boolean {
    let isSound = true;
    for (const { expression, path } of childSlots(node)) {
      if (!this.#overState.has(expression)) continue;
      isSound = false;
      this.#context.log.add('NOT_AVAILABLE_YET', at(...path), {
        message: 'an indicator cannot be computed over position or account state yet',
        suggestion: 'use `rolling`, `shift`, `cross` or `rising`, which read the history of state',
      });
    }
    return isSound;
  }

  #checkPlace(node: Members, at: (...member: string[]) => string): boolean {
    const { log, baseTimeframe, knownSymbols } = this.#context;
    const symbol = (node.instrument as Members | undefined)?.symbol;
    if (typeof symbol === 'string' && knownSymbols?.has(symbol) === false)
      reportSymbol(symbol, at('instrument', 'symbol'), knownSymbols, log);
    const { timeframe } = node as { timeframe?: StoredTimeframe };
    if (
      baseTimeframe === undefined ||
      timeframe === undefined ||
      !(TIMEFRAME_MS[timeframe] < TIMEFRAME_MS[baseTimeframe])
    )
      return true;
    log.add('TIMEFRAME_BELOW_BASE', at('timeframe'), {
      message: `${timeframe} bars are finer than the strategy's ${baseTimeframe}`,
      suggestion: `use ${baseTimeframe} or coarser, or set defaults.timeframe to ${timeframe}`,
    });
    return false;
  }

  #checkKind(node: Members, at: (...member: (string | number)[]) => string): boolean {
    const { log } = this.#context;
    const missing = (member: string, message: string): false => {
      log.add('MISSING_FIELD', at(member), { message });
      return false;
    };
    switch (node.kind) {
      case 'indicator':
      case 'pattern': {
        const check = node.kind === 'indicator' ? checkIndicator : checkPattern;
        return check(node, { log, at, paramDefault: (name, pointer) => this.#paramDefault(name, pointer) });
      }
      case 'param':
        return typeof node.name === 'string' && this.#paramDefault(node.name, at('name')) !== undefined;
      case 'math':
        return this.#context.faulty.has(node) || this.#checkArity(node, at('args'));
      case 'rolling':
        return (
          node.op !== 'quantile' ||
          node.quantile !== undefined ||
          missing('quantile', 'op quantile needs `quantile`, the fraction in [0, 1]')
        );
      case 'rolling_window':
        return (
          !COUNT_MODES.has(node.mode) ||
          node.value !== undefined ||
          missing('value', `mode ${String(node.mode)} needs \`value\`, the count it is compared with`)
        );
      case 'sequence':
        return this.#checkSteps(node, at);
      case 'time_window':
        return this.#checkWindow(node as unknown as TimeWindowCondition, at);
      default:
        return true;
    }
  }

  #checkArity({ op, args }: Members, path: string): boolean {
    if (typeof op !== 'string' || !Object.hasOwn(MATH_RULES, op) || !Array.isArray(args)) return true;
    const { minArgs, maxArgs } = MATH_RULES[op as keyof typeof MATH_RULES];
    if (args.length >= minArgs && args.length <= maxArgs) return true;
    const wanted = minArgs === maxArgs ? `${minArgs}` : `${minArgs} to ${maxArgs}`;
    this.#context.log.add('OUT_OF_RANGE', path, {
      message: `${op} takes ${wanted} args, and ${args.length} are given`,
    });
    return false;
  }

  #checkSteps({ steps }: Members, at: (...member: (string | number)[]) => string): boolean {
    if (!Array.isArray(steps)) return false;
    let isSound = true;
    for (const [i, step] of (steps as Members[]).entries()) {
      const { minBars = 1, maxBars } = step ?? {};
      if (typeof minBars !== 'number' || typeof maxBars !== 'number' || minBars <= maxBars) continue;
      isSound = false;
      this.#context.log.add('OUT_OF_RANGE', at('steps', i, 'maxBars'), {
        message: `maxBars ${maxBars} is below minBars ${minBars}`,
      });
    }
    return isSound;
  }

  #checkWindow({ timezone, dates }: TimeWindowCondition, at: (...member: string[]) => string): boolean {
    const { log } = this.#context;
    let isSound = typeof timezone !== 'string' || checkTimezone(timezone, at('timezone'), log);
    for (const end of ['from', 'to'] as const) {
      const day = dates?.[end];
      if (typeof day !== 'string' || isCalendarDay(day)) continue;
      isSound = false;
      log.add('OUT_OF_RANGE', at('dates', end), { message: `${shown(day)} is no day of the calendar` });
    }
    return isSound;
  }

  /** PARAM_UNDEFINED, or the default. */
  #paramDefault(name: string, pointer: string): number | boolean | string | undefined {
    const { params, log } = this.#context;
    const param = params.get(name);
    if (param === undefined) reportUndefined(name, pointer, [...params.keys()], log);
    return param?.default;
  }

  /** The comparisons of sound expressions: float equality, and a value compared with itself. */
  checkComparisons(keyOf: KeyOf): void {
    const { log, pointerOf } = this.#context;
    for (const node of this.checked) {
      if (!this.isSound(node)) continue;
      if (node.kind === 'compare' && (node.op === 'eq' || node.op === 'neq') && (node.tolerance ?? 0) === 0) {
        if (isFloat(node.left, node.right)) {
          log.add('FLOAT_EQUALITY', pointerOf(node, 'op'), {
            message: `${node.op} on computed numbers is decided by their last bit`,
            suggestion: 'use `near` with a tolerance, or gte and lte',
          });
        }
      }
      const isPair = node.kind === 'compare' || node.kind === 'cross' || node.kind === 'near';
      if (isPair && keyOf(node.left) === keyOf(node.right)) {
        log.add('SELF_COMPARE_SAME_BAR', pointerOf(node), {
          message: 'both sides are the same value of the same bar',
          suggestion: 'give one side an `offset`, or another operand',
        });
      }
    }
  }
}

/** Neither side is a count, flag or clock field. */
const isFloat = (left: Value, right: Value): boolean => !isDiscrete(left) && !isDiscrete(right);

/** Params named where a number stands: declared, and their default fits the place. */
export function checkParamUses(uses: readonly ParamUse[], params: ReadonlyMap<string, Param>, log: IssueLog): void {
  for (const { name, pointer, shape } of uses) {
    const param = params.get(name);
    if (param === undefined) {
      // The args of an indicator say so themselves, at the same place; the log keeps one.
      reportUndefined(name, pointer, [...params.keys()], log);
      continue;
    }
    if (shape === null) continue;
    const value = typeof param.default === 'boolean' ? Number(param.default) : param.default;
    if (typeof value !== 'number') {
      log.add('TYPE_MISMATCH', pointer, { message: `a number stands here, and param ${name} is ${shown(value)}` });
      continue;
    }
    const fault = numberFault(shape, value);
    if (fault !== undefined)
      log.add(shape.code ?? 'OUT_OF_RANGE', pointer, { message: `param ${name}: ${fault.message}` });
  }
}

function reportUndefined(name: string, pointer: string, names: readonly string[], log: IssueLog): void {
  log.add('PARAM_UNDEFINED', pointer, () => {
    const nearest = nearestName(name, names);
    const member = pointer.endsWith('/name') ? pointer : `${pointer}/param`;
    return {
      message: `no param ${shown(name)} is declared`,
      suggestion: names.length === 0 ? 'declare it in strategy.params' : suggestionFor(nearest, names),
      patch: nearest?.isCertain === true ? [{ op: 'replace', path: member, value: nearest.name }] : undefined,
    };
  });
}

export function reportSymbol(symbol: string, path: string, known: ReadonlySet<string>, log: IssueLog): void {
  log.add('SYMBOL_NOT_AVAILABLE', path, () => {
    const names = [...known];
    return {
      message: `there is no market data of ${shown(symbol)} here`,
      suggestion: suggestionFor(nearestName(symbol, names), names),
    };
  });
}

let zones: readonly string[] | undefined;

/** An IANA zone name that this runtime knows. */
export function checkTimezone(timezone: string, path: string, log: IssueLog): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== '';
  } catch {
    zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone')];
    const nearest = nearestName(timezone, zones);
    log.add('OUT_OF_RANGE', path, {
      message: `there is no time zone ${shown(timezone)}`,
      suggestion:
        nearest === undefined ? 'use an IANA name, e.g. UTC or America/New_York' : `did you mean "${nearest.name}"?`,
      patch: nearest?.isCertain === true ? [{ op: 'replace', path, value: nearest.name }] : undefined,
    });
    return false;
  }
}

function isCalendarDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
