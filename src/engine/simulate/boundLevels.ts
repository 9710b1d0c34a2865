// The levels of a run with their formulas, found once per run.
import type { LevelFormula } from '../definitions/levels/levelMode.ts';
import { levelModeOf } from '../definitions/levels/levelModes.ts';
import type { LevelRule, RiskRules, ValueSource } from '../evaluate/tradingRules.ts';

export interface BoundLevel {
  readonly formula: LevelFormula;
  /** The number, or the multiplier of the ATR. */
  readonly number: number;
  readonly atr: Float64Array | null;
  readonly source: ValueSource | null;
  /** Whether its distance or price is read at the signal. */
  readonly isRead: boolean;
  /** Whether its price is read again at every close. */
  readonly followsBars: boolean;
}
interface BoundDistance extends BoundLevel {
  readonly factor: (side: 1 | -1, amount: number) => number;
  readonly offset: (amount: number) => number;
  readonly activateAfterPercent: number | null;
}
export interface BoundLevels {
  readonly stop: BoundLevel | null;
  readonly targets: readonly BoundLevel[];
  readonly trail: BoundDistance | null;
}

export const bindLevels = ({ stopLoss, takeProfits, trailingStop }: RiskRules): BoundLevels => ({
  stop: stopLoss && boundLevel(stopLoss),
  targets: takeProfits.map(({ trigger }) => boundLevel(trigger)),
  trail: trailingStop && boundDistance(trailingStop),
});

function boundLevel(rule: LevelRule): BoundLevel {
  const { form, price: formula } = levelModeOf(rule.mode);
  return {
    formula,
    number: 'value' in rule ? rule.value : 'multiplier' in rule ? rule.multiplier : NaN,
    atr: 'atr' in rule ? rule.atr : null,
    source: 'price' in rule ? rule.price : null,
    isRead: form !== 'number',
    followsBars: 'update' in rule && rule.update === 'bar',
  };
}

function boundDistance({ distance, activateAfterPercent }: NonNullable<RiskRules['trailingStop']>): BoundDistance {
  const { factor, offset } = levelModeOf(distance.mode).distance!;
  return { ...boundLevel(distance), factor, offset, activateAfterPercent };
}

/** Whether any level is read at a signal; the others are known from the fill. */
export const readsAtSignal = ({ stop, targets, trail }: BoundLevels): boolean =>
  stop?.isRead === true || targets.some(({ isRead }) => isRead) || trail?.isRead === true;

/** The expressions that levels read, that of the stop first. */
export const levelSources = ({ stop, targets }: BoundLevels): ValueSource[] =>
  [stop, ...targets].flatMap((level) => level?.source ?? []);
