// Generated rules of a portfolio: one strategy, drawn once, and bound to columns of each instrument.
import type { Bars } from '../../src/engine/bars/bars.ts';
import type {
  EntryRule,
  ExitRule,
  RiskRules,
  SizingRule,
  StopRule,
  TakeProfitRule,
  ValueSource,
} from '../../src/engine/evaluate/tradingRules.ts';
import type { SizingModeName } from '../../src/engine/definitions/sizing/sizingModes.ts';
import { bitsAt } from '../engine/simulate/input.ts';
import { diceOf, type Dice } from '../support/dice.ts';

/** What an instrument's columns are drawn from. */
interface Columns {
  readonly bars: Bars;
  readonly dice: Dice;
  readonly signals: { readonly seed: number; readonly turn: number };
}

export interface GeneratedStrategy {
  readonly entries: readonly ((columns: Columns) => EntryRule)[];
  readonly exits: readonly ((columns: Columns) => ExitRule)[];
  readonly risk: (columns: Columns) => RiskRules;
  /** A size may be all the cash that is left. */
  readonly isCapped: boolean;
}

const CAPPED_SIZES: readonly SizingModeName[] = ['percent_balance', 'volatility_target', 'equal_slots'];

interface Scope {
  readonly leverage: number;
  readonly slots: number | null;
  readonly isRanked: boolean;
}

export function randomStrategy(dice: Dice, { leverage, slots, isRanked }: Scope): GeneratedStrategy {
  const hasShorts = dice.chance(0.5);
  const risk = randomRisk(dice, hasShorts && dice.chance(0.5) ? -1 : 1);
  const count = dice.whole(1, 3);
  const orders = dice.chance(0.5) ? 1 : 0.5;
  const modes = Array.from({ length: count }, () => randomMode(dice, slots !== null));
  return {
    isCapped: modes.some((mode) => CAPPED_SIZES.includes(mode)),
    entries: Array.from({ length: count }, (_, rule) => {
      const side = hasShorts && dice.chance(0.5) ? -1 : 1;
      const sizing = randomSizing(dice, modes[rule], risk.hasStop, leverage);
      const order = randomOrder(dice, orders);
      const cooldownBars = dice.pick([0, 0, 0, 3, 10]);
      const conflict = dice.pick(['ignore', 'close', 'reverse'] as const);
      const chance = dice.pick([0.05, 0.2, 0.8]);
      const rank = isRanked && dice.chance(0.9) ? randomRank(dice) : null;
      return (columns: Columns): EntryRule => ({
        id: `entry${rule}`,
        side,
        signal: { kind: 'bits', isTrue: signalAt(columns, (rule + columns.signals.turn) % count, chance) },
        sizing: sizing(columns),
        order: order(columns),
        cooldownBars,
        conflict,
        ...(rank === null ? {} : { rank: rank(columns) }),
      });
    }),
    exits: Array.from({ length: dice.whole(0, 2) }, (_, rule) => {
      const appliesTo = dice.pick([0, 1, -1] as const);
      const priority = dice.whole(0, 2);
      const action = dice.pick([
        { mode: 'percent_position', value: 100 },
        { mode: 'percent_position', value: dice.number(10, 90) },
        { mode: 'fixed', value: dice.number(0.5, 20) },
      ] as const);
      return (columns: Columns): ExitRule => ({
        id: `exit${rule}`,
        appliesTo,
        priority,
        when: { kind: 'bits', isTrue: bitsAt(columns.bars.length, rowsWith(columns, 0.08)) },
        action,
      });
    }),
    risk: risk.make,
  };
}

export const boundStrategy = (
  { entries, exits, risk }: GeneratedStrategy,
  bars: Bars,
  dice: Dice,
  signals: Columns['signals'],
): { entries: EntryRule[]; exits: ExitRule[]; risk: RiskRules } => {
  const columns = { bars, dice, signals };
  return {
    entries: entries.map((entry) => entry(columns)),
    exits: exits.map((exit) => exit(columns)),
    risk: risk(columns),
  };
};

const rowsWith = ({ bars, dice }: Columns, chance: number): number[] =>
  Array.from({ length: bars.length }, (_, row) => row).filter(() => dice.chance(chance));

/** Rows that depend on the time of the bar alone, so that linked instruments signal together. */
function signalAt({ bars, signals }: Columns, rule: number, chance: number): Uint32Array {
  const rows = [...bars.time.keys()].filter((row) =>
    diceOf(signals.seed * 7 + rule * 1_000_003 + bars.time[row] / 900_000).chance(chance),
  );
  return bitsAt(bars.length, rows);
}

const column = ({ bars, dice }: Columns, low: number, high: number): Float64Array =>
  bars.close.map((close) => (close / 100) * dice.number(low, high));

/** Percents of the close away from it, in whole quarters, so that ties occur. */
const around = ({ bars, dice }: Columns, percent: number, missing: number): ValueSource => ({
  kind: 'column',
  values: bars.close.map((close) =>
    dice.chance(missing) ? NaN : Math.max(0.25, close + Math.round((close * percent) / 25) / 4),
  ),
});

