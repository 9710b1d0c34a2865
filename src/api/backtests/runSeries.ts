// The series of a run: the stored bars of each instrument that it trades and of all else that it reads, or the issues
// that say which of them are not stored.
import { setImmediate as immediate } from 'node:timers/promises';
import { foreignSeries } from '../../engine/index.ts';
import type { SeriesName } from '../../engine/index.ts';
import type { Catalog, CatalogEntry } from '../../market/catalog.ts';
import { similarSymbol } from '../../market/similarSymbol.ts';
import type { ProblemIssue } from '../http/problems.ts';
import { barsOf, seriesKey, type RunSeries } from './backtestCost.ts';

/** How many symbols an issue names; GET /market-data lists all. */
const SYMBOLS_SHOWN = 20;
/**
 * Names that are compared with unknown symbols for one config, some tens of milliseconds: among thousands of stored
 * symbols only the first unknown ones get the name that was probably meant.
 */
const MAX_COMPARISONS = 50_000;

/** What decides which series a run reads. */
interface WantedSeries {
  readonly strategyAst: unknown;
  readonly timeframe: SeriesName['timeframe'];
  /** What it trades, in the order of the list. */
  readonly symbols: readonly string[];
  /** Whether the config names them in `instruments`. */
  readonly isList: boolean;
  /** What it is compared with; undefined: itself. */
  readonly benchmark: string | undefined;
}

/** What the requests of one call have in common that run the same version on the same series. */
export interface VersionOnSeries extends RunSeries {
  /** The bars of each instrument; undefined: there are no such bars. */
  readonly bases: readonly (CatalogEntry | undefined)[];
  /** The issues that there are no such bars, nor any of the benchmark; otherwise empty. */
  readonly unavailable: readonly ProblemIssue[];
  /** Series of other instruments that are missing. */
  readonly missing: readonly ProblemIssue[];
  /** The names of the snapshots that a run may read. */
  readonly snapshots: readonly string[];
}

export async function findSeries(catalog: Catalog, wanted: WantedSeries): Promise<VersionOnSeries> {
  const { strategyAst, timeframe, symbols, isList, benchmark } = wanted;
  const unavailable: ProblemIssue[] = [];
  const missing: ProblemIssue[] = [];
  const rows = new Map<string, number>();
  const entries = new Map<string, CatalogEntry>();
  const find = async (series: SeriesName): Promise<CatalogEntry | undefined> => {
    const found = await catalog.find(series.symbol, series.timeframe);
    if (found) rows.set(seriesKey(series), barsOf(found, series.timeframe));
    for (const entry of await catalog.readable(series.symbol, series.timeframe)) entries.set(entry.sha256, entry);
    return found;
  };
  const bases: (CatalogEntry | undefined)[] = [];
  const unknown: [symbol: string, path: string][] = [];
  const pause = pauses();
  for (const [index, symbol] of symbols.entries()) {
    await pause();
    const base = await find({ symbol, timeframe });
    bases.push(base);
    if (!base)
      unknown.push([symbol, isList ? `/config/instruments/${index}/symbol` : '/config/signalInstrument/symbol']);
  }
  const own = new Set(symbols);
  for (const series of foreignSeries(strategyAst, '', timeframe))
    if (!own.has(series.symbol) && !(await find(series))) missing.push(foreignMissing(series));
  if (benchmark !== undefined && !(await find({ symbol: benchmark, timeframe })))
    unknown.push([benchmark, '/config/benchmark/symbol']);
  if (unknown.length > 0) {
    const search = await UnknownSymbols.among(catalog);
    for (const [symbol, path] of unknown) {
      await pause();
      unavailable.push(search.issue(symbol, timeframe, path));
    }
  }
  const openedBars = [...entries.values()].reduce((sum, { bars }) => sum + bars, 0);
  return { bases, unavailable, missing, snapshots: [...entries.keys()].sort(), rows, openedBars };
}

/** How long a list may keep the event loop before other requests get their turn. */
const SLICE_MS = 5;

/** Lets other requests pass when a slice is over; a short list never waits. */
function pauses(): () => Promise<void> {
  let sliceBegan = performance.now();
  return async () => {
    if (performance.now() - sliceBegan < SLICE_MS) return;
    await immediate();
    sliceBegan = performance.now();
  };
}

/** Explains why there are no bars of a symbol, and names the one that was probably meant. */
class UnknownSymbols {
  readonly #timeframes: ReadonlyMap<string, readonly string[]>;
  readonly #symbols: readonly string[];
  #comparisons = 0;

  static async among(catalog: Catalog): Promise<UnknownSymbols> {
    const stored = Map.groupBy(await catalog.list(), ({ symbol }) => symbol);
    const symbols = (await catalog.instruments()).map(({ symbol }) => symbol);
    return new UnknownSymbols(
      new Map([...stored].map(([symbol, entries]) => [symbol, entries.map(({ timeframe }) => timeframe)])),
      symbols,
    );
  }

  private constructor(timeframes: ReadonlyMap<string, readonly string[]>, symbols: readonly string[]) {
    this.#timeframes = timeframes;
    this.#symbols = symbols;
  }

  /** @param path of the symbol in the config */
  issue(symbol: string, timeframe: string, path: string): ProblemIssue {
    const stored = this.#timeframes.get(symbol);
    if (stored !== undefined)
      return {
        code: 'TIMEFRAME_NOT_AVAILABLE',
        path: path === '/config/signalInstrument/symbol' ? '/config/timeframe' : path,
        field: 'config',
        severity: 'error',
        message: `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from.`,
        suggestion: `Use ${stored.join(' or ')}, or coarser.`,
      };
    return {
      code: 'SYMBOL_NOT_AVAILABLE',
      path,
      field: 'config',
      severity: 'error',
      message: `There is no market data of "${symbol}".`,
      ...this.#repair(symbol, path),
    };
  }

  /** Another spelling of the same name is repaired for certain; a similar name may as well be another instrument. */
  #repair(symbol: string, path: string): Pick<ProblemIssue, 'suggestion' | 'patch'> {
    const isCompared = this.#comparisons === 0 || this.#comparisons + this.#symbols.length <= MAX_COMPARISONS;
    this.#comparisons += this.#symbols.length;
    const similar = isCompared ? similarSymbol(symbol, this.#symbols) : undefined;
    if (similar !== undefined) {
      const { symbol: value, isSpelling } = similar;
      return {
        suggestion: `Did you mean "${value}"?`,
        ...(isSpelling && { patch: [{ op: 'replace', path, value }] }),
      };
    }
    const shown = this.#symbols.slice(0, SYMBOLS_SHOWN).join(', ');
    return { suggestion: `Use one of ${shown}; GET /public/v1/market-data lists all.` };
  }
}

const foreignMissing = ({ symbol, timeframe }: SeriesName): ProblemIssue => ({
  code: 'SYMBOL_NOT_AVAILABLE',
  field: 'strategyVersionId',
  severity: 'error',
  path: '/strategyVersionId',
  message: `The strategy reads ${symbol} ${timeframe}, of which there is no market data.`,
  suggestion: 'Use a strategy version that reads only series of GET /public/v1/market-data.',
});
