// Generated simulation inputs: random bars, rules, risk and configs, all from one seed.
import type { Bars } from '../../src/engine/bars/bars.ts';
import { AMBIGUITY_FALLBACKS, AMBIGUITY_RESOLUTIONS, type Slippage } from '../../src/engine/config.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import type {
  EntryRule,
  ExitRule,
  OrderRule,
  RiskRules,
  SizingRule,
  StopRule,
  TakeProfitRule,
  ValueSource,
} from '../../src/engine/evaluate/tradingRules.ts';
import { barsFrom, bitsAt, configOf, INSTRUMENT, inputOf } from '../engine/simulate/input.ts';
import { randomCarry } from '../support/carry.ts';
import type { Dice } from '../support/dice.ts';
import { diceOf } from '../support/dice.ts';
import { randomOrderFees, withOrderFees } from '../support/orderFees.ts';

const MINUTE = 60_000;

/** Minutes whose prices are whole quarters; `gap` is how often an open leaves the close before it. */
export function randomMinutes(dice: Dice, count: number, gap = 0.05, step = 1): Bars {
  const start = Date.UTC(2024, 0, 1) + dice.whole(0, 1000) * 15 * MINUTE;
  const rows = {
    time: [] as number[],
    open: [] as number[],
    high: [] as number[],
    low: [] as number[],
    close: [] as number[],
  };
  const quarter = (value: number) => Math.max(8, Math.round(value * 4) / 4);
  let price = 100;
  for (let row = 0; row < count; row++) {
    const open = dice.chance(gap) ? quarter(price + dice.number(-2, 2) * step) : price;
    const close = quarter(open + dice.number(-1, 1) * step + (100 - open) * 0.01);
    rows.time.push(start + row * MINUTE);
    rows.open.push(open);
    rows.high.push(quarter(Math.max(open, close) + dice.number(0, 0.5) * step));
    rows.low.push(quarter(Math.min(open, close) - dice.number(0, 0.5) * step));
    rows.close.push(close);
    price = close;
  }
  return barsFrom(rows, '1m');
}

/** Buckets of `size` minutes, as 15m bars (or what `size` is). */
export function bucketMinutes(minutes: Bars, size = 15): Bars {
  const rows = {
    time: [] as number[],
    open: [] as number[],
    high: [] as number[],
    low: [] as number[],
    close: [] as number[],
  };
  for (let from = 0; from < minutes.length; from += size) {
    const to = Math.min(from + size, minutes.length);
    rows.time.push(minutes.time[from]);
    rows.open.push(minutes.open[from]);
    rows.high.push(Math.max(...minutes.high.subarray(from, to)));
    rows.low.push(Math.min(...minutes.low.subarray(from, to)));
    rows.close.push(minutes.close[to - 1]);
  }
  return barsFrom(rows, '15m');
}

const rowsWith = (dice: Dice, length: number, probability: number): number[] =>
  Array.from({ length }, (_, row) => row).filter(() => dice.chance(probability));

const columnAround = (dice: Dice, bars: Bars, offset: number, missing: number): ValueSource => ({
  kind: 'column',
  values: bars.close.map((close) => (dice.chance(missing) ? NaN : close + offset)),
});

function randomSizing(dice: Dice, bars: Bars, hasStop: boolean, leverage: number): SizingRule {
  const mode = dice.pick([
    'fixed',
    'fixed_cash',
    'percent_equity',
    'percent_balance',
    'risk_percent',
    'volatility_target',
  ] as const);
  switch (mode) {
    case 'fixed':
      return { mode, value: dice.number(0.1, 60) };
    case 'fixed_cash':
      return { mode, value: dice.number(10, 9_000) };
    case 'percent_equity':
    case 'percent_balance':
      return { mode, value: dice.number(5, 100 * leverage) };
    case 'risk_percent':
      return hasStop ? { mode, value: dice.number(0.1, 3) } : { mode: 'fixed', value: 3 };
    case 'volatility_target':
      return { mode, value: dice.number(5, 100), atr: bars.close.map(() => dice.number(0.2, 3)) };
  }
}

function randomOrder(dice: Dice, bars: Bars): OrderRule {
  if (dice.chance(0.6)) return { type: 'market' };
  return {
    type: dice.pick(['limit', 'stop'] as const),
    price: columnAround(dice, bars, dice.number(-3, 3), 0.02),
    expireBars: dice.whole(1, 6),
  };
}

function randomStop(dice: Dice, bars: Bars, side: number): StopRule | null {
  switch (dice.whole(0, 4)) {
    case 0:
      return { mode: 'percent', value: dice.number(0.5, 6) };
    case 1:
      return { mode: 'fixed', value: dice.number(0.5, 6) };
    case 2:
      return { mode: 'atr', atr: bars.close.map(() => dice.number(0.5, 3)), multiplier: dice.number(0.5, 3) };
    case 3:
      return {
        mode: 'price',
        price: columnAround(dice, bars, -side * dice.number(0.5, 5), 0.1),
        update: dice.pick(['entry', 'bar'] as const),
      };
    default:
      return null;
  }
}

function randomLadder(dice: Dice, bars: Bars, hasStop: boolean): TakeProfitRule[] {
  const steps = dice.pick([0, 0, 1, 1, 2, 3]);
  const closeBasis = dice.pick(['initial', 'remaining'] as const);
  return Array.from({ length: steps }, (_, step) => {
    const away = dice.number(0.5, 4) * (step + 1);
    const triggers: TakeProfitRule['trigger'][] = [
      { mode: 'percent', value: away },
      { mode: 'atr', atr: bars.close.map(() => dice.number(0.5, 2)), multiplier: away },
      hasStop ? { mode: 'r', value: away / 2 } : { mode: 'percent', value: away },
    ];
    return {
      trigger: dice.pick(triggers),
      closePercent: closeBasis === 'initial' ? 100 / steps : dice.number(20, 100),
      closeBasis,
      moveStopToBreakeven: dice.chance(0.3),
    };
  });
}

