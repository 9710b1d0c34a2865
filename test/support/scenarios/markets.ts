// Markets for scenarios: hours of quarter prices with and without bars to drill into, holes, and a second instrument.
import type { SnapshotColumns } from '../../../src/engine/bars/arrow.ts';
import type { Instrument, Market, Timeframe } from '../../../src/engine/bars/bars.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { START } from '../bars.ts';
import type { Dice } from '../dice.ts';

const HOUR_MS = 3_600_000;
const QUARTER_HOUR_MS = HOUR_MS / 4;

export type Children = 'whole' | 'none' | 'missing bars' | 'missing children';
/** [open time, open, high, low, close]. */
export type Row = readonly [number, number, number, number, number];

/** What a market is made of, so that a law can change its future. */
export interface MarketParts {
  /** Quarter hours of TEST; the base is their hours. */
  readonly quarters: readonly Row[];
  /** Open times of hours that the base lacks. */
  readonly holes: ReadonlySet<number>;
  /** Open times of quarter hours that are not there to drill into. */
  readonly missing: ReadonlySet<number>;
  /** By the open time of an hour, the factor by which its quarter hours to drill into are wrong. */
  readonly wrong: ReadonlyMap<number, number>;
  /** Uniform random numbers, one per hour, missing now and then. */
  readonly chance: readonly number[];
  /** Hours of OTHER. */
  readonly others: readonly Row[];
  readonly children: Children;
  readonly instrument: Instrument;
}

/** How often an open leaves the close before it: at the first quarter of an hour, and within hours. */
export interface Gaps {
  readonly hourly: number;
  readonly inner: number;
}

/** Prices are whole quarters, so that levels are met exactly now and then. */
export function quarterHours(dice: Dice, from: number, count: number, gaps: Gaps, first = 100): Row[] {
  const quarter = (price: number): number => Math.max(8, Math.round(price * 4) / 4);
  const rows: Row[] = [];
  let price = first;
  for (let at = 0; at < count; at++) {
    const time = from + at * QUARTER_HOUR_MS;
    const open = dice.chance(time % HOUR_MS === 0 ? gaps.hourly : gaps.inner)
      ? quarter(price + dice.number(-3, 3))
      : price;
    const close = quarter(open + dice.number(-1.4, 1.4) + (100 - open) * 0.01);
    const high = quarter(Math.max(open, close) + dice.number(0, 0.8));
    const low = quarter(Math.min(open, close) - dice.number(0, 0.8));
    rows.push([time, open, high, low, close]);
    price = close;
  }
  return rows;
}

function hoursOf(rows: readonly Row[]): Row[] {
  const hours = Map.groupBy(rows, ([time]) => Math.floor(time / HOUR_MS) * HOUR_MS);
  return [...hours].map(([time, parts]) => {
    const column = (at: number): number[] => parts.map((row) => row[at]);
    return [time, parts[0][1], Math.max(...column(2)), Math.min(...column(3)), parts.at(-1)![4]];
  });
}

function columnsOf(rows: readonly Row[], series: Record<string, number[]> = {}): SnapshotColumns {
  const column = (at: number): Float64Array => Float64Array.from(rows, (row) => row[at]);
  return {
    time: column(0),
    open: column(1),
    high: column(2),
    low: column(3),
    close: column(4),
    volume: Float64Array.from(rows, (_, at) => 10 + (at % 7)),
    series: new Map(Object.entries(series).map(([name, values]) => [name, Float64Array.from(values)])),
  };
}

export function randomParts(dice: Dice, children: Children, inner: number | null = null): MarketParts {
  const hours = dice.whole(60, 160);
  const from = START + dice.whole(0, 30) * HOUR_MS;
  const hourly = dice.pick([0.02, 0.1, 0.3]);
  const quarters = quarterHours(dice, from, hours * 4, { hourly, inner: inner ?? hourly });
  const opens = Array.from({ length: hours }, (_, at) => from + at * HOUR_MS);
  const holeRate = dice.chance(0.3) ? 0.05 : 0;
  return {
    quarters,
    holes: new Set(opens.filter(() => dice.chance(holeRate))),
    missing: missingChildren(dice, quarters, children),
    wrong: new Map(),
    chance: opens.map(() => (dice.chance(0.02) ? NaN : dice.number(0, 1))),
    others: hoursOf(quarterHours(dice, from, hours * 4, { hourly: 0.1, inner: 0.1 })).filter(() => !dice.chance(0.05)),
    children,
    instrument: {
      symbol: 'TEST',
      base: 'T',
      quote: 'USD',
      tickSize: 0.25,
      qtyStep: dice.pick([0, 1e-8, 0.001, 0.001, 1]),
      minNotional: dice.pick([0, 0, 50, 500]),
      tradesAllDay: dice.chance(0.5),
      // A number of its own for every third market, from what is drawn already.
      ...(hours % 3 === 0 && { periodsPerYear: 200 + hours }),
      synthetic: true,
    },
  };
}

/**
 * Whole hours without any child, or hours without some of their children: these may not touch what their parent
 * touched.
 */
function missingChildren(dice: Dice, rows: readonly Row[], children: Children): ReadonlySet<number> {
  if (children === 'whole' || children === 'none') return new Set();
  const times = rows.map(([time]) => time);
  if (children === 'missing children') return new Set(times.filter(() => dice.chance(0.3)));
  const hourOf = (time: number): number => Math.floor(time / HOUR_MS);
  const hours = new Set([...new Set(times.map(hourOf))].filter(() => dice.chance(0.4)));
  return new Set(times.filter((time) => hours.has(hourOf(time))));
}

/**
 * The same market with quarter hours that contradict their hours: now and then, often, or by one factor throughout, and
 * by so little in some that they are tolerated.
 */
export function withWrongChildren(parts: MarketParts, dice: Dice): MarketParts {
  const share = dice.pick([0.03, 0.08, 0.3, 1]);
  const factor = dice.pick([1.0005, 0.98, 1.02, 1.3]);
  const hours = new Set(parts.quarters.map(([time]) => Math.floor(time / HOUR_MS) * HOUR_MS));
  return { ...parts, wrong: new Map([...hours].filter(() => dice.chance(share)).map((hour) => [hour, factor])) };
}

/** Base hours of TEST with the column `chance`, its quarter hours to drill into, and hours of OTHER. */
export function marketOf({
  quarters,
  holes,
  missing,
  wrong,
  chance,
  others,
  children,
  instrument,
}: MarketParts): Market {
  const about = (symbol: string, timeframe: Timeframe) => ({
    symbol,
    timeframe,
    instrument: { ...instrument, symbol },
  });
  const hours = hoursOf(quarters);
  const isKept = ([time]: Row): boolean => !holes.has(time);
  const kept = chance.filter((_, at) => isKept(hours[at]));
  const snapshots = [
    makeSnapshot(columnsOf(hours.filter(isKept), { chance: kept }), about('TEST', '1h')),
    makeSnapshot(columnsOf(others), about('OTHER', '1h')),
  ];
  const drilled = quarters
    .filter(([time]) => !missing.has(time))
    .map(([time, ...prices]): Row => {
      const factor = wrong.get(Math.floor(time / HOUR_MS) * HOUR_MS) ?? 1;
      const [open, high, low, close] = prices.map((price) => price * factor);
      return [time, open, high, low, close];
    });
  if (children !== 'none') snapshots.push(makeSnapshot(columnsOf(drilled), about('TEST', '15m')));
  return createMarket(snapshots, 'TEST', '1h');
}
