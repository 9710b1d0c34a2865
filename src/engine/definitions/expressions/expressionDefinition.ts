// What an expression kind declares. The grammar, checks, capabilities, plans and the loop read nothing else of a kind.
import type { z } from 'zod';
import type { ArgDefinition } from '../../indicators/definition.ts';
import type { ParamRef } from '../expressionMembers.ts';
import type { IssueCode } from '../issueCodes.ts';
import type { Range } from './intervals.ts';
import type { LookbackPlace, Need } from './lookbacks.ts';
import type { childOf, ConditionChild, ValueChild } from './places.ts';
import type { BarField, Comparison, Extreme } from './relations.ts';
import type { ReadTruth, ReadValue, StatefulParts } from './stateParts.ts';
import type { Frame, OwnConditionOperation, OwnValueOperation, Slot, StepCompiler } from './planSteps.ts';
import type { TextWriter } from './texts.ts';

/** A node as its author wrote it, valid or not. */
export type WrittenNode = Readonly<Record<string, unknown>>;

/** T with every parameter reference replaced by the number it stands for. */
type WithoutParams<T> = T extends ParamRef
  ? never
  : T extends object
    ? typeof childOf extends keyof T
      ? T
      : { [M in keyof T]: WithoutParams<T[M]> }
    : T;
/** A node of schema S as the stages after the language read it: defaults written out, no parameters. */
export type RunnableOf<S extends z.ZodType> = WithoutParams<z.output<S>>;
/** The same, with members that the canonical form always has or writes in one way. */
export type Completed<S extends z.ZodType, Members> = Omit<RunnableOf<S>, keyof Members> & Members;

// The grammar and the checks -----------------------------------------------------------------------------------------

/** What a kind is checked with, beyond its schema. */
export interface NodeCheck {
  /** Whether the node does not fit its schema, which was reported. */
  readonly isMalformed: boolean;
  /** Reports an issue at a member of the node. False, so that a check can end with it. */
  report(
    code: IssueCode,
    member: readonly (string | number)[],
    details: { readonly message: string; readonly suggestion?: string },
  ): false;
  /** A value in quotes, shortened, for a message. */
  shown(value: unknown): string;
  /** Checks the node as a call of an indicator or a pattern. */
  checkCall(callee: 'indicator' | 'pattern'): boolean;
  /** Whether the param is declared; else it is reported at the member. */
  isParam(name: string, member: string): boolean;
  isTimezone(name: string, member: string): boolean;
  isCalendarDay(day: string): boolean;
  /** Whether a day has several of the strategy's bars; undefined where its timeframe is not known. */
  readonly isIntraday: boolean | undefined;
  /** Whether a child is a condition, valid or not. */
  isCondition(child: unknown): boolean;
  /** Warns of hours on daily bars, which all open at the same hour. */
  warnOfHours(member: string): void;
}

/** What the canonical form of a node is made with. */
export interface Rewriter {
  /** The strategy's. */
  readonly timezone: string;
  /** The node with its defaults written out. @param derived defaults that depend on other members */
  plain(node: WrittenNode, isPlaced: boolean, derived?: WrittenNode): WrittenNode;
  /** A child. @param isPlaced below a node with its own timeframe or instrument */
  child(node: WrittenNode, isPlaced: boolean): WrittenNode;
  /** One member of the node, or its default. */
  member(node: WrittenNode, name: string): unknown;
  /** The id, label, description and meta of the node, where they are kept. */
  names(node: WrittenNode): Record<string, unknown>;
  args(node: WrittenNode, definitions: readonly ArgDefinition[]): Record<string, unknown>;
  /** The number that a param stands for; undefined where references stay. */
  paramNumber(name: string, node: WrittenNode, member: string): unknown;
  /** Whether an earlier value of the node, by base bars, is the same node with a larger `offset`. */
  canAddOffset(node: WrittenNode): boolean;
  report(node: WrittenNode, member: readonly string[], code: IssueCode, message: string): void;
}

