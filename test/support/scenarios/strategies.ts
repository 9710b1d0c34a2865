// Strategies for scenarios: entries, exits and risk rules of every kind, drawn so that they trade, each noting what it
// contains.
import type { Dice } from '../dice.ts';
import * as write from '../builders.ts';
import { conditionOf, priceAround, stateCondition, type Note } from './conditions.ts';

export interface StrategyDraw {
  readonly ast: ReturnType<typeof write.strategy>;
  readonly maxConcurrentPositions: number;
}

type Json = write.Json;
const round = (value: number): number => Math.round(value * 100) / 100;

export function drawStrategy(dice: Dice, leverage: number, note: Note): StrategyDraw {
  const maxConcurrentPositions = dice.pick([1, 1, 1, 2, 3, 5]);
  if (maxConcurrentPositions > 1) note('several positions');
  const risk = drawRisk(dice, note);
  const entries = Array.from({ length: dice.pick([1, 2, 2, 3]) }, () =>
    drawEntry(dice, risk.stopLoss !== undefined, leverage, note),
  );
  if (entries.length > 1) note('several entry rules');
  const exits = Array.from({ length: dice.pick([0, 1, 1, 2, 3]) }, () => drawExit(dice, note));
  const ast = write.strategy(undefined, { entry: entries, exits, ...(Object.keys(risk).length > 0 && { risk }) });
  return { ast, maxConcurrentPositions };
}

function drawEntry(dice: Dice, hasStop: boolean, leverage: number, note: Note): Json {
  const side = dice.chance(0.6) ? 'long' : 'short';
  note(side);
  const conflict = dice.pick(['ignore', 'close', 'reverse'] as const);
  note(`conflict ${conflict}`);
  const cooldownBars = dice.pick([0, 0, 0, 1, 2, 6]);
  if (cooldownBars > 0) note('cooldown');
  const filters = dice.chance(0.15) ? [conditionOf(dice, note)] : undefined;
  const trigger = dice.chance(0.15) ? stateCondition(dice, 'entry', note) : conditionOf(dice, note);
  return write.entry(trigger, {
    ...(filters && { filters }),
    cooldownBars,
    conflict,
    action: { side, sizing: drawSizing(dice, hasStop, leverage, note), order: drawOrder(dice, note) },
  });
}

function drawOrder(dice: Dice, note: Note): Json {
  const type = dice.pick(['market', 'market', 'limit', 'stop'] as const);
  note(`${type} entry`);
  if (type === 'market') return { type };
  const expireBars = dice.whole(1, 6);
  note('expiring entry');
  return { type, price: priceAround(dice, dice.number(-2.5, 2.5), 'entry', note), expireBars };
}

function drawSizing(dice: Dice, hasStop: boolean, leverage: number, note: Note): Json {
  const modes = ['fixed', 'fixed_cash', 'percent_equity', 'percent_balance', 'volatility_target'] as const;
  const mode = dice.pick(hasStop ? [...modes, 'risk_percent' as const] : modes);
  note(`size ${mode}`);
  switch (mode) {
    case 'fixed':
      // With whole steps 0.4 rounds down to nothing.
      return { mode, value: dice.chance(0.2) ? 0.4 : round(dice.number(0.5, 30)) };
    case 'fixed_cash':
      return { mode, value: round(dice.number(30, 6_000)) };
    case 'percent_equity':
      return { mode, value: dice.pick([100, round(dice.number(5, 100 * leverage))]) };
    case 'percent_balance':
      // All of it would leave a balance of nothing but rounding.
      return { mode, value: dice.pick([95, round(dice.number(5, 95 * leverage))]) };
    case 'risk_percent':
      return { mode, value: round(dice.number(0.2, 3)) };
    case 'volatility_target':
      return { mode, value: round(dice.number(5, 90)), ...(dice.chance(0.7) && { atrPeriod: dice.whole(2, 8) }) };
  }
}

function drawExit(dice: Dice, note: Note): Json {
  const appliesTo = dice.pick(['any', 'any', 'long', 'short'] as const);
  const when = dice.chance(0.35) ? stateCondition(dice, 'exit', note) : conditionOf(dice, note);
  note('exit rule');
  if (appliesTo !== 'any') note('exit of one side');
  const priority = dice.pick([0, 0, 1, -1]);
  if (priority !== 0) note('exit priority');
  const action = dice.pick([
    undefined,
    undefined,
    { mode: 'percent_position', value: round(dice.number(10, 90)) },
    { mode: 'fixed', value: round(dice.number(0.5, 12)) },
  ]);
  if (action !== undefined) note(action.mode === 'fixed' ? 'exit of a quantity' : 'partial exit');
  return { kind: 'exit', when, appliesTo, priority, ...(action && { action }) };
}

