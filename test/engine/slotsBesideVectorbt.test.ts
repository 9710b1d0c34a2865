// Slots beside vectorbt: every trade and the equity, on universes that both sides make from a seed and on the series
// that the project ships (test/golden/slots.py).
import { describe, expect, it } from 'vitest';
import { ownUniverse, seededUniverse } from '../support/peerUniverses.ts';
import { scaled } from '../support/scale.ts';
import { compareSlots, slotsGolden, type ComparedSlots } from '../support/slotsGolden.ts';
import { TOLERANCE } from '../support/tolerances.ts';

const { own, seeded } = slotsGolden;

function expectEqual({ ours, theirs, largestDifference }: ComparedSlots, name: string): void {
  expect(ours, name).toEqual(theirs);
  expect(largestDifference, name).toBeLessThan(TOLERANCE);
}

describe('crossing averages that compete for slots have the trades and the equity that vectorbt gives them', () => {
  it.each(['equal_slots', 'fixed_cash'] as const)('with the size %s, on seeded universes', (sizing) => {
    const peers = seeded.filter((peer) => peer.sizing === sizing);
    expect(peers).toHaveLength(100);
    let trades = 0;
    for (const peer of peers.slice(0, scaled(peers.length))) {
      const compared = compareSlots(peer, seededUniverse(Number(peer.universe)));
      expectEqual(compared, `seed ${String(peer.universe)}`);
      trades += compared.theirs.length;
    }
    expect(trades).toBeGreaterThan(scaled(100) * 50);
  });

  it.each(own)('with the size $sizing, on $universe', (peer) => {
    expectEqual(compareSlots(peer, ownUniverse(peer.universe as readonly string[])), 'own series');
  });
});