interface WrittenKind<S extends z.ZodObject> {
  readonly schema: S;
  /** Other names of the kind, and the name that the canonical form writes. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** One line for capabilities; docs/language.md has the exact rules. */
  readonly description: string;
  /**
   * Nanoseconds per bar of one node, measured on one core at a million bars (bench/evaluate.ts): most kernels take 1 to
   * 5, and comparisons, which write bits, less than 1.
   */
  readonly nsPerBar: number;
  /** Members that are required where another member has one of these values. */
  readonly requiredWhen?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /** Members that a graph must name, although an expression may leave them out. */
  readonly requiredInGraph?: readonly string[];
  /**
   * Children may not read position or account state: the node is computed before the loop. The text says what to use
   * instead.
   */
  readonly neverOverState?: string;
  /** Reports what the schema cannot state; true when the node can be compiled. Null: nothing. */
  readonly check: ((node: WrittenNode, check: NodeCheck) => boolean) | null;
  /** The canonical form, where it is more than the members and their defaults. */
  readonly rewrite: ((node: WrittenNode, isPlaced: boolean, rewriter: Rewriter) => WrittenNode) | null;
  /** Whether it reads bars of the instrument that it is evaluated for, beside its parts; absent: it never does. */
  readsOwnBars?(node: WrittenNode): boolean;
  /** Whether it has one value for all instruments of a run, whatever its parts read; absent: it never has. */
  isCommon?(node: WrittenNode): boolean;
  /** Whether the form of the plan depends on the number in a member, beside those of `FORMING` in paramSlots.ts. */
  isForming?(node: WrittenNode, member: string | number): boolean;
}

/** What is known of other values of the same strategy. Params are within their declared bounds. */
export interface KnownRanges {
  of(value: ValueChild): Range;
  /** The range of a number, or of the parameter in its place. */
  ofNumber(number: unknown): Range;
}
/** What is known of a child by its kind. */
export interface ValueFacts {
  isDiscrete(value: ValueChild): boolean;
  /** Discrete, or a whole number. */
  isWhole(value: ValueChild): boolean;
  isBarPrice(value: ValueChild): boolean;
  /** The field of the bars that a value is; undefined for any other value. */
  barField(value: ValueChild): BarField | undefined;
}

interface WrittenValue<S extends z.ZodObject, W> extends WrittenKind<S> {
  /** `offset` counts the bars that the node runs on, so that a shift by base bars can be added to it on base bars. */
  readonly offsetCountsOwnBars?: true;
  /** Where the values lie, in any market. */
  range(node: W, ranges: KnownRanges): Range;
  /** Whether the values are counts, flags, clock fields or rounded numbers, so that `eq` on them is intended. */
  isDiscrete(node: W, facts: ValueFacts): boolean;
  /**
   * A price or volume as the bars have it: `close` equals the highest close of 20 bars exactly where it is that one.
   */
  isBarPrice?(node: W, facts: ValueFacts): boolean;
  barField?(node: W): BarField;
  /** The extreme that the value is; undefined where it is none, and for one that an offset moves off this bar. */
  extreme?(node: W, facts: ValueFacts): Extreme | undefined;
  /** The name of a value that runs from 0 to 100; undefined where it does not. */
  percentScale?(node: W): string | undefined;
  /** The number that it is on every bar; undefined where a parameter stands for it. */
  constant?(node: W): number | undefined;
}

/** What conditions that are true on the same bar say about the values they read. */
export interface KnownValues extends KnownRanges {
  /** Narrows the range of a value; false when nothing is left. */
  narrow(value: ValueChild, bounds: Range): boolean;
  /** Assumes a comparison, or the opposite; false when it is impossible. */
  compare(comparison: Comparison, isNegated: boolean): boolean;
}
/** What the truth of a condition says about the values it reads. */
interface Inference<N> {
  /** Assumes that the condition is true (false when `isNegated`); false when that is impossible. */
  assume(node: N, isNegated: boolean, known: KnownValues): boolean;
  /** Whether it is true wherever its operands are known. @param canBeFalse by `assume` */
  isAlways(node: N, ranges: KnownRanges, canBeFalse: () => boolean): boolean;
  /** The bounds that it sets on one value by a number; undefined when it does not compare with a number. */
  bounds(node: N, ranges: KnownRanges): { readonly value: ValueChild; readonly bounds: Range } | undefined;
}
/** What a comparison is warned of with. */
interface ComparisonCheck {
  /** Neither side is a count, flag, clock field or price, and one of them is computed. */
  isInexact(left: ValueChild, right: ValueChild): boolean;
  warn(
    code: 'FLOAT_EQUALITY',
    member: string,
    details: { readonly message: string; readonly suggestion: string },
  ): void;
}

