// The registry of level modes, in the order in which capabilities list them.
import { atrLevel } from './atrLevel.ts';
import { fixedLevel } from './fixedLevel.ts';
import type { LevelMode } from './levelMode.ts';
import { percentLevel } from './percentLevel.ts';
import { priceLevel } from './priceLevel.ts';
import { riskLevel } from './riskLevel.ts';

export const LEVEL_MODES = [percentLevel, riskLevel, atrLevel, priceLevel, fixedLevel] as const;
export type Level = (typeof LEVEL_MODES)[number];
export type StopLevel = Extract<Level, { readonly stop: object }>;
export type TriggerLevel = Extract<Level, { readonly trigger: object }>;
export type DistanceLevel = Extract<Level, { readonly distance: object }>;

export const STOP_LEVELS = LEVEL_MODES.filter((level): level is StopLevel => level.stop !== null);
export const TRIGGER_LEVELS = LEVEL_MODES.filter((level): level is TriggerLevel => level.trigger !== null);
export const DISTANCE_LEVELS = LEVEL_MODES.filter((level): level is DistanceLevel => level.distance !== null);

const BY_NAME: ReadonlyMap<unknown, LevelMode> = new Map(LEVEL_MODES.map((each) => [each.mode, each]));

/** The mode of that name. */
export const findLevelMode = (name: unknown): LevelMode | undefined => BY_NAME.get(name);
export const levelModeOf = (name: Level['mode']): LevelMode => BY_NAME.get(name)!;
