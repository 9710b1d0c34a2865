// The watch: which closes must be read, as words of bits, so that all bars between them can be skipped.
import { wordCount } from '../kernels/bits.ts';
import { nextBit, unionOf } from '../kernels/bits.ts';
import type { SimulationInput } from './simulation.ts';
import type { ConditionSource, EntryRule, Stateful } from '../evaluate/tradingRules.ts';

/** Closes that matter in one situation: those with a bit, or all of them. */
export interface WatchedCloses {
  /** null: every close. */
  readonly words: Uint32Array | null;
}

export interface Watch {
  /** While nothing is open. */
  readonly flat: WatchedCloses;
  /** While longs (shorts) fill every slot: their exits, and opposite entries that close or reverse. */
  readonly longFull: WatchedCloses;
  readonly shortFull: WatchedCloses;
  /** While longs (shorts) are open and slots are free: their exits and every entry. */
  readonly longOpen: WatchedCloses;
  readonly shortOpen: WatchedCloses;
  readonly hasStatefulExits: boolean;
  /**
   * Their signals are counted as they are read, after trading has ended too; those of the others are counted from their
   * bits.
   */
  readonly hasStatefulEntries: boolean;
}

export function createWatch(input: SimulationInput): Watch {
  const { entries, exits, risk } = input;
  const words = wordCount(input.bars.length);
  const isReadEveryClose = risk.stopLoss?.mode === 'price' && risk.stopLoss.update === 'bar';
  const entryPrices = entries.flatMap(({ order }) => (order.type === 'market' ? [] : [order.price]));
  const riskPrices = risk.takeProfits.flatMap(({ trigger }) => (trigger.mode === 'price' ? [trigger.price] : []));
  if (risk.stopLoss?.mode === 'price') riskPrices.push(risk.stopLoss.price);
  const hasHistory =
    entries.some(({ signal }) => signal.kind === 'stateful' && keepsHistory(signal.condition)) ||
    exits.some(({ when }) => when.kind === 'stateful' && when.condition.hasAccountHistory) ||
    [...entryPrices, ...riskPrices].some((price) => price.kind === 'stateful' && keepsHistory(price.value));

  const watch = (side: 1 | -1, watched: readonly EntryRule[]): WatchedCloses => {
    if (hasHistory || isReadEveryClose) return { words: null };
    const leaving = exits.filter((rule) => rule.appliesTo === 0 || rule.appliesTo === side);
    return union([...leaving.map((rule) => rule.when), ...watched.map((rule) => rule.signal)], words);
  };
  const stateful = (rule: EntryRule) => rule.signal.kind === 'stateful';
  const turning = (side: 1 | -1) =>
    entries.filter((rule) => stateful(rule) || (rule.side !== side && rule.conflict !== 'ignore'));
  return {
    flat: hasHistory
      ? { words: null }
      : union(
          entries.map((rule) => rule.signal),
          words,
        ),
    longFull: watch(1, turning(1)),
    shortFull: watch(-1, turning(-1)),
    longOpen: watch(1, entries),
    shortOpen: watch(-1, entries),
    hasStatefulEntries: entries.some(stateful),
    hasStatefulExits: exits.some(({ when }) => when.kind === 'stateful'),
  };
}

const keepsHistory = ({ hasAccountHistory, hasPositionHistory }: Stateful): boolean =>
  hasAccountHistory || hasPositionHistory;

function union(sources: readonly ConditionSource[], words: number): WatchedCloses {
  const columns: Uint32Array[] = [];
  for (const source of sources) {
    if (source.kind === 'bits') columns.push(source.isTrue);
    else if (source.condition.gate === null || keepsHistory(source.condition)) return { words: null };
    else columns.push(source.condition.gate);
  }
  return { words: unionOf(columns, words) };
}

/** The first row at or after `row` whose close must be read, at most `end`. */
export const nextWatched = (closes: WatchedCloses, row: number, end: number): number =>
  closes.words === null ? row : nextBit(closes.words, row, end);
