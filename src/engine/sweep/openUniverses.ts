// The universes of a sweep that are open in a thread: variants on the same instruments share one.
import type { Market, Universe } from '../bars/bars.ts';
import { openedMarkets, type MarketOf } from '../comparedRun.ts';
import { isPortfolio, symbolsOf, type BacktestConfig } from '../config.ts';
import type { RunError } from '../task.ts';

/** As many as variants are prepared before they are simulated; a universe takes some hundred bytes per instrument. */
const MAX_UNIVERSES = 32;

export class OpenUniverses {
  /** By their instruments and timeframe, the latest last. */
  readonly #open = new Map<string, Market | Universe | RunError>();

  /** The market of a config, or the universe of its list; the error names an instrument without bars. */
  marketsOf(config: BacktestConfig, marketOf: MarketOf): Market | Universe | RunError {
    if (!isPortfolio(config)) return openedMarkets(config, marketOf);
    const key = JSON.stringify([config.timeframe, symbolsOf(config)]);
    const known = this.#open.get(key);
    const opened = known ?? openedMarkets(config, marketOf);
    this.#open.delete(key);
    if (this.#open.size === MAX_UNIVERSES) this.#open.delete(this.#open.keys().next().value!);
    this.#open.set(key, opened);
    return opened;
  }
}
