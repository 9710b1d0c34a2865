// Generated portfolio inputs: instruments on different calendars, rules of every kind, slots, ranks and links, all from
// one seed.
import type { Bars, Instrument, Timeframe } from '../../src/engine/bars/bars.ts';
import { timeAxisOf } from '../../src/engine/bars/timeAxis.ts';
import {
  AMBIGUITY_FALLBACKS,
  AMBIGUITY_RESOLUTIONS,
  type ResolvedConfig,
  type Slippage,
} from '../../src/engine/config.ts';
import type { PortfolioInput } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import { barsFrom, configOf, INSTRUMENT } from '../engine/simulate/input.ts';
import { randomCarry } from '../support/carry.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { randomOrderFees, withOrderFees } from '../support/orderFees.ts';
import { boundStrategy, randomStrategy } from './portfolioStrategies.ts';
import { lengthOf } from '../support/timeGrid.ts';

const DAY_MS = 86_400_000;

interface Calendar {
  readonly timeframe: ResolvedConfig['timeframe'];
  readonly children: Timeframe;
  /** Children in a bar. */
  readonly count: number;
}
const CALENDARS: readonly Calendar[] = [
  { timeframe: '1d', children: '4h', count: 6 },
  { timeframe: '1d', children: '4h', count: 6 },
  { timeframe: '1h', children: '15m', count: 4 },
  { timeframe: '15m', children: '5m', count: 3 },
];

const isWeekday = (time: number): boolean => ![0, 6].includes(new Date(time).getUTCDay());

/** Open times of one instrument: a part of the grid, with holes, of five days a week or of seven. */
function randomTimes(dice: Dice, grid: readonly number[]): { times: number[]; tradesAllDay: boolean } {
  const from = dice.chance(0.3) ? dice.whole(0, grid.length >> 1) : 0;
  const to = dice.chance(0.3) ? dice.whole(grid.length >> 1, grid.length) : grid.length;
  const missing = dice.pick([0, 0, 0.05, 0.3]);
  const tradesAllDay = dice.chance(0.5);
  const times = grid.slice(from, to).filter((time) => (tradesAllDay || isWeekday(time)) && !dice.chance(missing));
  return { times: times.length > 0 ? times : [grid[0]], tradesAllDay };
}

/** Prices in whole quarters, so that levels are often met exactly; some children are missing. */
function randomPrices(dice: Dice, times: readonly number[], { timeframe, children, count }: Calendar, symbol: string) {
  const level = dice.pick([20, 100, 100, 400]);
  const step = (level / 100) * dice.pick([0.5, 1, 1, 4]);
  const gap = dice.pick([0.05, 0.3]);
  const quarter = (value: number): number => Math.max(2, Math.round(value * 4) / 4);
  const base: number[][] = [[], [], [], [], []];
  const fine: number[][] = [[], [], [], [], []];
  let price = quarter(level);
  for (const time of times) {
    const from = fine[0].length;
    const bar = { open: NaN, high: -Infinity, low: Infinity, close: NaN };
    for (let child = 0; child < count; child++) {
      const open = dice.chance(gap / count) ? quarter(price + dice.number(-2, 2) * step) : price;
      const close = quarter(open + dice.number(-1, 1) * step + (level - open) * 0.01);
      const high = quarter(Math.max(open, close) + dice.number(0, 0.5) * step);
      const low = quarter(Math.min(open, close) - dice.number(0, 0.5) * step);
      [time + child * lengthOf(children), open, high, low, close].forEach((value, at) => fine[at].push(value));
      bar.open = child === 0 ? open : bar.open;
      bar.high = Math.max(bar.high, high);
      bar.low = Math.min(bar.low, low);
      bar.close = close;
      price = close;
    }
    [time, bar.open, bar.high, bar.low, bar.close].forEach((value, at) => base[at].push(value));
    if (dice.chance(0.05)) {
      const [lost] = fine.map(() => dice.whole(0, count - 1));
      for (const column of fine) column.splice(from + lost, 1);
    }
  }
  const toBars = ([time, open, high, low, close]: number[][], of: Timeframe): Bars =>
    barsFrom({ time, open, high, low, close }, of, symbol);
  return { bars: toBars(base, timeframe), fine: toBars(fine, children) };
}

function randomSlippage(dice: Dice): Slippage {
  return dice.pick<Slippage>([
    { kind: 'none' },
    { kind: 'fixed', unit: 'bps', value: dice.number(0, 30) },
    { kind: 'fixed', unit: 'ticks', value: dice.whole(0, 2) },
    { kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: dice.number(0, 0.3) },
    { kind: 'volatility_scaled', reference: 'atr_pct', multiplier: dice.number(0, 0.3) },
  ]);
}

function randomConfig(dice: Dice, timeframe: ResolvedConfig['timeframe'], leverage: number): ResolvedConfig {
  const scale = lengthOf(timeframe) / lengthOf('15m');
  const roles = ['maker', 'taker'] as const;
  return configOf({
    timeframe,
    ambiguityResolution: dice.pick(AMBIGUITY_RESOLUTIONS),
    ambiguityFallback: dice.pick(AMBIGUITY_FALLBACKS),
    leverage,
    maintenanceMarginRate: dice.pick([0.005, 0.02]),
    fundingRate: dice.pick([0, 0, 0.0005, -0.0005]),
    execution: {
      orderTiming: dice.pick(['next_open', 'next_open', 'bar_close'] as const),
      entryOrderRole: dice.pick(roles),
      exitOrderRole: dice.pick(roles),
      riskOrderRole: dice.pick(roles),
      feeModel: {
        kind: 'tiered_maker_taker',
        tiers: [
          { minCumulativeNotional: 0, makerRate: dice.number(-0.0005, 0.001), takerRate: dice.number(0, 0.003) },
          { minCumulativeNotional: 20_000, makerRate: 0.0002, takerRate: 0.0005 },
          { minCumulativeNotional: 60_000, makerRate: 0, takerRate: 0.0001 },
        ],
        ...(dice.chance(0.3) ? { window: { kind: 'rolling', days: dice.number(0.05, 2) * scale } } : {}),
      },
      slippage: randomSlippage(dice),
    },
  });
}

