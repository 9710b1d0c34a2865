// The series of other instruments that a payload names, needed before anything is compiled.
import type { Timeframe } from '../../bars/bars.ts';
import { readsState } from '../../definitions/expressions/expressionRegistry.ts';
import type { StrategyAst } from '../grammar/ast.ts';
import type { SignalGraph } from '../grammar/graph.ts';
import { visitObjects } from '../grammar/payloadObjects.ts';
import { sentPlaces } from './sentPlaces.ts';

export interface SeriesName {
  readonly symbol: string;
  readonly timeframe: Timeframe;
}

/** Series of other instruments that the nodes of a payload read. State has no bars. */
export function foreignSeries(ast: unknown, symbol: string, base: Timeframe): SeriesName[] {
  const found = new Map<string, SeriesName>();
  visitInstruments(ast, (named, timeframe, kind) => {
    if (named === symbol || readsState({ kind })) return;
    const series = { symbol: named, timeframe: timeframe ?? base };
    found.set(`${series.symbol} ${series.timeframe}`, series);
  });
  return [...found.values()];
}

/** The instruments that the nodes of a payload name. */
export function namedSymbols(ast: unknown): Set<string> {
  const symbols = new Set<string>();
  visitInstruments(ast, (symbol) => symbols.add(symbol));
  return symbols;
}

function visitInstruments(
  ast: unknown,
  visit: (symbol: string, timeframe: Timeframe | undefined, kind: unknown) => void,
): void {
  visitObjects(ast, (object) => {
    const { instrument, timeframe, kind } = object as {
      instrument?: { symbol?: string } | null;
      timeframe?: Timeframe;
      kind?: unknown;
    };
    // `defaults` has an instrument too, which the config replaces; it has no kind.
    if (kind !== undefined && instrument?.symbol !== undefined) visit(instrument.symbol, timeframe, kind);
  });
}

/** The place, in the payload as sent, of the first node that names the instrument or else the timeframe of a series. */
export function placeOfSeries(
  ast: StrategyAst,
  signalGraph: SignalGraph | undefined,
  { symbol, timeframe }: SeriesName,
): string {
  const places = sentPlaces(ast, signalGraph);
  let bySymbol: object | undefined;
  let byTimeframe: object | undefined;
  visitObjects(ast, (object) => {
    if (object.kind === undefined) return;
    if ((object.instrument as { symbol?: unknown } | undefined)?.symbol === symbol) bySymbol ??= object;
    if (object.timeframe === timeframe) byTimeframe ??= object;
  });
  return places.get(bySymbol ?? byTimeframe ?? ast)!;
}