function drawRisk(dice: Dice, note: Note): Json {
  const risk: Json = {};
  if (dice.chance(0.7)) risk.stopLoss = drawStop(dice, note);
  if (dice.chance(0.6)) risk.takeProfits = drawLadder(dice, risk.stopLoss !== undefined, note);
  if (dice.chance(0.35)) risk.trailingStop = drawTrailing(dice, note);
  if (dice.chance(0.25)) {
    note('break-even');
    const activateAfterPercent = round(dice.number(0.4, 2.5));
    risk.breakeven = { activateAfterPercent, ...(dice.chance(0.5) && { offsetPercent: round(dice.number(0, 0.3)) }) };
  }
  if (dice.chance(0.2)) {
    note('time stop');
    risk.timeStop = { maxBars: dice.whole(1, 12) };
  }
  return risk;
}

function drawStop(dice: Dice, note: Note): Json {
  const mode = dice.pick(['percent', 'fixed', 'atr', 'price', 'update'] as const);
  note(`stop ${mode}`);
  switch (mode) {
    case 'percent':
      return { mode, value: round(dice.number(0.5, 5)) };
    case 'fixed':
      return { mode, value: dice.pick([1, 1.5, round(dice.number(0.5, 5))]) };
    case 'atr':
      return { mode, period: dice.whole(2, 6), multiplier: round(dice.number(0.5, 2.5)) };
    case 'price':
      return { mode, value: priceAround(dice, dice.number(-4, 4), 'entry', note) };
    case 'update':
      return { mode: 'price', value: priceAround(dice, dice.number(-4, 4), 'position', note), update: 'bar' };
  }
}

function drawLadder(dice: Dice, hasStop: boolean, note: Note): Json[] {
  const steps = dice.pick([1, 1, 2, 3]);
  if (steps > 1) note('ladder');
  const triggers = ['percent', 'atr', 'price', ...(hasStop ? ['r', 'r'] : [])];
  let initialLeft = 100;
  return Array.from({ length: steps }, (_, step) => {
    const trigger = dice.pick(triggers);
    note(`target ${trigger}`);
    const away = dice.number(0.3, 2) * (step + 1);
    const at: Json =
      trigger === 'percent'
        ? { triggerPercent: round(away) }
        : trigger === 'r'
          ? { triggerR: round(away / 2) + 0.1 }
          : trigger === 'atr'
            ? { triggerAtr: { period: dice.whole(2, 6), multiplier: round(away) } }
            : { triggerPrice: priceAround(dice, dice.number(-3, 3), 'entry', note) };
    const closeBasis = dice.pick(['initial', 'initial', 'remaining'] as const);
    const isLast = step === steps - 1;
    const closePercent =
      closeBasis === 'remaining'
        ? dice.pick([100, round(dice.number(10, 100))])
        : isLast
          ? dice.pick([initialLeft, round(initialLeft * dice.number(0.2, 1))])
          : round(initialLeft * dice.number(0.1, 0.9));
    if (closeBasis === 'initial') initialLeft = round(initialLeft - closePercent);
    else note('ladder on the remaining');
    const moveStopToBreakeven = dice.chance(0.35);
    if (moveStopToBreakeven) note('ladder moves the stop');
    return { ...at, closePercent, closeBasis, moveStopToBreakeven };
  }).filter(({ closePercent }) => closePercent > 0);
}

function drawTrailing(dice: Dice, note: Note): Json {
  const isPercent = dice.chance(0.6);
  note(isPercent ? 'trailing percent' : 'trailing atr');
  const hasActivation = dice.chance(0.4);
  if (hasActivation) note('trailing activation');
  return {
    ...(isPercent
      ? { distancePercent: round(dice.number(0.4, 4)) }
      : { distanceAtr: { period: dice.whole(2, 6), multiplier: round(dice.number(0.5, 2.5)) } }),
    ...(hasActivation && { activateAfterPercent: round(dice.number(0.2, 2)) }),
  };
}