export interface UniverseOptions {
  /** How many instruments; drawn when absent. */
  readonly count?: number;
  /** No slots, ranks and links. */
  readonly isPlain?: boolean;
}

/** Symbols whose order is not that of the list. */
const SYMBOLS = ['DELTA', 'ALPHA', 'FOX', 'CHARLIE', 'BRAVO', 'ECHO'];

/** Anything a portfolio simulation takes; one seed, one input. */
export function randomPortfolio(seed: number, options: UniverseOptions = {}): PortfolioInput {
  const { count, isPlain = false } = options;
  const dice = diceOf(seed);
  const calendar = dice.pick(CALENDARS);
  const length = dice.whole(20, 120);
  const unit = lengthOf(calendar.timeframe);
  const first = Math.floor((Date.UTC(2024, 0, 1) + dice.whole(0, 600) * 900_000) / unit) * unit;
  const grid = Array.from({ length }, (_, at) => first + at * unit);
  const members = count ?? dice.whole(2, 6);
  const leverage = dice.pick([1, 1, 3, 20, 20]);
  const fees = randomOrderFees(diceOf(seed + 8_000_000));
  const carried = randomCarry(diceOf(seed + 8_500_000), SYMBOLS, [first, grid[length - 1]]);
  const drawn = { ...withOrderFees(randomConfig(dice, calendar.timeframe, leverage), fees), ...carried };
  const slots = isPlain || dice.chance(0.25) ? null : dice.whole(1, 5);
  const config: ResolvedConfig = slots === null ? drawn : { ...drawn, portfolio: { slots } };
  const linked = isPlain || members < 2 || dice.chance(0.6) ? [] : randomGroups(dice, members);
  const strategy = randomStrategy(dice, {
    leverage,
    slots,
    isRanked: dice.chance(0.7),
  });
  const shared = { maxConcurrentPositions: dice.pick([1, 1, 1, 2, 5]), hasChildren: dice.chance(0.6) };
  const instruments = Array.from({ length: members }, (_, index): SimulationInput => {
    const { times, tradesAllDay } = randomTimes(dice, grid);
    const { bars, fine } = randomPrices(dice, times, calendar, SYMBOLS[index]);
    const group = linked.find((each) => each.includes(index));
    const end = dice.chance(0.05) ? 0 : bars.length;
    const start = Math.min(end, dice.whole(0, 6));
    const instrument: Instrument = {
      ...INSTRUMENT,
      symbol: SYMBOLS[index],
      tickSize: 0.25,
      // What is left of the cash to a rounding error is not a size.
      qtyStep: dice.pick(strategy.isCapped ? [0.001, 0.001, 1] : [0, 0, 0.001, 1]),
      minNotional: dice.pick([0, 0, 50]),
      tradesAllDay,
    };
    return {
      bars,
      instrument,
      start,
      end,
      fine: shared.hasChildren ? fine : null,
      config,
      maxConcurrentPositions: shared.maxConcurrentPositions,
      ...boundStrategy(strategy, bars, diceOf(seed * 64 + index), {
        // Linked instruments signal at the same closes, the second one with the next rule.
        seed: seed * 64 + 32 + (group === undefined ? index : group[0]),
        turn: group === undefined ? 0 : group.indexOf(index),
      }),
      slippageAtr: bars.close.map(() => dice.number(0.2, 2)),
      control: null,
      keepOrders: true,
    };
  });
  return portfolioOf(instruments, { slots, linked });
}

/** The span of instants and the rest of an input. */
export function portfolioOf(
  instruments: readonly SimulationInput[],
  { slots, linked }: Pick<PortfolioInput, 'slots' | 'linked'>,
): PortfolioInput {
  const axis = timeAxisOf(instruments.map(({ bars }) => bars));
  const trading = instruments.flatMap(({ start, end }, at) =>
    start < end ? [{ first: axis.instants[at][start], last: axis.instants[at][end - 1] }] : [],
  );
  return {
    instruments,
    axis,
    start: trading.length === 0 ? 0 : Math.min(...trading.map(({ first }) => first)),
    end: trading.length === 0 ? 0 : Math.max(...trading.map(({ last }) => last)) + 1,
    config: instruments[0].config,
    slots,
    linked,
    control: null,
    keepOrders: true,
    keepWeights: true,
  };
}

function randomGroups(dice: Dice, members: number): number[][] {
  const order = Array.from({ length: members }, (_, index) => index).toSorted(() => (dice.chance(0.5) ? 1 : -1));
  const size = members >= 3 && dice.chance(0.2) ? 3 : 2;
  const groups = [order.slice(0, size)];
  if (members >= size + 2 && dice.chance(0.4)) groups.push(order.slice(size, size + 2));
  return groups.map((group) => group.toSorted((a, b) => a - b));
}

/** Days between the last bars of an instrument and of the run. */
export const daysBeforeEnd = ({ axis, end }: PortfolioInput, { bars, end: own }: SimulationInput): number =>
  (axis.time[end - 1] - bars.time[own - 1]) / DAY_MS;
