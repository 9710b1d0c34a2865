// A level mode: everything that the language, the checks and the loop need to know about one way to place the levels of
// risk, which are the stop, the targets and the trailing stop.
import type { Timeframe } from '../../bars/bars.ts';

/**
 * How a level is written and bound. A number is known from the start. `atrs` (a multiple of the ATR of `period` bars)
 * and an expression are read at the close of the signal and fixed then (semantics §2.4).
 */
export type LevelForm = 'number' | 'atrs' | 'expression';

/** One line for authors about each member of a stop of that form. */
interface StopTexts {
  readonly number: { readonly value: string };
  readonly atrs: AtrTexts;
  readonly expression: { readonly value: string; readonly update: string };
}
/** The same about a level that is one member. */
interface MemberTexts {
  readonly number: string;
  readonly atrs: AtrTexts;
  readonly expression: string;
}
interface AtrTexts {
  readonly period: string;
  readonly multiplier: string;
}

/**
 * The price of a level.
 * @param direction 1: above the entry, -1: below it
 * @param amount the number, or the distance or price that was read at the signal
 * @param initialRisk the distance from the entry to the initial stop; NaN without a stop
 */
export type LevelFormula = (entryPrice: number, direction: 1 | -1, amount: number, initialRisk: number) => number;

interface LevelOf<Form extends LevelForm> {
  readonly mode: string;
  readonly form: Form;
  /** What the number counts, or the multiplier of an ATR. */
  readonly unit: 'percentPoints' | 'atrs' | 'risks' | 'money' | 'prices';
  /** Whether the formula reads the distance to the initial stop, so that the strategy must have one. */
  readonly needsStop: boolean;
  /** As the mode of `stopLoss`; null: not offered there. */
  readonly stop: { readonly texts: StopTexts[Form] } | null;
  /** As a member of a take-profit; null: not offered there. */
  readonly trigger: { readonly member: string; readonly texts: MemberTexts[Form] } | null;
  /** As a member of the trailing stop; null: not offered there. */
  readonly distance: {
    readonly member: string;
    readonly texts: MemberTexts[Form];
    /** The largest number; null: any. */
    readonly max: number | null;
    /** The trailing stop is the best price × factor − offset, both seen from a long's side (semantics §3.4). */
    readonly factor: (side: 1 | -1, amount: number) => number;
    readonly offset: (amount: number) => number;
  } | null;
  readonly price: LevelFormula;
  /** From which distance on a stop is farther away than a bar usually moves; null: no such distance is known. */
  readonly noise: {
    readonly unit: string;
    readonly meaning: string;
    readonly least: (timeframe: Timeframe) => number;
  } | null;
  /** Words for the mode on other platforms and for its `value` there, separated by spaces. */
  readonly otherNames: string;
  readonly otherValueNames: string;
}

export type LevelMode = LevelOf<'number'> | LevelOf<'atrs'> | LevelOf<'expression'>;

export const levelMode = <const Definition extends LevelMode>(definition: Definition): Definition => definition;
