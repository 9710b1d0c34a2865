// Round trips: trades that begin with an entry signal and end with an exit signal or at a stop. All orders of such a
// strategy fill at the next open, and its levels are fixed or trail from the fill on. This file recognizes such a
// strategy; playRoundTrips.ts plays it.
import type { Bars } from '../bars/bars.ts';
import { unionOf, wordCount } from '../kernels/bits.ts';
import type { ConditionSource, EntryRule, ExitRule } from '../evaluate/tradingRules.ts';
import { readsAtSignal } from './orders.ts';
import { blankPosition, type Position } from './position.ts';
import type { SimulationInput } from './simulation.ts';

type Bits = Extract<ConditionSource, { kind: 'bits' }>;

/** The rules of a strategy that trades in round trips. */
export interface RoundTrips {
  readonly entry: EntryRule;
  /** Reused for each trip. */
  readonly position: Position;
  /** Whether it has a stop or targets. */
  readonly hasLevels: boolean;
  readonly isTrailing: boolean;
  readonly entryWords: Uint32Array;
  /** By priority, then listing; each closes the whole position. */
  readonly exits: readonly { readonly words: Uint32Array; readonly index: number }[];
  /** The closes at which any of them is true. */
  readonly exitWords: Uint32Array;
}

type SortedExits = readonly { readonly rule: ExitRule; readonly index: number }[];

/**
 * Returns null when the general loop must play all of this strategy.
 * @param children the bars to drill into, which happens in every bar that touches a trailing stop; null: none
 */
export function roundTripsOf(input: SimulationInput, exits: SortedExits, children: Bars | null): RoundTrips | null {
  const { entries, risk, config, bars, keepOrders, maxConcurrentPositions, reads } = input;
  const [entry] = entries;
  if (entries.length !== 1 || !isBits(entry.signal) || entry.order.type !== 'market') return null;
  if (readsAtSignal(risk) || risk.breakeven !== null) return null;
  const isTrailing = risk.trailingStop !== null;
  if (isTrailing && (children !== null || risk.trailingStop.activateAfterPercent !== null)) return null;
  if (risk.timeStop !== null || config.fundingRate !== 0) return null;
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

const closesAll = ({ action }: ExitRule): boolean => action.mode === 'percent_position' && action.value >= 100;
