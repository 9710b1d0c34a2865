// Columns just computed: where they begin, what is missing, and that results without a finite value are.
import { expect, it } from 'vitest';
import { inspectMade } from '../../../src/engine/kernels/column.ts';
import { diceOf } from '../../support/dice.ts';

it('makes every value that is not finite missing', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const dice = diceOf(seed);
    const warmUp = dice.whole(0, 5);
    const share = dice.pick([0, 0.05, 0.5]);
    const made = Array.from({ length: dice.whole(0, 40) }, (_, row) => {
      if (row >= warmUp && !dice.chance(share)) return dice.number(-1e300, 1e300);
      return dice.pick([NaN, Infinity, -Infinity]);
    });
    const finite = made.map((value) => (Number.isFinite(value) ? value : NaN));
    const present = finite.map((_, row) => row).filter((row) => !Number.isNaN(finite[row]));
    const firstValid = present[0] ?? made.length;
    expect(inspectMade(Float64Array.from(made)), `seed ${seed}`).toEqual({
      values: Float64Array.from(finite),
      firstValid,
      hasHoles: present.length < made.length - firstValid,
    });
  }
});