interface WrittenCondition<S extends z.ZodObject, W> extends WrittenKind<S> {
  /**
   * `leaf` reads values or the clock, and counts as one condition of the tier limits; `temporal` follows other
   * conditions over several bars; `logic` joins the conditions of one bar.
   */
  readonly role: 'leaf' | 'temporal' | 'logic';
  /** How a condition of the role `logic` joins its parts. */
  readonly joins?: { readonly by: 'all' | 'any' | 'not'; parts(node: W): readonly ConditionChild[] };
  /** The two values that it compares; null where it does not compare two. */
  readonly sides: { of(node: W): { readonly left: ValueChild; readonly right: ValueChild } } | null;
  /** Whether it asks which of its sides is greater, or whether they are equal. */
  readonly comparesOrder?: true;
  /** Values beside what each is compared with. */
  scaled?(node: W): readonly (readonly [ValueChild, ...ValueChild[]])[];
  readonly infers: Inference<W> | null;
  /** Warns of comparisons that are rarely meant. */
  warn?(node: W, check: ComparisonCheck): void;
  /** It happens on one bar, on which another such condition rarely does too. */
  isEvent?(node: W): boolean;
  /** The source has bars of its own: reading it on base bars, to show it, would take another step. */
  readonly hasOwnBars?: true;
  /** How to loosen it where it was never true. @param overlaps the ranges of its sides did */
  readonly advice?: { readonly always?: string; readonly ofOverlap?: string };
  /** How to let it count some bars later. */
  readonly laterBy?: string;
}

// Runs ---------------------------------------------------------------------------------------------------------------

interface RunnableKind<N> {
  /** As a person would write it. */
  text(node: N, write: TextWriter): string;
  /** Whether the text is a sum or product, and stands in parentheses beside an operator. */
  isInfix?(node: N): boolean;
  /** The bars before the first value or known truth. */
  lookback(node: N, place: LookbackPlace): Need;
  /**
   * Whether the lookback is kept: for one call unless this says otherwise. Never: computing it is faster than looking
   * it up. Always: by node, across calls, since the runs of a plan template share nodes.
   */
  readonly keepsLookback?: 'never' | 'always';
  /** Adds the steps of the column. */
  step(node: N, steps: StepCompiler, ambient: Frame): Slot;
  /** It reads when a bar opens, to the hour or minute. */
  readsHours?(node: N): boolean;
  /** It reads when a bar opens, in the strategy's time zone. */
  readonly readsTimezone?: true;
  /** The field of position or account state that it reads. */
  stateField?(node: N): string;
}
/** How a node is read in the loop that reads position or account state, or has a part that does. */
interface OverState<N, Read> {
  read(node: N, parts: StatefulParts): Read;
  /** How many values it keeps. */
  keeps(node: N): number;
}
type Own<O, Operation> = [O] extends [never] ? null : Operation;

/**
 * A value kind of schema S. N: the node as it runs; W: as it is written. O: its own operation; never: it is made of
 * shared ones.
 */
export interface ValueDefinition<
  S extends z.ZodObject,
  N = RunnableOf<S>,
  O extends { readonly op: string } = never,
  W = z.input<S>,
>
  extends WrittenValue<S, W>, RunnableKind<N> {
  readonly type: 'value';
  readonly operation: Own<O, OwnValueOperation<O>>;
  /** Null: it has no part that could read state, or is computed before the loop. */
  readonly overState: OverState<N, ReadValue> | null;
}
/**
 * A condition kind of schema S. N: the node as it runs; W: as it is written. O: its own operation; never: it is made
 * of shared ones.
 */
export interface ConditionDefinition<
  S extends z.ZodObject,
  N = RunnableOf<S>,
  O extends { readonly op: string } = never,
  W = z.input<S>,
>
  extends WrittenCondition<S, W>, RunnableKind<N> {
  readonly type: 'condition';
  readonly operation: Own<O, OwnConditionOperation<O>>;
  readonly overState: OverState<N, ReadTruth> | null;
}
/** A value kind that the canonical form replaces by another kind, so that no run has it. */
export interface ReplacedValue<S extends z.ZodObject, W = z.input<S>> extends WrittenValue<S, W> {
  readonly type: 'replaced value';
}
