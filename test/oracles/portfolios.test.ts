// Portfolios beside bt and vectorbt on the shared series, of which test/golden has the peers' numbers alone.
import { describe, expect, it } from 'vitest';
import { readBars, universeOf, type PeerBars, type PeerUniverse } from '../support/peerUniverses.ts';
import { largestDifference, rotationsGolden } from '../support/rotationGolden.ts';
import { compareSlots, slotsGolden } from '../support/slotsGolden.ts';
import { TOLERANCE } from '../support/tolerances.ts';
import { sharedPath } from './shared.ts';

function readAll(symbols: number | readonly string[], timeframe: PeerUniverse['timeframe']): PeerBars[] {
  if (typeof symbols === 'number') throw new Error(`${symbols} is a seed, not a list of symbols`);
  return symbols.map((symbol) => readBars(symbol, sharedPath('data', `${symbol}-${timeframe}.csv.gz`)));
}

/** The days of the first on which any other has a bar: bt has no day without a price (test/golden/rotations.py). */
function onCommonDays(all: readonly PeerBars[]): PeerBars[] {
  const [first, ...others] = all.map(({ time }) => new Set(time));
  const days = new Set([...first].filter((day) => others.some((other) => other.has(day))));
  return all.map(({ symbol, time, open, close }) => {
    const kept = <T>(values: readonly T[]): T[] => values.filter((_, row) => days.has(time[row]));
    return { symbol, time: kept(time), open: kept(open), close: kept(close) };
  });
}

describe('on the shared series', () => {
  it.each(rotationsGolden.shared)('a rotation with $mode weights over $universe is that of bt', (peer) => {
    const all = readAll(peer.universe, '1d');
    const tradesAllDay = !all.some(({ symbol }) => symbol === 'SPY');
    const bars = tradesAllDay ? all : onCommonDays(all);
    expect(largestDifference(peer, universeOf(bars, { timeframe: '1d', tradesAllDay }))).toBeLessThan(TOLERANCE);
  });

  it.each(slotsGolden.shared)('$slots slots with the size $sizing over $universe are those of vectorbt', (peer) => {
    const timeframe = peer.timeframe ?? '1d';
    const universe = universeOf(readAll(peer.universe, timeframe), { timeframe, tradesAllDay: true });
    const { ours, theirs, largestDifference: difference } = compareSlots(peer, universe);
    expect(ours).toEqual(theirs);
    expect(difference).toBeLessThan(TOLERANCE);
  });
});
