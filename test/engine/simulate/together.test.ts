// Several positions and pending orders of one bar: they fill in time order, and fees, funds, rows and state follow it
// (semantics §3.7, §3.9).
import { describe, expect, it } from 'vitest';
import { AMBIGUITY_FALLBACKS } from '../../../src/engine/config.ts';
import type { EntryRule, RiskRules } from '../../../src/engine/evaluate/tradingRules.ts';
import { STATE_FIELDS } from '../../../src/engine/language/grammar/ast.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import {
  barsOf,
  constant,
  entryAt,
  FLAT,
  inputOf,
  NO_RISK,
  quarters,
  takeProfit,
  under,
  type Ohlc,
  type Resolution,
  pending,
  stateCondition,
} from './input.ts';

const ten = { sizing: { mode: 'fixed', value: 10 } } as const;
const column = (values: readonly number[]) => ({ kind: 'column', values: Float64Array.from(values) }) as const;
const stopsAt = (values: readonly number[]): RiskRules['stopLoss'] => ({
  mode: 'price',
  price: column(values),
  update: 'entry',
});
/** A tier of 1 %, and one of 0.1 % from a notional on. */
const tiers = (least: number): Partial<SimulationInput['config']['execution']> => ({
  feeModel: {
    kind: 'tiered_maker_taker',
    tiers: [
      { minCumulativeNotional: 0, makerRate: 0.01, takerRate: 0.01 },
      { minCumulativeNotional: least, makerRate: 0.001, takerRate: 0.001 },
    ],
  },
});

/** Two longs of 10 at 100, the first at the open of row 1, the second at that of row 2, then `bar`. */
function twoLongs(bar: Ohlc, stops: readonly number[], more: Partial<SimulationInput> = {}): SimulationInput {
  const bars = barsOf([FLAT, FLAT, FLAT, bar, FLAT, FLAT]);
  return inputOf(bars, {
    entries: [entryAt(bars, [0, 1], ten)],
    risk: { ...NO_RISK, stopLoss: stopsAt([...stops, 50, 50, 50, 50]) },
    maxConcurrentPositions: 2,
    config: under('multi_resolution'),
    ...more,
  });
}

const filled = (input: SimulationInput) =>
  simulate(input).trades.map(({ positionId, exitPrice, exitReason }) => [positionId, exitPrice, exitReason]);

describe('two stops of one bar', () => {
  const bar: Ohlc = [100, 100, 95, 95];
  const fine = quarters(3, [[100, 100, 99, 99], [99, 99, 97.5, 97.5], [97.5, 97.5, 95, 95]]); // prettier-ignore
  const config = under('multi_resolution', { execution: tiers(2_500) });

  it('are charged in the order in which the market reaches them', () => {
    for (const children of [fine, null]) {
      const { trades } = simulate(twoLongs(bar, [96, 98], { fine: children, config }));
      // 2,000 were traded before 98 is reached, 2,980 before 96 is.
      expect(trades.map(({ positionId, exitPrice, exitFee }) => [positionId, exitPrice, exitFee])).toEqual([
        [2, 98, 980 * 0.01],
        [1, 96, 960 * 0.001],
      ]);
    }
  });

  it('leave the later one as the last exit, which an entry may read', () => {
    const field = STATE_FIELDS.indexOf('last_exit_price');
    const readsExit = stateCondition((_row, state) => (state.read(field) === 98 ? 1 : 0));
    const made = twoLongs(bar, [96, 98], { fine });
    const signal = { kind: 'stateful', condition: readsExit } as const;
    const { trades } = simulate({ ...made, entries: [...made.entries, { ...made.entries[0], signal }] });
    expect(trades.length).toBe(2);
  });

  it('fill oldest first at one price', () => {
    expect(filled(twoLongs(bar, [97, 97]))).toEqual([
      [1, 97, 'stop_loss'],
      [2, 97, 'stop_loss'],
    ]);
    expect(filled(twoLongs([96, 97, 95, 95], [96.5, 98]))).toEqual([
      [1, 96, 'stop_loss'],
      [2, 96, 'stop_loss'],
    ]);
  });
});

