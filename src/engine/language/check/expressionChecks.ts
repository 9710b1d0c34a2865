// Expression checks: what the grammar cannot state: names, argument counts, time zones, doubtful comparisons.
import { TIMEFRAME_MS, type StoredTimeframe } from '../../bars/bars.ts';
import { findIndicator } from '../../indicators/registry.ts';
import { MATH_FUNCTIONS } from '../../kernels/arithmetic.ts';
import { MAX_SCANNED_LENGTH } from '../../indicators/arguments.ts';
import type { Expression, Node, Param, Value } from '../grammar/ast.ts';
import { checkIndicator, checkPattern } from './calls.ts';
import type { KeyOf } from './inferredRanges.ts';
import type { IssueLog } from '../issues/issues.ts';
import type { PatchOperation } from '../issues/patch.ts';
import { equalityDetails, isInexact } from './equality.ts';
import { checkTimezone, isCalendarDay, reportForeignState, reportSymbol, reportUndefined } from './nameChecks.ts';
import type { PointerOf } from './sectionChecks.ts';
import { shown } from '../issues/displayNames.ts';
import { isTooLongSlope } from '../../definitions/words.ts';
import { childSlots } from '../grammar/visit.ts';
import type { Members } from '../grammar/payloadObjects.ts';

interface ExpressionContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  readonly invalid: Set<object>;
  readonly params: ReadonlyMap<string, Param>;
  readonly faultyParams: ReadonlySet<unknown>;
  readonly baseTimeframe: StoredTimeframe | undefined;
  readonly knownSymbols: ReadonlySet<string> | undefined;
  /** The instrument that `defaults` names; undefined: only the config of a run says which is traded. */
  readonly tradedSymbol: string | undefined;
}

const KIND_ALIASES: Readonly<Record<string, string>> = { and: 'all', or: 'any' };
export const INTRADAY_FIELDS: ReadonlySet<unknown> = new Set(['hour', 'minute', 'minute_of_day']);
export const HOURS_OF_DAILY_BARS = {
  message: 'Bars of 1d open once a day, so a condition on the hour holds on all of them or on none.',
  suggestion: 'Use weekdays or dates, or run on bars finer than 1d.',
} as const;
/** Modes of rolling_window that compare a count with `value`. */
const COUNT_MODES: ReadonlySet<unknown> = new Set(['count_gt', 'count_lt', 'count_eq']);

export class ExpressionChecks {
  readonly #context: ExpressionContext;
  readonly #valid = new Map<Expression, boolean>();
  /** Checked expressions that are or contain a `state` node. */
  readonly #readingState = new Set<object>();

  constructor(context: ExpressionContext) {
    this.#context = context;
  }

