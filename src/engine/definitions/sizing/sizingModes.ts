// The registry of sizing modes, in the order in which capabilities list them.
import { equalSlots } from './equalSlots.ts';
import { fixedCash } from './fixedCash.ts';
import { fixedSize } from './fixedSize.ts';
import { percentBalance } from './percentBalance.ts';
import { percentEquity } from './percentEquity.ts';
import { riskPercent } from './riskPercent.ts';
import type { SizingMode } from './sizingMode.ts';
import { volatilityTarget } from './volatilityTarget.ts';

export const SIZING_MODES = [
  fixedSize,
  fixedCash,
  percentEquity,
  percentBalance,
  riskPercent,
  volatilityTarget,
  equalSlots,
] as const;
export type SizingModeName = (typeof SIZING_MODES)[number]['mode'];

const BY_NAME: ReadonlyMap<unknown, SizingMode> = new Map(SIZING_MODES.map((each) => [each.mode, each]));

/** The mode of that name. */
export const findSizingMode = (name: unknown): SizingMode | undefined => BY_NAME.get(name);
export const sizingModeOf = (name: SizingModeName): SizingMode => BY_NAME.get(name)!;
