// One seed, one backtest: a market, a strategy and a config over everything that the fill rules know, with the features
// it contains.
import type { Market } from '../../../src/engine/bars/bars.ts';
import {
  AMBIGUITY_FALLBACKS,
  AMBIGUITY_RESOLUTIONS,
  type BacktestConfig,
  type Slippage,
} from '../../../src/engine/config.ts';
import type { Settings, StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { coarseDiceOf, diceOf, type Dice } from '../dice.ts';
import type { Note } from './conditions.ts';
import { marketOf, randomParts, withWrongChildren, type Children, type MarketParts } from './markets.ts';
import { drawStrategy } from './strategies.ts';

export interface Scenario {
  readonly market: Market;
  readonly parts: MarketParts;
  readonly ast: StrategyAst;
  readonly settings: Settings;
  readonly config: BacktestConfig;
  readonly features: Set<string>;
}

export interface ScenarioOptions {
  /** Default: drawn. */
  readonly children?: Children;
  /** How often a quarter hour opens away from the close before it; default: drawn. */
  readonly innerGaps?: number;
  /** Draws whole halves, so that prices and levels are often equal; default: false. */
  readonly isCoarse?: boolean;
}

export function scenarioOf(seed: number, options: ScenarioOptions = {}): Scenario {
  const dice = options.isCoarse ? coarseDiceOf(seed) : diceOf(seed);
  const features = new Set<string>();
  const note: Note = (feature) => features.add(feature);
  const children =
    options.children ?? dice.pick<Children>(['whole', 'whole', 'whole', 'none', 'missing bars', 'missing children']);
  const parts = partsOf(dice, seed, children, options, note);
  const market = marketOf(parts);
  if (market.instrument.qtyStep > 0) note(`quantity step ${market.instrument.qtyStep}`);
  else note('no quantity step');
  const leverage = dice.pick([1, 1, 1, 3, 20, 50]);
  const { ast, maxConcurrentPositions } = drawStrategy(dice, leverage, note);
  const config = drawConfig(dice, market, children, leverage, note);
  return {
    market,
    parts,
    ast,
    settings: { maxConcurrentPositions, warmupPeriod: dice.pick([0, 0, 8]) },
    config,
    features,
  };
}

/** How many of the markets with children have some that contradict their bars. */
const WRONG_CHILDREN = 0.2;

function partsOf(dice: Dice, seed: number, children: Children, options: ScenarioOptions, note: Note): MarketParts {
  const parts = randomParts(dice, children, options.innerGaps);
  // Of their own dice, so that the other draws of a seed stay what they are.
  const wrongDice = diceOf(seed + WRONG_SEEDS);
  if (options.children !== undefined || children === 'none' || !wrongDice.chance(WRONG_CHILDREN)) return parts;
  note('children contradict');
  return withWrongChildren(parts, wrongDice);
}
const WRONG_SEEDS = 1_000_000_007;

function drawConfig(dice: Dice, market: Market, children: Children, leverage: number, note: Note): BacktestConfig {
  const ambiguityResolution = dice.chance(0.5) ? 'multi_resolution' : dice.pick(AMBIGUITY_RESOLUTIONS);
  const ambiguityFallback = dice.pick(AMBIGUITY_FALLBACKS);
  if (ambiguityResolution === 'multi_resolution') {
    note(children === 'none' ? 'nothing to drill into' : 'drilling');
    if (children.startsWith('missing')) note('children missing');
    note(`falls back on ${ambiguityFallback}`);
  } else note(`policy ${ambiguityResolution}`);
  if (leverage > 1) note('leverage');
  const fundingRate = dice.pick([0, 0, 0.0005, -0.0005]);
  if (fundingRate !== 0) note('funding');
  const { time, length } = market.base;
  const hasRange = dice.chance(0.15);
  if (hasRange) note('range');
  return {
    timeframe: '1h',
    signalInstrument: { symbol: 'TEST' },
    initialBalance: 10_000,
    leverage,
    // Never 0: a liquidation would leave a balance of nothing but rounding.
    maintenanceMarginRate: leverage === 50 ? 0.01 : dice.pick([0.001, 0.005, 0.02]),
    fundingRate,
    ambiguityResolution,
    ambiguityFallback,
    ...(hasRange && { range: { start: time[dice.whole(5, 25)], end: time[length - dice.whole(1, 10)] } }),
    execution: drawExecution(dice, note),
  };
}

function drawExecution(dice: Dice, note: Note): NonNullable<BacktestConfig['execution']> {
  const orderTiming = dice.pick(['next_open', 'next_open', 'bar_close'] as const);
  if (orderTiming === 'bar_close') note('bar_close');
  const role = () => dice.pick(['maker', 'taker'] as const);
  const tiers = [
    { minCumulativeNotional: 0, makerRate: dice.number(-0.0005, 0.001), takerRate: dice.number(0, 0.003) },
    { minCumulativeNotional: 20_000, makerRate: 0.0002, takerRate: 0.0005 },
    { minCumulativeNotional: 60_000, makerRate: 0, takerRate: 0.0001 },
  ];
  const hasWindow = dice.chance(0.3);
  const isFree = dice.chance(0.3);
  note(isFree ? 'no fees' : hasWindow ? 'fee tiers with a window' : 'fee tiers');
  return {
    orderTiming,
    entryOrderRole: role(),
    exitOrderRole: role(),
    riskOrderRole: role(),
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: isFree ? [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }] : tiers,
      ...(hasWindow && !isFree && { window: { kind: 'rolling', days: dice.number(0.05, 2) } }),
    },
    slippage: drawSlippage(dice, note),
  };
}

function drawSlippage(dice: Dice, note: Note): Slippage {
  const slippage = dice.pick<Slippage>([
    { kind: 'none' },
    { kind: 'none' },
    { kind: 'fixed', unit: 'bps', value: dice.pick([5, 20, 100]) },
    { kind: 'fixed', unit: 'ticks', value: dice.whole(1, 3) },
    { kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: dice.number(0.02, 0.3) },
    {
      kind: 'volatility_scaled',
      reference: 'atr_pct',
      multiplier: dice.number(0.02, 0.3),
      atrPeriod: dice.whole(2, 20),
    },
  ]);
  if (slippage.kind === 'fixed') note(`slippage in ${slippage.unit}`);
  else note(slippage.kind === 'none' ? 'no slippage' : `slippage by ${slippage.reference}`);
  return slippage;
}
