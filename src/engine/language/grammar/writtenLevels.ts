// Levels as a strategy writes them, in one form for stops, take-profits and trailing stops.
import type { LevelMode } from '../../definitions/levels/levelMode.ts';
import { DISTANCE_LEVELS, levelModeOf, TRIGGER_LEVELS } from '../../definitions/levels/levelModes.ts';
import type { RunnableRisk, RunnableValue } from './ast.ts';

export interface WrittenLevel {
  readonly level: LevelMode;
  /** The number, or the multiplier of the ATR; NaN: neither. */
  readonly number: number;
  /** Bars of the ATR; null: none. */
  readonly period: number | null;
  readonly price: RunnableValue | null;
}

export const stopLevel = (stop: NonNullable<RunnableRisk['stopLoss']>): WrittenLevel =>
  writtenLevel(levelModeOf(stop.mode), 'value' in stop ? stop.value : stop);

export function triggerLevel(target: RunnableRisk['takeProfits'][number]): WrittenLevel {
  const level = TRIGGER_LEVELS.find(({ trigger }) => target[trigger.member] !== undefined)!;
  return writtenLevel(level, target[level.trigger.member]);
}

export function distanceLevel(trailing: NonNullable<RunnableRisk['trailingStop']>): WrittenLevel {
  const level = DISTANCE_LEVELS.find(({ distance }) => trailing[distance.member] !== undefined)!;
  return writtenLevel(level, trailing[level.distance.member]);
}

/** Every level of a strategy, in the order of the payload. */
export const levelsOf = ({ stopLoss, takeProfits, trailingStop }: RunnableRisk): WrittenLevel[] => [
  ...(stopLoss === undefined ? [] : [stopLevel(stopLoss)]),
  ...takeProfits.map(triggerLevel),
  ...(trailingStop === undefined ? [] : [distanceLevel(trailingStop)]),
];

/** @param written what the schema of the level's form has checked */
function writtenLevel(level: LevelMode, written: unknown): WrittenLevel {
  switch (level.form) {
    case 'number':
      return { level, number: written as number, period: null, price: null };
    case 'atrs': {
      const { period, multiplier } = written as { readonly period: number; readonly multiplier: number };
      return { level, number: multiplier, period, price: null };
    }
    case 'expression':
      return { level, number: NaN, period: null, price: written as RunnableValue };
  }
}
