// Universes that portfolios of other engines are compared on: the seeded ones of test/golden/universes.py, number by
// number, and the series that the project ships.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import { DAY_MS } from '../../src/engine/bars/bars.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { seededRandom } from './scale.ts';

/** Bars without quantity steps; peers compare opens and closes alone. */
export interface PeerBars {
  readonly symbol: string;
  readonly time: readonly number[];
  readonly open: readonly number[];
  readonly close: readonly number[];
}
export interface PeerUniverse {
  /** The instants at which any instrument has a bar. */
  readonly axis: readonly number[];
  readonly instruments: readonly PeerBars[];
  readonly timeframe: '1d' | '1h';
  readonly tradesAllDay: boolean;
}

const START = Date.UTC(2015, 0, 1);

/** Every second seed has a five-day week. Of three seeds one has opens equal to the closes before. */
export function seededUniverse(seed: number): PeerUniverse {
  const random = seededRandom(seed);
  const count = 5 + Math.floor(random() * 36);
  const days = 300 + Math.floor(random() * 1201);
  const tradesAllDay = seed % 2 === 0;
  const axis: number[] = [];
  for (let time = START; axis.length < days; time += DAY_MS)
    if (tradesAllDay || new Date(time).getUTCDay() % 6 !== 0) axis.push(time);
  const instruments = Array.from({ length: count }, (_, at) =>
    seededBars(`S${String(at).padStart(2, '0')}`, 1000 * seed + at + 1, seed % 3 === 0 ? 0 : 1, axis),
  );
  return { axis, instruments, timeframe: '1d', tradesAllDay };
}

/** A walk, some of them beginning late and some ending early. */
function seededBars(symbol: string, seed: number, gap: number, axis: readonly number[]): PeerBars {
  const random = seededRandom(seed);
  const [start, spread, late, begins, early, ends] = Array.from({ length: 6 }, random);
  let price = 20 + 80 * start;
  const volatility = 0.005 + 0.04 * spread;
  const begin = late < 0.25 ? Math.floor((begins * axis.length) / 2) : 0;
  const end = early < 0.2 ? axis.length - 20 - Math.floor((ends * axis.length) / 4) : axis.length;
  const open: number[] = [];
  const close: number[] = [];
  for (let day = 0; day < end; day++) {
    const first = price * (1 + gap * (volatility * (random() - 0.5)));
    price = first * (1 + volatility * (2 * random() - 0.98));
    if (day < begin) continue;
    open.push(first);
    close.push(price);
  }
  return { symbol, time: axis.slice(begin, end), open, close };
}

/** The series of data/, whose days are those of stocks. */
export function ownUniverse(symbols: readonly string[]): PeerUniverse {
  return universeOf(
    symbols.map((symbol) => readBars(symbol, `data/${symbol}-1d.csv.gz`)),
    { timeframe: '1d', tradesAllDay: false },
  );
}

export function readBars(symbol: string, path: string): PeerBars {
  const [header, ...lines] = gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n');
  const cells = lines.map((line) => line.split(','));
  const column = (name: string): string[] => cells.map((row) => row[header.split(',').indexOf(name)]);
  const time = header.startsWith('timestamp') ? column('timestamp').map(Number) : column('time').map(Date.parse);
  return { symbol, time, open: column('open').map(Number), close: column('close').map(Number) };
}

export function universeOf(
  instruments: readonly PeerBars[],
  more: Pick<PeerUniverse, 'timeframe' | 'tradesAllDay'>,
): PeerUniverse {
  const axis = [...new Set(instruments.flatMap(({ time }) => time))].sort((a, b) => a - b);
  return { axis, instruments, ...more };
}

export function snapshotsOf({ instruments, timeframe, tradesAllDay }: PeerUniverse): Snapshot[] {
  return instruments.map(({ symbol, time, open, close }) => {
    const column = (read: (row: number) => number): Float64Array =>
      Float64Array.from({ length: time.length }, (_, row) => read(row));
    const columns = {
      time: column((row) => time[row]),
      open: column((row) => open[row]),
      high: column((row) => Math.max(open[row], close[row])),
      low: column((row) => Math.min(open[row], close[row])),
      close: column((row) => close[row]),
      volume: column(() => 1),
      series: new Map<string, Float64Array>(),
    };
    // Peers know no currencies.
    const instrument = makeInstrument(symbol, { quote: null, qtyStep: 0, minNotional: 0, tradesAllDay });
    return makeSnapshot(columns, { symbol, timeframe, instrument });
  });
}
