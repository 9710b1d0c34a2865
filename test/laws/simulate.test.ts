// What holds for every simulation, whatever its rules: accounting, the prefix law, symmetry, scale, and the skipped
// stretches.
import { describe, expect, it } from 'vitest';
import { hasBit } from '../../src/engine/kernels/bits.ts';
import type { Bars } from '../../src/engine/bars/bars.ts';
import type { SimulationInput, SimulationResult } from '../../src/engine/simulate/simulation.ts';
import type { Trade } from '../../src/engine/simulate/trade.ts';
import type { ConditionSource, StatefulCondition } from '../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import { AMBIGUITY_FALLBACKS, type AmbiguityFallback } from '../../src/engine/config.ts';
import { configOf, entryAt, flatFee, inputOf, NO_RISK } from '../engine/simulate/input.ts';
import { scaled } from '../support/scale.ts';
import { diceOf } from '../support/dice.ts';
import { bucketMinutes, randomInput, randomMinutes } from './simulationInputs.ts';

/** Runs `law` for seeds 1 … count; a failure names its seed. */
function forSeeds(count: number, law: (seed: number) => void): void {
  for (let seed = 1; seed <= scaled(count); seed++) {
    try {
      law(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

function expectNear(actual: number, expected: number, what: string): void {
  const tolerance = 1e-9 * Math.max(1, Math.abs(actual), Math.abs(expected)) * 100;
  if (!(Math.abs(actual - expected) <= tolerance)) expect.fail(`${what}: ${actual} instead of ${expected}`);
}

describe('accounting', () => {
  it('ends with the initial balance plus the sum of every trade', () => {
    let trades = 0;
    forSeeds(5_000, (seed) => {
      const input = randomInput(seed);
      const result = simulate(input);
      const earned = result.trades.reduce((sum, trade) => sum + trade.pnl, 0);
      expectNear(result.finalBalance, input.config.initialBalance + earned, 'final balance');
      if (result.equity.length > 0) expectNear(result.equity.at(-1)!, result.finalBalance, 'last equity');
      trades += result.trades.length;
    });
    expect(trades).toBeGreaterThan(scaled(5_000) * 3);
  });

  it('marks cash plus positions at every close', () => {
    let marksWithPosition = 0;
    forSeeds(2_000, (seed) => {
      const made = randomInput(seed);
      const input = { ...made, config: { ...made.config, fundingRate: 0, borrowRatePerYear: 0, dividends: [] } };
      const { trades, equity } = simulate(input);
      const { close } = input.bars;
      for (let row = input.start; row < input.end; row++) {
        let expected = input.config.initialBalance;
        for (const trade of trades) {
          if (trade.exitRow <= row) expected += trade.pnl;
          else if (trade.entryRow <= row) {
            expected += trade.side * trade.quantity * (close[row] - trade.entryPrice) - trade.entryFee;
            marksWithPosition++;
          }
        }
        expectNear(equity[row - input.start], expected, `equity at ${row}`);
      }
    });
    expect(marksWithPosition).toBeGreaterThan(scaled(2_000));
  });

  it('never gives NaN, or a negative fee without a rebate', () => {
    forSeeds(2_000, (seed) => {
      const result = simulate(randomInput(seed));
      const numbers = [result.finalBalance, ...result.equity, ...Object.values(result.totals).filter(Number.isFinite)];
      for (const trade of result.trades) {
        numbers.push(
          trade.pnl,
          trade.returnPct,
          trade.maePct,
          trade.mfePct,
          trade.slippage,
          trade.quantity,
          trade.exitPrice,
        );
        expect(trade.maePct).toBeLessThanOrEqual(0);
        expect(trade.mfePct).toBeGreaterThanOrEqual(0);
        expect(trade.slippage).toBeGreaterThanOrEqual(0);
        expect(trade.exitRow).toBeGreaterThanOrEqual(trade.entryRow);
      }
      if (!(numbers as (number | object)[]).every(Number.isFinite)) expect.fail('something is not a finite number');
      expect(result.totals.takerFees).toBeGreaterThanOrEqual(0);
    });
  });

  it('books the same totals in trades, tiers and the order log', () => {
    forSeeds(2_000, (seed) => {
      const { trades, totals, orders, counts } = simulate(randomInput(seed));
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      const fees = sum(trades.map((trade) => trade.entryFee + trade.exitFee));
      expectNear(totals.makerFees + totals.takerFees, fees, 'fees');
      expectNear(sum(totals.tiers.map((tier) => tier.fees)), fees, 'fees by tier');
      expectNear(sum(totals.tiers.map((tier) => tier.notional)), totals.totalNotional, 'notional by tier');
      expectNear(totals.slippageCost, sum(trades.map((trade) => trade.slippage)), 'slippage');
      const filled = orders!.filter(({ status }) => status === 'filled');
      expectNear(sum(filled.map((order) => order.fee!)), fees, 'fees in the log');
      expect(filled.filter(({ purpose }) => purpose === 'entry').length).toBe(counts.entriesFilled);
      expect(filled.filter(({ purpose }) => purpose === 'exit').length).toBe(trades.length);
      expect(orders!.filter(({ status, purpose }) => status === 'expired' && purpose === 'entry').length).toBe(
        counts.ordersExpired,
      );
      const rejected = orders!.filter(({ status }) => status === 'rejected').length;
      expect(rejected).toBe(sum(Object.values(counts.ordersRejected)));
    });
  });

  it('sets a bit for exactly the bars during which a position was open', () => {
    const bars = { held: 0, flat: 0 };
    forSeeds(1_000, (seed) => {
      const input = randomInput(seed);
      const { trades, inPosition } = simulate(input);
      // A row does not say whether a pending order has closed it at the open of its bar or inside.
      if (trades.some(({ exitReason }) => exitReason === 'reverse')) return;
      const isAtClose = input.config.execution.orderTiming === 'bar_close';
      /** The first and the last bar with the position inside. */
      const first = ({ entryRow, entryRule }: Trade) =>
        isAtClose && input.entries[entryRule].order.type === 'market' ? entryRow + 1 : entryRow;
      const last = ({ exitRow, exitReason, exitMethod }: Trade) =>
        exitMethod === 'gap' || (!isAtClose && ['signal', 'time_stop'].includes(exitReason)) ? exitRow - 1 : exitRow;
      for (let row = input.start; row < input.end; row++) {
        const isHeld = trades.some((trade) => first(trade) <= row && row <= last(trade));
        if (hasBit(inPosition, row - input.start) !== isHeld) expect.fail(`row ${row}: ${String(!isHeld)}`);
        bars[isHeld ? 'held' : 'flat']++;
      }
    });
    expect(Math.min(bars.held, bars.flat)).toBeGreaterThan(scaled(1_000));
  });

  it('never ends with more from the same trades if fees are higher', () => {
    let compared = 0;
    forSeeds(1_000, (seed) => {
      const made = randomInput(seed);
      const entries = made.entries.map((rule) => ({ ...rule, sizing: { mode: 'fixed', value: 0.5 } as const }));
      const at = (rate: number): SimulationInput => ({
        ...made,
        entries,
        config: { ...made.config, execution: { ...made.config.execution, feeModel: flatFee(rate) } },
      });
      const cheap = simulate(at(0.0005));
      const dear = simulate(at(0.002));
      const where = (result: SimulationResult) =>
        result.trades.map((trade) => [trade.entryRow, trade.exitRow, trade.quantity]);
      if (JSON.stringify(where(cheap)) !== JSON.stringify(where(dear))) return;
      if (cheap.trades.length === 0) return;
      expect(dear.finalBalance).toBeLessThan(cheap.finalBalance);
      compared++;
    });
    expect(compared).toBeGreaterThan(scaled(1_000) * 0.5);
  });

  it('loses the percent that risk_percent names when its stop is hit without a gap', () => {
    let stopped = 0;
    forSeeds(500, (seed) => {
      const dice = diceOf(seed);
      const minutes = randomMinutes(dice, 40 * 15, 0);
      const bars = bucketMinutes(minutes);
      const percent = dice.number(0.1, 2);
      const result = simulate(
        inputOf(bars, {
          entries: [entryAt(bars, [0], { side: dice.pick([1, -1]), sizing: { mode: 'risk_percent', value: percent } })],
          risk: { ...NO_RISK, stopLoss: { mode: 'percent', value: dice.number(1, 4) } },
          config: configOf({
            leverage: 10,
            execution: {
              feeModel: flatFee(dice.number(0, 0.002)),
              slippage: { kind: 'fixed', unit: 'bps', value: dice.number(0, 20) },
            },
          }),
        }),
      );
      const [trade] = result.trades;
      if (trade === undefined || trade.exitReason !== 'stop_loss' || trade.exitMethod === 'gap') return;
      expectNear(trade.pnl / 10_000, -percent / 100, 'loss');
      stopped++;
    });
    expect(stopped).toBeGreaterThan(scaled(500) * 0.8);
  });
});

/** The same bits, said by a rule that must be asked at every close: nothing can be skipped. */
function asStateful(source: ConditionSource): ConditionSource {
  if (source.kind !== 'bits') return source;
  const condition: StatefulCondition = {
    gate: null,
    hasAccountHistory: false,
    hasPositionHistory: true,
    newMemory: () => [],
    recordAccount: () => undefined,
    recordPosition: () => undefined,
    test: (row) => (hasBit(source.isTrue, row) ? 1 : 0),
  };
  return { kind: 'stateful', condition };
}

describe('skipping', () => {
  it('gives the same result as playing every bar, byte for byte', () => {
    forSeeds(3_000, (seed) => {
      const input = randomInput(seed);
      const slow: SimulationInput = {
        ...input,
        entries: input.entries.map((rule) => ({ ...rule, signal: asStateful(rule.signal) })),
        exits: input.exits.map((rule) => ({ ...rule, when: asStateful(rule.when) })),
      };
      const fast = simulate(input);
      const every = simulate(slow);
      expect(fast.trades).toEqual(every.trades);
      expect(fast.equity).toEqual(every.equity);
      expect(fast.orders).toEqual(every.orders);
      expect(fast.inPosition).toEqual(every.inPosition);
      expect(fast.ambiguity).toEqual(every.ambiguity);
      const { entrySignals: _, signalsByRule: __, ...fastCounts } = fast.counts;
      const { entrySignals: ___, signalsByRule: ____, ...everyCounts } = every.counts;
      expect(fastCounts).toEqual(everyCounts);
    });
  });
});

describe('the cooldown', () => {
  it('keeps every entry away from every kind of exit', () => {
    const reasons: Record<string, number> = {};
    let reentries = 0;
    forSeeds(3_000, (seed) => {
      const made = randomInput(seed);
      const cooldown = diceOf(seed).whole(1, 8);
      const entries = made.entries.map((rule) => ({ ...rule, cooldownBars: cooldown }));
      const input: SimulationInput = { ...made, entries, maxConcurrentPositions: 1 };
      const { trades } = simulate(input);
      const ids = [...new Set(trades.map(({ positionId }) => positionId))];
      ids.slice(1).forEach((id, index) => {
        const exit = trades.findLast(({ positionId }) => positionId === ids[index])!;
        const entry = trades.find(({ positionId }) => positionId === id)!;
        // The exits of a reversal belong to the entry; a resting order was checked at its signal, before the exit.
        if (exit.exitReason === 'reverse' || entry.entryDecisionRow < exit.exitDecisionRow) return;
        if (input.entries[entry.entryRule].order.type !== 'market' && entry.entryDecisionRow < exit.exitRow) return;
        reasons[exit.exitReason] = (reasons[exit.exitReason] ?? 0) + 1;
        reentries++;
        const waited = entry.entryDecisionRow - exit.exitRow;
        if (waited < cooldown) expect.fail(`position ${id}: ${waited} bars after ${exit.exitReason}, not ${cooldown}`);
      });
    });
    expect(reentries).toBeGreaterThan(scaled(3_000) * 2);
    for (const reason of ['signal', 'stop_loss', 'take_profit', 'trailing_stop', 'breakeven', 'time_stop']) {
      expect(reasons[reason], reason).toBeGreaterThan(scaled(3_000) / 60);
    }
  });
});

describe('a simulation of fewer bars', () => {
  it('gives the same fills up to its last bar', () => {
    forSeeds(3_000, (seed) => {
      const input = randomInput(seed);
      const dice = diceOf(seed + 1_000_000);
      const end = dice.whole(input.start + 1, input.end);
      const whole = simulate(input);
      const part = simulate({ ...input, end });
      const before = (trades: readonly Trade[]) => trades.filter(({ exitRow }) => exitRow < end - 1);
      expect(before(part.trades)).toEqual(before(whole.trades));
      expect(part.equity.subarray(0, -1)).toEqual(whole.equity.subarray(0, end - 1 - input.start));
      const filled = (result: SimulationResult) =>
        result.orders!.filter(({ filledRow }) => filledRow !== null && filledRow < end - 1);
      expect(filled(part)).toEqual(filled(whole));
    });
  });
});

describe('every ambiguity policy', () => {
  it('gives the same bytes if no level can be touched inside a bar', () => {
    forSeeds(500, (seed) => {
      const made = randomInput(seed);
      const plain: SimulationInput = {
        ...made,
        risk: { ...NO_RISK, timeStop: made.risk.timeStop },
        entries: made.entries.map((rule) => ({
          ...rule,
          side: 1,
          order: { type: 'market' },
          sizing: { mode: 'percent_equity', value: 30 },
        })),
        config: { ...made.config, leverage: 1 },
      };
      const under = (ambiguityResolution: SimulationInput['config']['ambiguityResolution']) =>
        JSON.stringify(simulate({ ...plain, config: { ...plain.config, ambiguityResolution } }));
      const expected = under('pessimistic');
      for (const policy of ['optimistic', 'bar_direction', 'distance', 'multi_resolution'] as const) {
        expect(under(policy)).toBe(expected);
      }
    });
  });
});

describe('a run that leaves no bar to the policy', () => {
  it('is the same under every policy, with one position or several', () => {
    let several = 0;
    forSeeds(4_000, (seed) => {
      const made = randomInput(seed);
      const isDrilling = diceOf(seed + 2_000_000).chance(0.5);
      const under = (policy: AmbiguityFallback) =>
        simulate({
          ...made,
          maxConcurrentPositions: 1 + (seed % 4),
          config: {
            ...made.config,
            ...(isDrilling
              ? { ambiguityResolution: 'multi_resolution', ambiguityFallback: policy }
              : { ambiguityResolution: policy }),
          },
        });
      // How far a position entered inside a bar was held is told by the policy, though it decides no fill.
      const fills = ({ trades }: SimulationResult) => trades.map((trade) => ({ ...trade, maePct: 0, mfePct: 0 }));
      const first = under('pessimistic');
      if (first.ambiguity.fallbackBars > 0) return;
      for (const policy of AMBIGUITY_FALLBACKS) expect(fills(under(policy))).toEqual(fills(first));
      if (first.trades.length > 0 && seed % 4 > 0) several++;
    });
    expect(several).toBeGreaterThan(scaled(4_000) / 20);
  });
});

const mapBars = (bars: Bars, price: (value: number) => number, isTurned: boolean): Bars => ({
  ...bars,
  open: bars.open.map(price),
  high: (isTurned ? bars.low : bars.high).map(price),
  low: (isTurned ? bars.high : bars.low).map(price),
  close: bars.close.map(price),
});

describe('a simulation', () => {
  it('turns longs into shorts when price p becomes K − p', () => {
    forSeeds(1_000, (seed) => {
      const dice = diceOf(seed);
      const minutes = randomMinutes(dice, 60 * 15);
      const bars = bucketMinutes(minutes);
      const rows = Array.from({ length: bars.length }, (_, row) => row).filter(() => dice.chance(0.2));
      const risk = {
        ...NO_RISK,
        stopLoss: { mode: 'fixed', value: dice.whole(2, 16) / 4 } as const,
        takeProfits: [
          { trigger: { mode: 'r', value: 1 }, closePercent: 50, closeBasis: 'initial', moveStopToBreakeven: true },
          { trigger: { mode: 'r', value: 2 }, closePercent: 50, closeBasis: 'initial', moveStopToBreakeven: false },
        ] as const,
      };
      const policy = dice.pick(['multi_resolution', 'pessimistic', 'optimistic', 'distance'] as const);
      const run = (side: 1 | -1) => {
        const turn = (series: Bars) => (side > 0 ? series : mapBars(series, (price) => 1024 - price, true));
        return simulate(
          inputOf(turn(bars), {
            fine: turn(minutes),
            entries: [entryAt(bars, rows, { side })],
            risk,
            config: configOf({ initialBalance: 1e6, ambiguityResolution: policy }),
          }),
        );
      };
      const told = (result: SimulationResult) =>
        result.trades.map(({ entryRow, exitRow, exitReason, exitMethod, exitFineTime, pnl, quantity }) => ({
          entryRow, exitRow, exitReason, exitMethod, exitFineTime, pnl, quantity,
        })); // prettier-ignore
      expect(told(run(-1))).toEqual(told(run(1)));
    });
  });

  it('gives the same trades at four times the prices and the money', () => {
    const SCALE = 4;
    forSeeds(1_000, (seed) => {
      const made = randomInput(seed);
      const input: SimulationInput = {
        ...made,
        entries: made.entries.map((rule) => ({ ...rule, order: { type: 'market' } })),
        risk: {
          ...NO_RISK,
          stopLoss: { mode: 'percent', value: 2 },
          trailingStop: made.risk.trailingStop,
          timeStop: made.risk.timeStop,
        },
        instrument: { ...made.instrument, minNotional: 0 },
        config: {
          ...made.config,
          execution: {
            ...made.config.execution,
            slippage: { kind: 'fixed', unit: 'bps', value: 5 },
            feeModel: flatFee(0.001),
          },
        },
      };
      const times = (values: Float64Array) => values.map((value) => value * SCALE);
      const { trailingStop } = input.risk;
      const large: SimulationInput = {
        ...input,
        bars: mapBars(input.bars, (price) => price * SCALE, false),
        fine: input.fine === null ? null : mapBars(input.fine, (price) => price * SCALE, false),
        entries: input.entries.map((rule) => {
          if (rule.sizing.mode === 'fixed_cash')
            return { ...rule, sizing: { ...rule.sizing, value: rule.sizing.value * SCALE } };
          if (rule.sizing.mode === 'volatility_target')
            return { ...rule, sizing: { ...rule.sizing, atr: times(rule.sizing.atr!) } };
          return rule;
        }),
        risk: {
          ...input.risk,
          trailingStop:
            trailingStop?.distance.mode === 'atr'
              ? { ...trailingStop, distance: { ...trailingStop.distance, atr: times(trailingStop.distance.atr) } }
              : trailingStop,
        },
        config: {
          ...input.config,
          initialBalance: input.config.initialBalance * SCALE,
          dividends: (input.config.dividends ?? []).map((each) => ({ ...each, amount: each.amount * SCALE })),
        },
      };
      const told = (result: SimulationResult, scale: number) =>
        result.trades.map((trade) => ({
          ...trade,
          entryPrice: trade.entryPrice / scale,
          exitPrice: trade.exitPrice / scale,
          entryFee: trade.entryFee / scale,
          exitFee: trade.exitFee / scale,
          slippage: trade.slippage / scale,
          pnl: trade.pnl / scale,
          initialRisk: trade.initialRisk! / scale,
        }));
      expect(told(simulate(large), SCALE)).toEqual(told(simulate(input), 1));
    });
  });

  it('gives the same result twice', () => {
    forSeeds(300, (seed) => {
      expect(JSON.stringify(simulate(randomInput(seed)))).toBe(JSON.stringify(simulate(randomInput(seed))));
    });
  });
});
