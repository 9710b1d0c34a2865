// A slippage kind: everything that the config, the loop and the checks need to know about one way to model slippage.
import type { z } from 'zod';
import type { Bars, Instrument } from '../../bars/bars.ts';
import type { VariantMembers } from '../taggedSchemas.ts';

/**
 * The price that a market or stop order gets, moved against the trader and never below 0; direction 1 buys, -1 sells.
 * `closedRow` is the last bar closed before the fill; below 0: none (semantics §4.4).
 */
export type SlippedPrice = (price: number, direction: 1 | -1, closedRow: number) => number;

export interface SlippageKind<Kind extends string = string, Members extends VariantMembers = VariantMembers> {
  readonly kind: Kind;
  /** The members in the config. */
  readonly members: Members;
  /** What authors are told about its members; null: nothing. */
  readonly note: string | null;
  /** Its text in the report. @param text a number as the report writes it */
  shown(slippage: Given<Members>, text: (number: number) => string): string;
  /** Whether fills are at the price itself. */
  isFree(slippage: Given<Members>): boolean;
  /** The same slippage times a factor, for stress tests. */
  multiplied(slippage: Given<Members>, factor: number): Given<Members>;
  /** Bars of the ATR that it reads; null: none. */
  atrPeriod(slippage: Given<Members>): number | null;
  /** The member that makes the tick size of the instrument necessary, and what to write instead; null: none does. */
  tickMember(slippage: Given<Members>): { readonly member: string; readonly suggestion: string } | null;
  /** What slippage in the form of another platform certainly stands for. */
  meant(
    written: Readonly<Record<string, unknown>>,
  ): { readonly value: Given<Members> & { readonly kind: Kind }; readonly message: string } | null;
  /** The formula for the bars of a run. @throws Error without a tick size or ATR that the checks require */
  bind(slippage: Given<Members>, market: SlippageMarket): SlippedPrice;
}

/** What a formula is bound to. */
interface SlippageMarket {
  readonly bars: Bars;
  readonly instrument: Instrument;
  /** Of `atrPeriod` bars; null: the kind reads none. */
  readonly atr: Float64Array | null;
}

type Given<Members extends VariantMembers> = z.output<z.ZodObject<Members>>;

export const slippageKind = <const Kind extends string, Members extends VariantMembers>(
  definition: SlippageKind<Kind, Members>,
): SlippageKind<Kind, Members> => definition;
