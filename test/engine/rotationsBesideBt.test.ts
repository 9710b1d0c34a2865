// Rotations beside bt: equity at every month's first close and weights after rebalances, on universes that both sides
// make from a seed and on the series that the project ships (test/golden/rotations.py).
import { describe, expect, it } from 'vitest';
import { ownUniverse, seededUniverse } from '../support/peerUniverses.ts';
import { largestDifference, rotationsGolden } from '../support/rotationGolden.ts';
import { scaled } from '../support/scale.ts';
import { TOLERANCE } from '../support/tolerances.ts';

const { own, seeded } = rotationsGolden;

describe('a monthly rotation has the equity and the weights that bt gives it', () => {
  it.each(['equal', 'inverse'] as const)('with %s weights, on seeded universes', (mode) => {
    const peers = seeded.filter((peer) => peer.mode === mode);
    expect(peers).toHaveLength(200);
    const compared = peers.slice(0, scaled(peers.length));
    for (const peer of compared) {
      const difference = largestDifference(peer, seededUniverse(Number(peer.universe)));
      expect(difference, `seed ${String(peer.universe)}`).toBeLessThan(TOLERANCE);
    }
  });

  it.each(own)('with $mode weights, on $universe', (peer) => {
    expect(largestDifference(peer, ownUniverse(peer.universe as readonly string[]))).toBeLessThan(TOLERANCE);
  });
});