/** Few different values, or many; some are missing. */
function randomRank(dice: Dice): (columns: Columns) => ValueSource {
  const [values, missing] = [dice.pick([2, 4, 1_000]), dice.pick([0, 0.1, 0.5])];
  return ({ bars, dice: own }) => ({
    kind: 'column',
    values: bars.close.map(() => (own.chance(missing) ? NaN : own.whole(-values, values))),
  });
}

function randomMode(dice: Dice, hasSlots: boolean): SizingModeName {
  const modes: readonly SizingModeName[] = [
    'fixed',
    'fixed_cash',
    'percent_equity',
    'percent_balance',
    'risk_percent',
    'volatility_target',
  ];
  return dice.pick(hasSlots ? [...modes, 'equal_slots', 'equal_slots'] : modes);
}

function randomSizing(dice: Dice, mode: string, hasStop: boolean, leverage: number): (columns: Columns) => SizingRule {
  const value = dice.number(0, 1);
  const plain = (of: SizingModeName, amount: number): ((columns: Columns) => SizingRule) => {
    const rule = { mode: of, value: amount };
    return () => rule;
  };
  switch (mode) {
    case 'fixed_cash':
      return plain(mode, 10 + value * 9_000);
    case 'percent_equity':
    case 'percent_balance':
      return plain(mode, 5 + value * (100 * leverage - 5));
    case 'risk_percent':
      return plain(hasStop ? mode : 'fixed', 0.1 + value * 2.9);
    case 'volatility_target':
      return (columns) => ({ mode: 'volatility_target', value: 5 + value * 95, atr: column(columns, 0.2, 3) });
    case 'equal_slots':
      return plain(mode, 1);
    default:
      return plain('fixed', 0.1 + value * 60);
  }
}

function randomOrder(dice: Dice, market: number): (columns: Columns) => EntryRule['order'] {
  if (dice.chance(market)) return () => ({ type: 'market' });
  const type = dice.pick(['limit', 'stop'] as const);
  const percent = dice.number(-3, 3);
  const expireBars = dice.whole(1, 6);
  return (columns) => ({ type, price: around(columns, percent, 0.02), expireBars });
}

function randomStop(dice: Dice, side: number): ((columns: Columns) => StopRule) | null {
  const [value, multiplier] = [dice.number(0.5, 6), dice.number(0.5, 3)];
  const update = dice.pick(['entry', 'bar'] as const);
  switch (dice.whole(0, 4)) {
    case 0:
      return () => ({ mode: 'percent', value });
    case 1:
      return () => ({ mode: 'fixed', value });
    case 2:
      return (columns) => ({ mode: 'atr', atr: column(columns, 0.5, 3), multiplier });
    case 3:
      return (columns) => ({ mode: 'price', price: around(columns, -side * value, 0.1), update });
    default:
      return null;
  }
}

function randomStep(dice: Dice, step: number, steps: number, hasStop: boolean): (columns: Columns) => TakeProfitRule {
  const away = dice.number(0.5, 4) * (step + 1);
  const kind = dice.pick(['percent', 'atr', hasStop ? 'r' : 'percent']);
  const closeBasis = dice.pick(['initial', 'remaining'] as const);
  const closePercent = closeBasis === 'initial' ? 100 / steps : dice.number(20, 100);
  const moveStopToBreakeven = dice.chance(0.3);
  return (columns) => ({
    trigger:
      kind === 'atr'
        ? { mode: 'atr', atr: column(columns, 0.5, 2), multiplier: away }
        : kind === 'r'
          ? { mode: 'r', value: away / 2 }
          : { mode: 'percent', value: away },
    closePercent,
    closeBasis,
    moveStopToBreakeven,
  });
}

function randomRisk(dice: Dice, side: number): { hasStop: boolean; make: (columns: Columns) => RiskRules } {
  const stop = randomStop(dice, side);
  const steps = dice.pick([0, 0, 1, 1, 2, 3]);
  const targets = Array.from({ length: steps }, (_, step) => randomStep(dice, step, steps, stop !== null));
  const trail = dice.chance(0.3)
    ? {
        percent: dice.chance(0.6) ? dice.number(0.5, 5) : null,
        multiplier: dice.number(0.5, 2),
        activateAfterPercent: dice.chance(0.4) ? dice.number(0.2, 3) : null,
      }
    : null;
  const breakeven = dice.chance(0.25)
    ? { activateAfterPercent: dice.number(0.3, 3), offsetPercent: dice.number(0, dice.chance(0.2) ? 4 : 0.2) }
    : null;
  const timeStop = dice.chance(0.25) ? { maxBars: dice.whole(1, 30) } : null;
  const make = (columns: Columns): RiskRules => ({
    stopLoss: stop === null ? null : stop(columns),
    takeProfits: targets.map((target) => target(columns)),
    trailingStop:
      trail === null
        ? null
        : {
            distance:
              trail.percent === null
                ? { mode: 'atr', atr: column(columns, 0.5, 2), multiplier: trail.multiplier }
                : { mode: 'percent', value: trail.percent },
            activateAfterPercent: trail.activateAfterPercent,
          },
    breakeven,
    timeStop,
  });
  return { hasStop: stop !== null, make };
}
