// Generated fees per order, and the same input or config with them.
import type { FeeModel } from '../../src/engine/config.ts';
import type { Dice } from './dice.ts';

interface HasFees {
  readonly execution: { readonly feeModel: FeeModel };
}

/** Every second time none; else one or several, of a size that counts on an account of some 10,000. */
export function randomOrderFees(dice: Dice): Partial<FeeModel> {
  if (dice.chance(0.5)) return {};
  const minPerOrder = dice.pick([0, 1, 5]);
  const chosen = <T>(chance: number, value: T): T | undefined => (dice.chance(chance) ? value : undefined);
  return definedOf({
    perUnit: chosen(0.6, dice.pick([0.005, 0.05])),
    perOrder: chosen(0.4, dice.pick([0.5, 3])),
    minPerOrder: chosen(0.5, minPerOrder),
    maxPerOrder: chosen(0.3, minPerOrder + dice.pick([1, 10])),
    maxRate: chosen(0.4, dice.pick([0.0005, 0.01])),
  });
}

const definedOf = (members: Partial<FeeModel>): Partial<FeeModel> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** The config with these members in its fee model. */
export const withOrderFees = <C extends HasFees>(config: C, fees: Partial<FeeModel>): C => ({
  ...config,
  execution: { ...config.execution, feeModel: { ...config.execution.feeModel, ...fees } },
});
