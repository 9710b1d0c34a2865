// Expression checks: what the grammar cannot state: names, argument counts, time zones, doubtful comparisons.
import type { Timeframe } from '../../bars/bars.ts';
import { isFiner, isIntraday } from '../../bars/timeframes.ts';
import type { NodeCheck } from '../../definitions/expressions/expressionDefinition.ts';
import {
  conditionKindIfAny,
  readsState,
  valueKind,
  writtenKind,
} from '../../definitions/expressions/expressionRegistry.ts';
import type { ValueChild } from '../../definitions/expressions/places.ts';
import type { Expression, Param } from '../grammar/ast.ts';
import { isInexact } from './ranges.ts';
import { checkIndicator, checkPattern } from './calls.ts';
import type { KeyOf } from './inferredRanges.ts';
import type { IssueLog } from '../issues/issues.ts';
import type { PatchOperation } from '../issues/patch.ts';
import { checkTimezone, isCalendarDay, reportForeignState, reportSymbol, reportUndefined } from './nameChecks.ts';
import type { PointerOf } from './sectionChecks.ts';
import { shown } from '../issues/displayNames.ts';
import { childSlots } from '../grammar/visit.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';
import { typeOfKind } from '../grammar/shapes.ts';

interface ExpressionContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  readonly invalid: Set<object>;
  readonly params: ReadonlyMap<string, Param>;
  readonly faultyParams: ReadonlySet<unknown>;
  readonly baseTimeframe: Timeframe | undefined;
  readonly knownSymbols: ReadonlySet<string> | undefined;
  /** The instrument that `defaults` names; undefined: only the config of a run says which is traded. */
  readonly tradedSymbol: string | undefined;
}

/** Said where a condition on the hour is checked on daily bars. */
export const HOURS_OF_DAILY_BARS = {
  message: 'Bars of 1d open once a day, so a condition on the hour holds on all of them or on none.',
  suggestion: 'Use weekdays or dates, or run on bars finer than 1d.',
} as const;

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
    if (readsState(expression)) this.#readingState.add(expression);
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
      const kind = this.isValid(node) ? conditionKindIfAny(node) : undefined;
      if (kind === undefined) continue;
      kind.warn?.(node, {
        isInexact,
        warn: (code, member, details) => log.add(code, pointerOf(node, member), details),
      });
      for (const [value, ...thresholds] of kind.scaled?.(node) ?? []) this.#warnOfScale(value, thresholds);
      const sides = kind.sides?.of(node);
      if (sides !== undefined && keyOf(sides.left) === keyOf(sides.right)) {
        log.add('SELF_COMPARE_SAME_BAR', pointerOf(node), {
          message: 'Both sides are the same value of the same bar.',
          suggestion: 'Give one side an `offset`, or compare with something else.',
        });
      }
    }
  }

  /** Warns of a threshold from 0 to 1 on a value that runs from 0 to 100: 0.3 for an RSI of 30. */
  #warnOfScale(value: ValueChild, thresholds: readonly ValueChild[]): void {
    const { log, pointerOf } = this.#context;
    const name = valueKind(value).percentScale?.(value);
    if (name === undefined) return;
    for (const threshold of thresholds) {
      const number = valueKind(threshold).constant?.(threshold);
      if (number === undefined || !(number > 0 && number < 1)) continue;
      const points = Number((100 * number).toPrecision(12));
      log.add('FRACTION_FOR_PERCENT', pointerOf(threshold, 'value'), {
        message: `${name} runs from 0 to 100, and ${number} is next to its lower end.`,
        suggestion: `Write ${points}, unless ${number} is meant.`,
      });
    }
  }

  #checkNode(node: Members): boolean {
    const { log } = this.#context;
    const at = (...member: (string | number)[]): string => this.#context.pointerOf(node, ...member);
    const { aliases = {}, neverOverState, check } = writtenKind(node);
    const kind = node.kind as string;
    if (Object.hasOwn(aliases, kind)) {
      const patch: PatchOperation[] = [{ op: 'replace', path: at('kind'), value: aliases[kind] }];
      log.add('ALIAS_USED', at('kind'), {
        message: `${shown(kind)} is an alias of ${aliases[kind]}.`,
        suggestion: `Write "${aliases[kind]}".`,
        patch,
      });
    }
    let isValid = true;
    if (neverOverState !== undefined && !this.#checkStateless(node as unknown as Expression, neverOverState, at))
      isValid = false;
    if (!this.#checkSeries(node, at)) isValid = false;
    return (check === null || check(node, this.#checkOf(node, at))) && isValid;
  }

  /** The node is computed as a column before the fill loop, and state exists only inside the loop. */
  #checkStateless(node: Expression, suggestion: string, at: (...member: (string | number)[]) => string): boolean {
    let isValid = true;
    const name = node.kind.replaceAll('_', ' ');
    for (const { expression, path } of childSlots(node)) {
      if (!this.#readingState.has(expression)) continue;
      isValid = false;
      this.#context.log.add('NOT_AVAILABLE_YET', at(...path), {
        message: `${/^[aeiou]/.test(name) ? 'An' : 'A'} ${name} cannot read position or account state yet.`,
        suggestion,
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
    if (readsState(node) && tradedSymbol !== undefined)
      reportForeignState(node, tradedSymbol, at('instrument', 'symbol'), log);
    const { timeframe } = node as { timeframe?: Timeframe };
    if (baseTimeframe === undefined || timeframe === undefined) return true;
    if (!isFiner(timeframe, baseTimeframe)) return true;
    log.add('TIMEFRAME_BELOW_BASE', at('timeframe'), {
      message: `${timeframe} bars are finer than the strategy's own ${baseTimeframe} bars.`,
      suggestion: `Use ${baseTimeframe} or a coarser timeframe, or set defaults.timeframe to ${timeframe}.`,
    });
    return false;
  }

  /** What the kind of a node checks it with. */
  #checkOf(node: Members, at: (...member: readonly (string | number)[]) => string): NodeCheck {
    const { log, invalid, params, baseTimeframe } = this.#context;
    return {
      isMalformed: invalid.has(node),
      report: (code, member, details) => {
        log.add(code, at(...member), details);
        return false;
      },
      shown,
      checkCall: (callee) => {
        const check = callee === 'indicator' ? checkIndicator : checkPattern;
        const isParam = (name: string): boolean => params.has(name);
        return check(node, { log, at, isParam, paramDefault: (name, pointer) => this.#paramDefault(name, pointer) });
      },
      isParam: (name, member) => this.#paramDefault(name, at(member)) !== undefined,
      isTimezone: (name, member) => checkTimezone(name, at(member), log),
      isCalendarDay,
      isIntraday: baseTimeframe === undefined ? undefined : isIntraday(baseTimeframe),
      isCondition: (child) => isMembers(child) && typeOfKind(child.kind) === 'condition',
      warnOfHours: (member) => {
        if (baseTimeframe !== undefined && !isIntraday(baseTimeframe))
          log.add('INTRADAY_WINDOW', at(member), HOURS_OF_DAILY_BARS);
      },
    };
  }

  /** The param's default; reports PARAM_UNDEFINED where the param is not declared. */
  #paramDefault(name: string, pointer: string): number | boolean | string | undefined {
    const { params, faultyParams, log } = this.#context;
    const param = params.get(name);
    if (param === undefined && !faultyParams.has(name)) reportUndefined(name, pointer, [...params.keys()], log);
    return param?.default;
  }
}
