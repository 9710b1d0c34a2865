// Synthetic bars: seeded one-minute bars that behave like a crypto market, always labeled as synthetic.
import type { SnapshotColumns } from '../engine/bars/arrow.ts';
import { MINUTE_MS } from '../engine/bars/bars.ts';
import { summarizeSeries } from './import/importReport.ts';
import type { BarsTable } from './import/importReport.ts';
import { SYNTHETIC_PREFIX, checkSymbol } from './instrument.ts';
import { refuse } from './import/importError.ts';
import { Random } from './random.ts';

export interface SynthOptions {
  /** Must begin with SYN-. */
  readonly symbol: string;
  /** 1 to MAX_DAYS, weekends included. */
  readonly days: number;
  /** The same symbol, seed and start give the same bars; more days only append. */
  readonly seed: number;
  /** Open of the first bar, ms UTC, a whole minute; default 2024-01-01. */
  readonly start?: number;
  /** First open; the default depends on the symbol, else 100. */
  readonly price?: number;
}

/** Ten years of minutes are 5.3 million bars, 300 MB. */
export const MAX_DAYS = 3660;
const DEFAULT_START = Date.UTC(2024, 0, 1);
const MINUTES_PER_DAY = 1440;
const DEFAULT_PRICES: Readonly<Record<string, number>> = { 'SYN-BTC': 42_000, 'SYN-ETH': 2300, 'SYN-SOL': 100 };

/** Long-run standard deviation of daily log returns; Bitcoin's was 2.3 % to 4 % from 2020 to 2024. */
const DAILY_DEVIATION = 0.03;
const MINUTE_VARIANCE = DAILY_DEVIATION ** 2 / MINUTES_PER_DAY;
/** GARCH(1,1): shocks raise the variance, which falls back with a half-life of about 70 minutes. */
const GARCH = { shock: 0.06, memory: 0.93 };
/** A slow factor of the variance: log-normal, half-life about three days, so that calm and wild weeks alternate. */
const REGIME = { memory: Math.exp(-Math.LN2 / (3 * MINUTES_PER_DAY)), deviation: 0.5 };
/** Drift changes every two days on average, up, down or none: trends to follow, ranges to fade. */
const DRIFT = { chance: 1 / (2 * MINUTES_PER_DAY), daily: 0.012 };
/** About one jump in four days, of about 1.5 %. */
const JUMP = { chance: 1 / (4 * MINUTES_PER_DAY), deviation: 0.015 };
/** About one outage in thirty days: some flat minutes without volume, then up to two hours without bars. */
const OUTAGE = { chance: 1 / (30 * MINUTES_PER_DAY), flatMinutes: 20, absentMinutes: 120 };
/** Steps of the path inside a minute, whose extremes are its high and low. */
const PATH_STEPS = 8;
/** The busiest hour of the day is 15:00 UTC, New York's morning. */
const BUSIEST_HOUR = 15;

/**
 * One-minute bars, whose columns are shorter than `days` by the bars that outages leave out.
 * @throws MarketDataError SYMBOL_INVALID, or FILE_TOO_LARGE for an impossible number of days
 */
export function synthesize({ symbol, days, seed, start = DEFAULT_START, price }: SynthOptions): SnapshotColumns {
  checkRequest(symbol, days);
  const random = new Random(seed, symbol);
  const minutes = days * MINUTES_PER_DAY;
  const [time, open, high, low, close, volume] = Array.from({ length: 6 }, () => new Float64Array(minutes));
  const walk = new Walk(random, price ?? DEFAULT_PRICES[symbol] ?? 100);
  let length = 0;
  let flat = 0;
  let absent = 0;
  for (let minute = 0; minute < minutes; minute++) {
    if (flat === 0 && absent === 0 && random.unit() < OUTAGE.chance) {
      flat = 1 + Math.floor(random.unit() * OUTAGE.flatMinutes);
      absent = 1 + Math.floor(random.unit() * OUTAGE.absentMinutes);
    }
    if (flat === 0 && absent > 0 && length > 0) {
      absent--;
      continue;
    }
    const isFlat = flat > 0;
    if (isFlat) flat--;
    else walk.step(minute);
    time[length] = start + minute * MINUTE_MS;
    open[length] = isFlat ? walk.close : walk.open;
    high[length] = isFlat ? walk.close : walk.high;
    low[length] = isFlat ? walk.close : walk.low;
    close[length] = walk.close;
    volume[length] = isFlat ? 0 : walk.volume;
    length++;
  }
  const cut = (column: Float64Array): Float64Array => column.slice(0, length);
  return {
    time: cut(time),
    open: cut(open),
    high: cut(high),
    low: cut(low),
    close: cut(close),
    volume: cut(volume),
    series: new Map(),
  };
}

