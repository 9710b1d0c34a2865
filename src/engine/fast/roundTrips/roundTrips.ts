// Round trips: trades that begin with an entry signal and end with an exit signal or at a stop. All orders of such a
// strategy fill at the next open, and its levels are fixed or trail from the fill on. This file recognizes such a
// strategy; playRoundTrips.ts plays it.
import type { Bars } from '../../bars/bars.ts';
import { unionOf, wordCount } from '../../kernels/bits.ts';
import { exitSizeOf } from '../../definitions/sizing/exitSizes.ts';
import type { ConditionSource, ExitRule } from '../../evaluate/tradingRules.ts';
import { bindLevels, readsAtSignal } from '../../simulate/boundLevels.ts';
import { hasCarry } from '../../simulate/carry.ts';
import { blankPosition } from '../../simulate/position.ts';
import type { PlayTrades } from '../../simulate/run.ts';
import type { SimulationInput } from '../../simulate/simulation.ts';
import { playRoundTrips, type RoundTrips } from './playRoundTrips.ts';

type Bits = Extract<ConditionSource, { kind: 'bits' }>;

type SortedExits = readonly { readonly rule: ExitRule; readonly index: number }[];

/** Plays a strategy that trades in round trips; null: the general loop must play all of it. */
export function roundTrips(input: SimulationInput, exits: SortedExits, children: Bars | null): PlayTrades | null {
  const trips = roundTripsOf(input, exits, children);
  return trips && ((run, from, until, limit) => playRoundTrips(run, trips, from, until, limit));
}

/**
 * Returns null when the general loop must play all of this strategy.
 * @param children the bars to drill into, which happens in every bar that touches a trailing stop; null: none
 */
function roundTripsOf(input: SimulationInput, exits: SortedExits, children: Bars | null): RoundTrips | null {
  const { entries, risk, config, bars, keepOrders, maxConcurrentPositions, reads } = input;
  const [entry] = entries;
  if (entries.length !== 1 || !isBits(entry.signal) || entry.order.type !== 'market') return null;
  if (readsAtSignal(bindLevels(risk)) || risk.breakeven !== null) return null;
  const isTrailing = risk.trailingStop !== null;
  if (isTrailing && (children !== null || risk.trailingStop.activateAfterPercent !== null)) return null;
  if (risk.timeStop !== null || hasCarry(config)) return null;
  if (config.execution.orderTiming !== 'next_open' || config.execution.feeModel.window !== undefined) return null;
  if (maxConcurrentPositions !== 1 || keepOrders || reads !== undefined) return null;
  const words: { words: Uint32Array; index: number }[] = [];
  for (const { rule, index } of exits) {
    if (rule.appliesTo !== 0 && rule.appliesTo !== entry.side) continue;
    if (!isBits(rule.when) || !closesAll(rule)) return null;
    words.push({ words: rule.when.isTrue, index });
  }
  const union = unionOf(
    words.map((one) => one.words),
    wordCount(bars.length),
  );
  const hasLevels = isTrailing || risk.stopLoss !== null || risk.takeProfits.length > 0;
  return {
    entry,
    position: blankPosition(),
    hasLevels,
    isTrailing,
    entryWords: entry.signal.isTrue,
    exits: words,
    exitWords: union,
  };
}

const isBits = (source: ConditionSource): source is Bits => source.kind === 'bits';

const closesAll = ({ action }: ExitRule): boolean => exitSizeOf(action.mode).closesAll(action.value);
