// The value `state`: position or account state, which exists only in the loop.
import { z } from 'zod';
import { bars0, InstrumentRef, named } from '../expressionMembers.ts';
import { issueCodes } from '../issueCodes.ts';
import { STATE_FIELDS } from '../words.ts';
import type { ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, NOT_NEGATIVE, range, type Range } from './intervals.ts';
import { placeText } from './texts.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('state'),
  field: z.enum(STATE_FIELDS).register(issueCodes, { code: 'UNKNOWN_STATE_FIELD' }),
  offset: bars0.default(0),
  instrument: InstrumentRef.optional(),
});

interface StateValues {
  readonly range: Range;
  /** Whole numbers only. */
  readonly isDiscrete: boolean;
}
const COUNT: StateValues = { range: NOT_NEGATIVE, isDiscrete: true };
/** Sizes, prices, drawdowns. */
const UNSIGNED: StateValues = { range: NOT_NEGATIVE, isDiscrete: false };
/** Profits and what they change. */
const SIGNED: StateValues = { range: EVERYTHING, isDiscrete: false };
const STATE_VALUES: Readonly<Record<(typeof STATE_FIELDS)[number], StateValues>> = {
  position_exists: { range: range(0, 1), isDiscrete: true },
  position_side: { range: range(-1, 1), isDiscrete: true },
  position_size: UNSIGNED,
  position_entry_price: UNSIGNED,
  position_unrealized_pnl: SIGNED,
  position_unrealized_pnl_pct: SIGNED,
  position_realized_pnl: SIGNED,
  position_bars_since_entry: COUNT,
  position_bars_since_exit: COUNT,
  position_highest_since_entry: UNSIGNED,
  position_lowest_since_entry: UNSIGNED,
  position_mfe_pct: SIGNED,
  position_mae_pct: SIGNED,
  position_stop_price: UNSIGNED,
  position_average_price: UNSIGNED,
  open_positions_count: COUNT,
  instrument_positions_count: COUNT,
  account_balance: SIGNED,
  account_equity: SIGNED,
  account_gross_exposure: UNSIGNED,
  account_used_margin: UNSIGNED,
  account_available_collateral: SIGNED,
  account_margin_utilization: SIGNED,
  account_drawdown: UNSIGNED,
  account_max_drawdown: UNSIGNED,
  account_day_pnl_pct: SIGNED,
  trades_count_total: COUNT,
  trades_count_today: COUNT,
  wins_streak: COUNT,
  losses_streak: COUNT,
  last_trade_pnl: SIGNED,
  last_trade_pnl_pct: SIGNED,
  last_entry_price: UNSIGNED,
  last_exit_price: UNSIGNED,
};

export const stateValue: ValueDefinition<typeof schema> = {
  type: 'value',
  schema,
  description: 'Position or account state before the orders of this bar.',
  nsPerBar: 2,
  offsetCountsOwnBars: true,
  check: null,
  rewrite: null,
  range: ({ field }) => STATE_VALUES[field].range,
  isDiscrete: ({ field }) => STATE_VALUES[field].isDiscrete,
  text: (node) => `${node.field}${placeText(node)}`,
  lookback: ({ offset }, { context }) => ({ timeframe: context, bars: offset }),
  step: () => {
    throw new Error('A state node reached the column compiler, which takes stateless expressions only.');
  },
  stateField: ({ field }) => field,
  operation: null,
  overState: {
    read: (node, parts) => {
      const field = STATE_FIELDS.indexOf(node.field);
      return parts.delayed(node, (_, state) => state.read(field), node.offset);
    },
    keeps: ({ offset }) => offset + 1,
  },
};