function checkRequest(symbol: string, days: number): void {
  checkSymbol(symbol);
  if (!symbol.startsWith(SYNTHETIC_PREFIX))
    refuse(
      'SYMBOL_INVALID',
      `"${symbol}" does not begin with ${SYNTHETIC_PREFIX}. Synthetic bars must be recognizable, so name ` +
        `them like ${SYNTHETIC_PREFIX}BTC.`,
    );
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    refuse('FILE_TOO_LARGE', `${days} is not a number of days from 1 to ${MAX_DAYS}.`);
}

/** The bars as an import would read them, for `Catalog.add`. */
export function synthesizeBars(options: SynthOptions): BarsTable {
  const columns = synthesize(options);
  const report: BarsTable['report'] = {
    ...summarizeSeries(columns, '1m'),
    isTimeframeInferred: false,
    isCloseOnly: false,
    format: 'arrow',
    time: { column: 'time', unit: 'ms', zone: 'UTC', is: 'open' },
    series: [],
    ignored: [],
    notes: [`Synthetic bars, seed ${options.seed}.`],
  };
  return { columns, report };
}

/** The price process, one minute at a time. */
class Walk {
  open: number;
  high: number;
  low: number;
  close: number;
  volume = 0;
  readonly #random: Random;
  /** 10 to the power of a price's decimals: the first price has at least six significant digits. */
  readonly #scale: number;
  readonly #baseVolume: number;
  #variance = MINUTE_VARIANCE;
  #regime = 0;
  #drift = 0;

  constructor(random: Random, price: number) {
    this.#random = random;
    this.#scale = 10 ** Math.max(0, 6 - Math.ceil(Math.log10(price)));
    this.open = this.high = this.low = this.close = this.#round(price);
    // One minute has a turnover of about two million in the quote currency.
    this.#baseVolume = 2e6 / price;
  }

  step(minute: number): void {
    const random = this.#random;
    if (random.unit() < DRIFT.chance)
      this.#drift = (Math.floor(random.unit() * 3) - 1) * (DRIFT.daily / MINUTES_PER_DAY);
    const shock = Math.sqrt(1 - REGIME.memory ** 2) * REGIME.deviation;
    this.#regime = this.#regime * REGIME.memory + shock * random.normal();
    const hour = (minute / 60) % 24;
    const season = 1 + 0.35 * Math.cos(((hour - BUSIEST_HOUR) / 12) * Math.PI);
    const deviation = Math.sqrt(this.#variance) * Math.exp(this.#regime) * season;
    const jump = random.unit() < JUMP.chance ? JUMP.deviation * random.normal() : 0;
    const moved = this.#walkPath(deviation, jump);
    const standard = moved / (Math.exp(this.#regime) * season);
    // One minute is remembered as at most four standard deviations, so that a jump does not change the regime.
    const remembered = Math.min(standard ** 2, 16 * MINUTE_VARIANCE);
    this.#variance =
      MINUTE_VARIANCE * (1 - GARCH.shock - GARCH.memory) + GARCH.shock * remembered + GARCH.memory * this.#variance;
    const activity = 0.4 + 0.6 * Math.abs(standard / Math.sqrt(MINUTE_VARIANCE));
    this.volume = Math.round(this.#baseVolume * season * activity * Math.exp(0.5 * random.normal()) * 1e5) / 1e5;
  }

  /** @returns the minute's log return before rounding */
  #walkPath(deviation: number, jump: number): number {
    const from = this.close;
    const jumpAt = Math.floor(this.#random.unit() * PATH_STEPS);
    let moved = 0;
    this.open = this.high = this.low = this.close;
    for (let at = 0; at < PATH_STEPS; at++) {
      moved += (deviation / Math.sqrt(PATH_STEPS)) * this.#random.normal() + this.#drift / PATH_STEPS;
      if (at === jumpAt) moved += jump;
      this.close = this.#round(from * Math.exp(moved));
      if (this.close > this.high) this.high = this.close;
      if (this.close < this.low) this.low = this.close;
    }
    return moved;
  }

  #round(price: number): number {
    return Math.max(1, Math.round(price * this.#scale)) / this.#scale;
  }
}