function randomRisk(dice: Dice, bars: Bars, side: number): RiskRules {
  const stopLoss = randomStop(dice, bars, side);
  return {
    stopLoss,
    takeProfits: randomLadder(dice, bars, stopLoss !== null),
    trailingStop: dice.chance(0.3)
      ? {
          distance: dice.chance(0.6)
            ? { mode: 'percent', value: dice.number(0.5, 5) }
            : { mode: 'atr', atr: bars.close.map(() => dice.number(0.5, 2)), multiplier: dice.number(0.5, 2) },
          activateAfterPercent: dice.chance(0.4) ? dice.number(0.2, 3) : null,
        }
      : null,
    breakeven: dice.chance(0.25)
      ? { activateAfterPercent: dice.number(0.3, 3), offsetPercent: dice.number(0, dice.chance(0.2) ? 4 : 0.2) }
      : null,
    timeStop: dice.chance(0.25) ? { maxBars: dice.whole(1, 30) } : null,
  };
}

function randomSlippage(dice: Dice): Slippage {
  return dice.pick<Slippage>([
    { kind: 'none' },
    { kind: 'fixed', unit: 'bps', value: dice.number(0, 30) },
    { kind: 'fixed', unit: 'ticks', value: dice.whole(0, 3) },
    { kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: dice.number(0, 0.3) },
    { kind: 'volatility_scaled', reference: 'atr_pct', multiplier: dice.number(0, 0.3) },
  ]);
}

/** Anything the simulation takes; one seed, one input. */
export function randomInput(seed: number, rows?: number): SimulationInput {
  const dice = diceOf(seed);
  const minutes = randomMinutes(dice, (rows ?? dice.whole(20, 90)) * 15);
  const bars = bucketMinutes(minutes);
  const leverage = dice.pick([1, 1, 1, 3, 20]);
  const hasShorts = dice.chance(0.5);
  const risk = randomRisk(dice, bars, hasShorts && dice.chance(0.5) ? -1 : 1);
  const entries: EntryRule[] = Array.from({ length: dice.whole(1, 3) }, (_, index) => ({
    id: `entry${index}`,
    side: hasShorts && dice.chance(0.5) ? -1 : 1,
    signal: { kind: 'bits', isTrue: bitsAt(bars.length, rowsWith(dice, bars.length, dice.pick([0.05, 0.2, 0.8]))) },
    sizing: randomSizing(dice, bars, risk.stopLoss !== null, leverage),
    order: randomOrder(dice, bars),
    cooldownBars: dice.pick([0, 0, 0, 3, 10]),
    conflict: dice.pick(['ignore', 'close', 'reverse'] as const),
  }));
  const exits: ExitRule[] = Array.from({ length: dice.whole(0, 3) }, (_, index) => ({
    id: `exit${index}`,
    appliesTo: dice.pick([0, 1, -1] as const),
    priority: dice.whole(0, 2),
    when: { kind: 'bits', isTrue: bitsAt(bars.length, rowsWith(dice, bars.length, 0.08)) },
    action: dice.pick([
      { mode: 'percent_position', value: 100 },
      { mode: 'percent_position', value: dice.number(10, 90) },
      { mode: 'fixed', value: dice.number(0.5, 20) },
    ] as const),
  }));
  const tiers = [
    { minCumulativeNotional: 0, makerRate: dice.number(-0.0005, 0.001), takerRate: dice.number(0, 0.003) },
    { minCumulativeNotional: 20_000, makerRate: 0.0002, takerRate: 0.0005 },
    { minCumulativeNotional: 60_000, makerRate: 0, takerRate: 0.0001 },
  ];
  const input = inputOf(bars, {
    start: dice.whole(0, 10),
    end: bars.length - dice.whole(0, 5),
    fine: dice.chance(0.6) ? minutes : null,
    instrument: {
      ...INSTRUMENT,
      tickSize: 0.25,
      qtyStep: dice.pick([0, 0, 0.001, 1]),
      minNotional: dice.pick([0, 0, 50]),
    },
    maxConcurrentPositions: dice.pick([1, 1, 1, 2, 5]),
    entries,
    exits,
    risk,
    slippageAtr: bars.close.map(() => dice.number(0.2, 2)),
    config: configOf({
      ambiguityResolution: dice.pick(AMBIGUITY_RESOLUTIONS),
      ambiguityFallback: dice.pick(AMBIGUITY_FALLBACKS),
      leverage,
      fundingRate: dice.pick([0, 0, 0.0005, -0.0005]),
      execution: {
        orderTiming: dice.pick(['next_open', 'next_open', 'bar_close'] as const),
        entryOrderRole: dice.pick(['maker', 'taker'] as const),
        exitOrderRole: dice.pick(['maker', 'taker'] as const),
        riskOrderRole: dice.pick(['maker', 'taker'] as const),
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers,
          ...(dice.chance(0.3) ? { window: { kind: 'rolling', days: dice.number(0.05, 2) } } : {}),
        },
        slippage: randomSlippage(dice),
      },
    }),
    keepOrders: true,
  });
  const carried = randomCarry(dice, [bars.symbol], [bars.time[0], bars.time[bars.length - 1]]);
  return { ...input, config: { ...withOrderFees(input.config, randomOrderFees(dice)), ...carried } };
}