describe('the stop of one position and the target of another', () => {
  /** Both bars touch the stop of position 1 at 98 and the target of position 2 at 104. */
  const made = (more: Partial<SimulationInput>, bar: Ohlc = [100, 105, 97, 101]) => {
    const input = twoLongs(bar, [98, 90], more);
    const takeProfits = [takeProfit({ mode: 'price', price: column([120, 104, NaN, NaN, NaN, NaN]) })];
    return { ...input, risk: { ...input.risk, takeProfits } };
  };
  const stopFirst = [
    [1, 98, 'stop_loss'],
    [2, 104, 'take_profit'],
  ];
  const targetFirst = stopFirst.toReversed();

  it('fill in the order of the children, although each position alone is decided', () => {
    const up = quarters(3, [[100, 105, 100, 104], [104, 104, 97, 97], [97, 101, 97, 101]]); // prettier-ignore
    const down = quarters(3, [[100, 100, 97, 98], [98, 105, 98, 104], [104, 104, 101, 101]]); // prettier-ignore
    expect(filled(made({ fine: up }))).toEqual(targetFirst);
    expect(filled(made({ fine: down }))).toEqual(stopFirst);
    const { trades, ambiguity } = simulate(made({ fine: up }));
    expect(ambiguity).toEqual({ undecidedBars: 1, drilledBars: 1, fallbackBars: 0, childrenMissingBars: 0 });
    expect(trades.map(({ exitMethod, exitFineTime }) => [exitMethod, exitFineTime])).toEqual([
      ['direct', null],
      ['direct', null],
    ]);
  });

  it('keep the prices of their levels where a child opens beyond them', () => {
    const fine = quarters(3, [[100, 101, 100, 101], [104.5, 105, 97, 97], [97, 101, 97, 101]]); // prettier-ignore
    expect(filled(made({ fine }))).toEqual(targetFirst);
  });

  it('fill in the order of the policy where nothing is walked, and count as left to it', () => {
    const order = (policy: Resolution, bar?: Ohlc) => {
      const input = made({ config: under(policy) }, bar);
      expect(simulate(input).ambiguity.fallbackBars).toBe(1);
      return filled(input);
    };
    expect(order('pessimistic')).toEqual(stopFirst);
    expect(order('optimistic')).toEqual(targetFirst);
    expect(order('bar_direction')).toEqual(stopFirst);
    expect(order('bar_direction', [100, 105, 97, 99])).toEqual(targetFirst);
    // 97 is nearer to the open than 105.
    expect(order('distance')).toEqual(stopFirst);
  });

  it('give no new liquidation price to what came before', () => {
    const hundred = { sizing: { mode: 'fixed', value: 100 } } as const;
    const config = under('multi_resolution', { initialBalance: 1_000, leverage: 20, maintenanceMarginRate: 0 });
    const bar: Ohlc = [100, 100, 94.9, 95];
    const input = twoLongs(bar, [97, 80], { config });
    const entries = [{ ...input.entries[0], ...hundred }];
    // At 95 the account is liquidated until 97 has stopped one of them: then at 93.
    expect(filled({ ...input, entries })[0]).toEqual([1, 97, 'stop_loss']);
    expect(filled({ ...input, entries })[1]).toEqual([2, 100, 'end_of_data']);
  });
});

