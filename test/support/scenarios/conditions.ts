// Conditions and prices for scenarios: over bars, other timeframes, another instrument, and over state with and without
// history.
import * as write from '../builders.ts';
import type { Dice } from '../dice.ts';

type Json = write.Json;
/** Notes a feature that the scenario contains. */
export type Note = (feature: string) => void;

const round = (value: number): number => Math.round(value * 100) / 100;
const close = (more: object = {}): Json => write.market('close', more);
const average = (length: number, more: object = {}): Json => write.indicator('sma', { length }, more);
const byChance = (dice: Dice): Json =>
  write.compare({ kind: 'series', name: 'chance' }, 'lt', dice.pick([0.05, 0.15, 0.4]));

/** A condition over bars alone, true now and then. */
export function conditionOf(dice: Dice, note: Note): Json {
  switch (dice.whole(0, 11)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return byChance(dice);
    case 5:
      return write.cross(close(), dice.pick(['cross_up', 'cross_down', 'cross_any']), average(dice.whole(2, 6)));
    case 6:
      return write.compare(close(), dice.pick(['gt', 'lt']), average(dice.whole(2, 8)));
    case 7:
      return { kind: 'not', item: { kind: 'rising', source: close(), bars: dice.whole(1, 3) } };
    case 8: {
      note('other timeframe');
      const coarse = close({ timeframe: dice.pick(['4h', '4h', '1d']) });
      return dice.chance(0.5)
        ? write.compare(close(), dice.pick(['gt', 'lt']), coarse)
        : write.compare({ kind: 'rolling', op: 'avg', period: 2, source: coarse }, dice.pick(['gt', 'lt']), coarse);
    }
    case 9: {
      note('other instrument');
      const other = close({ instrument: { symbol: 'OTHER' }, ...(dice.chance(0.3) && { timeframe: '4h' }) });
      return write.compare(other, dice.pick(['gt', 'lt']), close());
    }
    case 10:
      return write.any(byChance(dice), write.all(byChance(dice), conditionOf(dice, note)));
    default:
      return write.compare({ kind: 'time', field: 'hour' }, 'eq', dice.whole(0, 23));
  }
}

/** A tolerance that rounding of money cannot reach across. */
const TOLERANCE = { tolerance: 1e-6 };
const state = (field: string, more: object = {}): Json => ({ kind: 'state', field, ...more });

const POSITION_CONDITIONS: readonly ((dice: Dice) => Json)[] = [
  (dice) => write.compare(state('position_bars_since_entry'), 'gte', dice.whole(0, 6)),
  (dice) =>
    write.compare(state('position_unrealized_pnl_pct'), dice.pick(['gt', 'lt']), round(dice.number(-2, 2)), TOLERANCE),
  (dice) => write.compare(state('position_mfe_pct'), 'gt', round(dice.number(0.3, 3)), TOLERANCE),
  (dice) => write.compare(state('position_mae_pct'), 'lt', -round(dice.number(0.3, 3)), TOLERANCE),
  (dice) => write.compare(state('position_unrealized_pnl'), 'lt', -round(dice.number(1, 60)), TOLERANCE),
  () => write.compare(close(), 'lt', state('position_entry_price'), TOLERANCE),
  (dice) =>
    write.compare(
      close(),
      'lt',
      {
        kind: 'math',
        op: 'mul',
        args: [state('position_highest_since_entry'), write.constant(round(dice.number(0.95, 1)))],
      },
      TOLERANCE,
    ),
  (dice) =>
    write.compare(
      close(),
      'gt',
      {
        kind: 'math',
        op: 'add',
        args: [state('position_lowest_since_entry'), write.constant(round(dice.number(0.5, 4)))],
      },
      TOLERANCE,
    ),
  (dice) => write.compare(state('position_realized_pnl'), dice.pick(['gt', 'lt']), 1, TOLERANCE),
  (dice) => write.compare(state('position_size'), 'gt', round(dice.number(1, 20)), TOLERANCE),
  () => write.compare(state('position_side'), 'gt', 0.5),
  () => write.compare(state('position_exists'), 'lt', 0.5),
];