  /**
   * Checks an expression and all below it, each object once; true when none has an error, so that it can be compiled.
   */
  check(expression: Expression): boolean {
    const known = this.#valid.get(expression);
    if (known !== undefined) return known;
    let isValid = true;
    for (const child of childSlots(expression)) {
      if (!this.check(child.expression)) isValid = false;
      if (this.#readingState.has(child.expression)) this.#readingState.add(expression);
    }
    if (expression.kind === 'state') this.#readingState.add(expression);
    const { invalid } = this.#context;
    if (!this.#checkNode(expression)) invalid.add(expression);
    isValid &&= !invalid.has(expression);
    this.#valid.set(expression, isValid);
    return isValid;
  }

  /** Whether an expression was checked and neither it nor anything below it has an error. */
  isValid = (expression: Expression): boolean => this.#valid.get(expression) === true;
  /** Every expression that was checked. */
  get checked(): Iterable<Expression> {
    return this.#valid.keys();
  }

  /**
   * Warns of valid comparisons that are rarely meant: equality of computed numbers, and a value compared with itself.
   */
  checkComparisons(keyOf: KeyOf): void {
    const { log, pointerOf } = this.#context;
    for (const node of this.checked) {
      if (!this.isValid(node)) continue;
      if (node.kind === 'compare' && (node.op === 'eq' || node.op === 'neq') && (node.tolerance ?? 0) === 0) {
        if (isInexact(node.left, node.right))
          log.add('FLOAT_EQUALITY', pointerOf(node, 'op'), equalityDetails(node.op));
      }
      if (node.kind === 'between') this.#warnOfScale(node.value, node.lower, node.upper);
      const isPair = node.kind === 'compare' || node.kind === 'cross' || node.kind === 'near';
      if (isPair) {
        this.#warnOfScale(node.left, node.right);
        this.#warnOfScale(node.right, node.left);
      }
      if (isPair && keyOf(node.left) === keyOf(node.right)) {
        log.add('SELF_COMPARE_SAME_BAR', pointerOf(node), {
          message: 'Both sides are the same value of the same bar.',
          suggestion: 'Give one side an `offset`, or compare with something else.',
        });
      }
    }
  }

  /** Warns of a threshold from 0 to 1 on a value that runs from 0 to 100: 0.3 for an RSI of 30. */
  #warnOfScale(value: Value, ...thresholds: readonly Value[]): void {
    const { log, pointerOf } = this.#context;
    if (!isPercentScale(value)) return;
    for (const threshold of thresholds) {
      if (threshold.kind !== 'const' || typeof threshold.value !== 'number') continue;
      const { value: number } = threshold;
      if (!(number > 0 && number < 1)) continue;
      const points = Number((100 * number).toPrecision(12));
      const name = (value as Node<'indicator'>).indicator;
      log.add('FRACTION_FOR_PERCENT', pointerOf(threshold, 'value'), {
        message: `${name} runs from 0 to 100, and ${number} is next to its lower end.`,
        suggestion: `Write ${points}, unless ${number} is meant.`,
      });
    }
  }

  #checkNode(node: Members): boolean {
    const { log } = this.#context;
    const kind = node.kind as string;
    const at = (...member: (string | number)[]): string => this.#context.pointerOf(node, ...member);
    if (Object.hasOwn(KIND_ALIASES, kind)) {
      const patch: PatchOperation[] = [{ op: 'replace', path: at('kind'), value: KIND_ALIASES[kind] }];
      log.add('ALIAS_USED', at('kind'), {
        message: `${shown(kind)} is an alias of ${KIND_ALIASES[kind]}.`,
        suggestion: `Write "${KIND_ALIASES[kind]}".`,
        patch,
      });
    }
    let isValid = true;
    if (kind === 'indicator' && !this.#checkStateless(node as unknown as Expression, at)) isValid = false;
    if (!this.#checkSeries(node, at)) isValid = false;
    return this.#checkKind(node, at) && isValid;
  }

  /** An indicator is computed as a column before the fill loop, and state exists only inside the loop. */
  #checkStateless(node: Expression, at: (...member: (string | number)[]) => string): boolean {
    let isValid = true;
    for (const { expression, path } of childSlots(node)) {
      if (!this.#readingState.has(expression)) continue;
      isValid = false;
      this.#context.log.add('NOT_AVAILABLE_YET', at(...path), {
        message: 'An indicator cannot read position or account state yet.',
        suggestion: 'Use `rolling`, `shift`, `percent_change`, `cross` or `rising`, which can.',
      });
    }
    return isValid;
  }

