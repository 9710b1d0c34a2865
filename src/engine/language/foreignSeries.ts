// The series of other instruments that a payload names, read before anything is compiled.
import type { StoredTimeframe } from '../columns/bars.ts';

export interface SeriesName {
  readonly symbol: string;
  readonly timeframe: StoredTimeframe;
}

/** Series of other instruments that a node names. A loop with a stack, for an AST may be a thousand deep. */
export function foreignSeries(ast: unknown, symbol: string, base: StoredTimeframe): SeriesName[] {
  const found = new Map<string, SeriesName>();
  const stack: unknown[] = [ast];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { instrument, timeframe, kind } = node as {
      instrument?: { symbol?: string };
      timeframe?: StoredTimeframe;
      kind?: unknown;
    };
    // `defaults` has an instrument too, which the config replaces; it has no kind.
    if (kind !== undefined && instrument?.symbol !== undefined && instrument.symbol !== symbol) {
      const series = { symbol: instrument.symbol, timeframe: timeframe ?? base };
      found.set(`${series.symbol} ${series.timeframe}`, series);
    }
    stack.push(...Object.values(node));
  }
  return [...found.values()];
}