const ACCOUNT_CONDITIONS: readonly ((dice: Dice) => Json)[] = [
  () => write.compare(close(), 'gt', state('position_average_price'), TOLERANCE),
  (dice) =>
    write.compare(state('account_equity'), dice.pick(['gt', 'lt']), 10_000 + round(dice.number(-80, 80)), TOLERANCE),
  (dice) =>
    write.compare(state('account_balance'), dice.pick(['gt', 'lt']), 10_000 + round(dice.number(-80, 80)), TOLERANCE),
  (dice) => write.compare(state('trades_count_today'), 'lt', dice.whole(1, 4)),
  (dice) => write.compare(state('trades_count_total'), 'gte', dice.whole(0, 5)),
  (dice) => write.compare(state('open_positions_count'), 'lt', dice.whole(1, 3)),
  (dice) => ({ kind: 'not', item: write.compare(state('position_bars_since_exit'), 'lt', dice.whole(1, 6)) }),
  (dice) => write.compare(state('position_bars_since_exit'), 'gte', dice.whole(1, 6)),
  (dice) => write.compare(state('account_drawdown'), 'gt', round(dice.number(0.05, 1)), TOLERANCE),
  (dice) => write.compare(state('account_max_drawdown'), 'lt', round(dice.number(0.3, 3)), TOLERANCE),
  (dice) => write.compare(state('account_day_pnl_pct'), 'lt', round(dice.number(-0.5, 0.5)) + 0.0037, TOLERANCE),
  (dice) => write.compare(state('wins_streak'), 'gte', dice.whole(1, 2)),
  (dice) => write.compare(state('losses_streak'), 'lt', dice.whole(1, 3)),
  (dice) => write.compare(state('last_trade_pnl'), dice.pick(['gt', 'lt']), 0.0137, TOLERANCE),
  (dice) => write.compare(state('last_trade_pnl_pct'), dice.pick(['gt', 'lt']), round(dice.number(-1, 1)), TOLERANCE),
  () => write.compare(state('last_entry_price'), 'lt', close(), TOLERANCE),
  () => write.compare(state('last_exit_price'), 'gt', close(), TOLERANCE),
  (dice) => write.compare(state('account_gross_exposure'), 'lt', round(dice.number(500, 5_000)), TOLERANCE),
  (dice) => write.compare(state('account_used_margin'), 'lt', round(dice.number(500, 5_000)), TOLERANCE),
  (dice) => write.compare(state('account_available_collateral'), 'gt', round(dice.number(2_000, 9_000)), TOLERANCE),
  (dice) => write.compare(state('account_margin_utilization'), 'lt', round(dice.number(5, 90)), TOLERANCE),
];

const ACCOUNT_VALUES = [
  'account_equity',
  'account_balance',
  'account_drawdown',
  'trades_count_total',
  'account_day_pnl_pct',
];
const POSITION_VALUES = ['position_unrealized_pnl', 'position_unrealized_pnl_pct', 'position_mfe_pct', 'position_size'];

/** History over one state field or over a condition of state. */
function historyOf(dice: Dice, field: string, condition: Json): Json {
  const value = state(field);
  switch (dice.whole(0, 9)) {
    case 0:
      return write.compare(
        value,
        dice.pick(['gt', 'lt']),
        { kind: 'shift', source: value, offset: dice.whole(1, 3) },
        TOLERANCE,
      );
    case 1:
      return write.compare(value, dice.pick(['gt', 'lt']), state(field, { offset: dice.whole(1, 3) }), TOLERANCE);
    case 2:
      return write.compare(
        value,
        'lt',
        { kind: 'rolling', op: dice.pick(['max', 'avg']), period: dice.whole(2, 4), source: value },
        TOLERANCE,
      );
    case 3:
      return write.compare({ kind: 'bars_since', when: condition }, 'lt', dice.whole(1, 5));
    case 4:
      return {
        kind: 'rolling_window',
        window: 4,
        mode: dice.pick(['any', 'all', 'count_gt', 'none']),
        value: dice.whole(1, 3),
        expr: condition,
      };
    case 5:
      return { kind: 'sequence', steps: [{ expr: condition }, { expr: byChance(dice), maxBars: dice.whole(2, 6) }] };
    case 6:
      return {
        kind: 'state_machine',
        set: condition,
        reset: byChance(dice),
        ...(dice.chance(0.5) && { ttlBars: dice.whole(2, 6) }),
      };
    case 7:
      return write.compare({ kind: 'capture', value: close(), when: condition }, 'lt', close());
    case 8:
      return write.compare(
        { kind: 'value_when', value: close(), when: condition, occurrence: dice.whole(0, 2) },
        'gt',
        close(),
      );
    default:
      // In whole units: money that stays the same differs by its rounding, and the least of it rises or falls.
      return {
        kind: dice.pick(['rising', 'falling']),
        source: { kind: 'math', op: 'round', args: [value] },
        bars: dice.whole(1, 2),
      };
  }
}

/** A condition over state, alone or joined with one over bars. */
export function stateCondition(dice: Dice, reader: 'entry' | 'exit', note: Note): Json {
  const isOfAccount = dice.chance(reader === 'entry' ? 0.7 : 0.4);
  note(`${reader} reads ${isOfAccount ? 'account' : 'position'} state`);
  let condition = dice.pick(isOfAccount ? ACCOUNT_CONDITIONS : POSITION_CONDITIONS)(dice);
  if (dice.chance(0.45)) {
    note(`${reader} reads history of ${isOfAccount ? 'account' : 'position'} state`);
    condition = historyOf(dice, dice.pick(isOfAccount ? ACCOUNT_VALUES : POSITION_VALUES), condition);
  }
  if (dice.chance(0.4)) return write.all(condition, byChance(dice));
  return dice.chance(0.2) ? write.any(condition, byChance(dice)) : condition;
}

/** A price `away` from the close, missing now and then; from state now and then. */
export function priceAround(dice: Dice, away: number, reader: 'entry' | 'position', note: Note): Json {
  const add = (value: Json): Json => ({
    kind: 'math',
    op: 'add',
    args: [value, write.constant(Math.round(away * 4) / 4)],
  });
  if (dice.chance(0.12)) {
    note('price reads state');
    return add(state(reader === 'entry' ? 'last_exit_price' : 'position_highest_since_entry'));
  }
  return add(dice.pick([close(), close(), average(dice.whole(2, 4)), write.market(dice.pick(['high', 'low']))]));
}