  /** The instrument and timeframe that a node reads. */
  #checkSeries(node: Members, at: (...member: string[]) => string): boolean {
    const { log, baseTimeframe, knownSymbols, tradedSymbol } = this.#context;
    const symbol = (node.instrument as Members | undefined)?.symbol;
    if (typeof symbol === 'string' && knownSymbols?.has(symbol) === false)
      reportSymbol(symbol, at('instrument', 'symbol'), knownSymbols, log);
    if (node.kind === 'state' && tradedSymbol !== undefined)
      reportForeignState(node, tradedSymbol, at('instrument', 'symbol'), log);
    const { timeframe } = node as { timeframe?: StoredTimeframe };
    if (baseTimeframe === undefined || timeframe === undefined) return true;
    if (!(TIMEFRAME_MS[timeframe] < TIMEFRAME_MS[baseTimeframe])) return true;
    log.add('TIMEFRAME_BELOW_BASE', at('timeframe'), {
      message: `${timeframe} bars are finer than the strategy's own ${baseTimeframe} bars.`,
      suggestion: `Use ${baseTimeframe} or a coarser timeframe, or set defaults.timeframe to ${timeframe}.`,
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
        const isParam = (name: string): boolean => this.#context.params.has(name);
        return check(node, { log, at, isParam, paramDefault: (name, pointer) => this.#paramDefault(name, pointer) });
      }
      case 'param':
        return typeof node.name === 'string' && this.#paramDefault(node.name, at('name')) !== undefined;
      case 'math':
        return this.#context.invalid.has(node) || this.#checkArity(node, at('args'));
      case 'rolling':
        return (
          this.#checkSlope(node, at('period')) &&
          (node.op !== 'quantile' ||
            node.quantile !== undefined ||
            missing('quantile', 'The op quantile requires `quantile`, a fraction from 0 to 1.'))
        );
      case 'rolling_window':
        return (
          !COUNT_MODES.has(node.mode) ||
          node.value !== undefined ||
          missing(
            'value',
            `The mode ${String(node.mode)} requires \`value\`, the number that the count is compared with.`,
          )
        );
      case 'sequence':
        return this.#checkSteps(node, at);
      case 'session':
        this.#warnOfHours(at('name'));
        return true;
      case 'time':
        if (INTRADAY_FIELDS.has(node.field)) this.#warnOfHours(at('field'));
        return true;
      case 'time_window':
        if (node.between !== undefined) this.#warnOfHours(at('between'));
        return this.#checkWindow(node as unknown as Node<'time_window'>, at);
      default:
        return true;
    }
  }

  #checkArity({ op, args }: Members, path: string): boolean {
    if (typeof op !== 'string' || !Object.hasOwn(MATH_FUNCTIONS, op) || !Array.isArray(args)) return true;
    const { minArgs, maxArgs } = MATH_FUNCTIONS[op as keyof typeof MATH_FUNCTIONS];
    if (args.length >= minArgs && args.length <= maxArgs) return true;
    const wanted = minArgs === maxArgs ? `${minArgs}` : `${minArgs} to ${maxArgs}`;
    this.#context.log.add('OUT_OF_RANGE', path, {
      message: `${op} takes ${wanted} args, not ${args.length}.`,
    });
    return false;
  }

  #checkSlope({ op, period }: Members, path: string): boolean {
    if (typeof period !== 'number' || !isTooLongSlope(op, period)) return true;
    this.#context.log.add('OUT_OF_RANGE', path, {
      message: `The op slope takes a period of at most ${MAX_SCANNED_LENGTH}, not ${period}.`,
      suggestion: 'Use a shorter period, or a coarser timeframe.',
    });
    return false;
  }

  #checkSteps({ steps }: Members, at: (...member: (string | number)[]) => string): boolean {
    if (!Array.isArray(steps)) return false;
    let isValid = true;
    for (const [i, step] of (steps as Members[]).entries()) {
      const { minBars = 1, maxBars } = step ?? {};
      if (typeof minBars !== 'number' || typeof maxBars !== 'number' || minBars <= maxBars) continue;
      isValid = false;
      this.#context.log.add('OUT_OF_RANGE', at('steps', i, 'maxBars'), {
        message: `maxBars ${maxBars} is less than minBars ${minBars}.`,
        suggestion: `Use at least ${minBars}.`,
      });
    }
    return isValid;
  }

  /** Warns of hours on daily bars, which all open at the same hour. */
  #warnOfHours(path: string): void {
    const { log, baseTimeframe } = this.#context;
    if (baseTimeframe === '1d') log.add('INTRADAY_WINDOW', path, HOURS_OF_DAILY_BARS);
  }

  #checkWindow({ timezone, dates }: Node<'time_window'>, at: (...member: string[]) => string): boolean {
    const { log } = this.#context;
    let isValid = typeof timezone !== 'string' || checkTimezone(timezone, at('timezone'), log);
    for (const end of ['from', 'to'] as const) {
      const day = dates?.[end];
      if (typeof day !== 'string' || isCalendarDay(day)) continue;
      isValid = false;
      log.add('OUT_OF_RANGE', at('dates', end), { message: `${shown(day)} is not a day of the calendar.` });
    }
    return isValid;
  }

  /** The param's default; reports PARAM_UNDEFINED where the param is not declared. */
  #paramDefault(name: string, pointer: string): number | boolean | string | undefined {
    const { params, faultyParams, log } = this.#context;
    const param = params.get(name);
    if (param === undefined && !faultyParams.has(name)) reportUndefined(name, pointer, [...params.keys()], log);
    return param?.default;
  }
}

/** The range of an oscillator's output, in the units of its author. */
const PERCENT_SCALE = { min: 0, max: 100 } as const;

function isPercentScale(value: Value): boolean {
  if (value.kind !== 'indicator') return false;
  const outputs = findIndicator(value.indicator)?.outputs ?? [];
  const output = value.output === undefined ? outputs[0] : outputs.find(({ name }) => name === value.output);
  return output?.min === PERCENT_SCALE.min && output.max === PERCENT_SCALE.max;
}
