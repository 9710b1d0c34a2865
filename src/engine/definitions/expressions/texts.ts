// Texts of nodes as a person would write them: the parts that several kinds share.
import type { Child } from './places.ts';

/** Writes the child expressions of a node. */
export interface TextWriter {
  /** A child as it is. */
  text(child: Child): string;
  /** A child that stands beside an operator: sums and products in parentheses. */
  operand(child: Child): string;
}

/** `@SPX@4h[1]`: the instrument, timeframe and offset that a node names. */
export const placeText = ({
  instrument,
  timeframe,
  offset,
}: {
  readonly timeframe?: string;
  readonly offset?: number;
  readonly instrument?: { readonly symbol: string };
}): string =>
  `${instrument ? `@${instrument.symbol}` : ''}${timeframe ? `@${timeframe}` : ''}${offset ? `[${offset}]` : ''}`;

export const withinText = (bars: number): string => (bars === 1 ? '' : ` within ${bars} bars`);
