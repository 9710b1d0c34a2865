// The registry of weight modes, in the order in which capabilities list them.
import { equalWeights } from './equalWeights.ts';
import { fixedWeights } from './fixedWeights.ts';
import { inverseWeights } from './inverseWeights.ts';
import { proportionalWeights } from './proportionalWeights.ts';
import type { WeightMode } from './weightMode.ts';

export const WEIGHT_MODES = [equalWeights, inverseWeights, proportionalWeights, fixedWeights] as const;
export type WeightModeName = (typeof WEIGHT_MODES)[number]['mode'];

const BY_NAME: ReadonlyMap<unknown, WeightMode> = new Map(WEIGHT_MODES.map((each) => [each.mode, each]));

/** The mode of that name. */
export const findWeightMode = (name: unknown): WeightMode | undefined => BY_NAME.get(name);
export const weightModeOf = (name: WeightModeName): WeightMode => BY_NAME.get(name)!;