describe('a pending order and the level of a position', () => {
  const bar: Ohlc = [100, 101, 94, 95];
  const long = (order: Partial<EntryRule>, more: Partial<SimulationInput> = {}) => {
    const bars = barsOf([FLAT, FLAT, bar, [95, 95, 95, 95]]);
    return inputOf(bars, {
      entries: [entryAt(bars, [0], ten), entryAt(bars, [1], { ...ten, ...order })],
      risk: { ...NO_RISK, stopLoss: stopsAt([95, 90, NaN, NaN]) },
      maxConcurrentPositions: 2,
      ...more,
    });
  };

  it('fill nearest first: a limit order before a stop beyond it', () => {
    const children = quarters(2, [[100, 101, 94, 95]]); // prettier-ignore
    for (const fine of [children, null]) {
      for (const policy of AMBIGUITY_FALLBACKS) {
        const config = under('multi_resolution', { ambiguityFallback: policy, execution: tiers(1_500) });
        const { trades } = simulate(long(pending('limit', 98), { fine, config }));
        // 1,000 before the limit at 98, 1,980 before the stop at 95.
        expect(trades.map(({ positionId, entryFee, exitFee }) => [positionId, entryFee, exitFee])).toEqual([
          [1, 10, 950 * 0.001],
          [2, 9.8, 950 * 0.001],
        ]);
      }
    }
  });

  it('settle funds in that order: the stop beyond the limit has not freed its margin yet', () => {
    const config = under('pessimistic', { initialBalance: 1_500 });
    expect(simulate(long(pending('limit', 98), { config })).counts.ordersRejected.INSUFFICIENT_BALANCE).toBe(1);
    // A limit beyond the stop finds the margin free, but not the slot.
    expect(simulate(long(pending('limit', 94.5), { config })).counts.entriesFilled).toBe(2);
  });
});

describe('a position that is opened inside a bar', () => {
  it('does not fill before another order that the market reaches first', () => {
    const bars = barsOf([FLAT, FLAT, [100, 100, 93, 93], [93, 93, 93, 93]]);
    const entries = [98, 96].map((price, row) => entryAt(bars, [row], { ...ten, ...pending('limit', price) }));
    const risk = { ...NO_RISK, stopLoss: { mode: 'fixed', value: 4 } } as const;
    for (const policy of AMBIGUITY_FALLBACKS) {
      const config = under(policy, { execution: tiers(1_500) });
      const { trades } = simulate(inputOf(bars, { entries, risk, config, maxConcurrentPositions: 2 }));
      // 98, 96, then the stops at 94 and (never reached) at 92: 1,940 before the first exit.
      expect(trades.map(({ exitPrice, entryFee, exitFee }) => [exitPrice, entryFee, exitFee])).toEqual([
        [94, 9.8, 940 * 0.001],
        [93, 9.6, 930 * 0.001],
      ]);
    }
  });
});

describe('MAE and MFE', () => {
  const half = [takeProfit({ mode: 'price', price: constant(104) }, 50)];
  const trade = (bar: Ohlc, children: readonly Ohlc[], row = 2, from = 0) => {
    const bars = barsOf([FLAT, FLAT, bar, FLAT]);
    const fine = quarters(row + from, children);
    const risk = { ...NO_RISK, stopLoss: stopsAt([97, NaN, NaN, NaN]), takeProfits: half };
    return simulate(inputOf(bars, { entries: [entryAt(bars, [0], ten)], risk, fine })).trades;
  };

  it('of what a target leaves include its price', () => {
    const rows = trade([100, 105, 96, 97], [[100, 105, 96, 97]]);
    // The child touches both, and the stop comes first.
    expect(rows.map(({ exitReason }) => exitReason)).toEqual(['stop_loss']);
    const walked = trade([100, 104, 96, 97], [[100, 104, 100, 104], [104, 104, 96, 97]]); // prettier-ignore
    expect(walked.map(({ mfePct }) => mfePct)).toEqual([0.04, 0.04]);
    const bars = barsOf([FLAT, FLAT, [100, 105, 96, 97], FLAT]);
    const risk = { ...NO_RISK, stopLoss: stopsAt([97, NaN, NaN, NaN]), takeProfits: half };
    for (const policy of ['optimistic', 'bar_direction'] as const) {
      const input = inputOf(bars, { entries: [entryAt(bars, [0], ten)], risk, config: under(policy) });
      expect(simulate(input).trades.map(({ exitPrice, mfePct }) => [exitPrice, mfePct])).toEqual([
        [104, 0.04],
        [97, 0.04],
      ]);
    }
  });

  it('include the open of a walked bar whose first child is missing', () => {
    // The bar opens at 103, and its first child, in which the price fell from there, is not stored.
    const [stopped] = trade([103, 104, 96, 97], [[99, 99, 96, 97]], 2, 0.25);
    expect([stopped.exitPrice, stopped.mfePct]).toEqual([97, 0.03]);
  });
});
