// The watch: which closes must be read, as words of bits, so that all bars between them can be skipped.
import { nextBit, unionOf, wordCount } from '../kernels/bits.ts';
import { levelSources, type BoundLevels } from './boundLevels.ts';
import type { SimulationInput } from './simulation.ts';
import type { ConditionSource, EntryRule, Stateful, ValueSource } from '../evaluate/tradingRules.ts';

/** Closes that matter in one situation: those with a bit, or all of them. */
export interface WatchedCloses {
  /** null: every close. */
  readonly words: Uint32Array | null;
}

/** The closes to read in each of five situations, found when a run first gets into one: most runs see two or three. */
export class Watch {
  /** While nothing is open. */
  readonly flat: WatchedCloses;
  readonly hasStatefulExits: boolean;
  /**
   * Whether an entry rule reads state. Its signals are counted as they are read, even after trading has ended; the
   * signals of other rules are counted from their bits.
   */
  readonly hasStatefulEntries: boolean;
  readonly #input: SimulationInput;
  /** Whether something is recorded or moved at every close. */
  readonly #readsEveryClose: boolean;
  #longFull: WatchedCloses | null = null;
  #shortFull: WatchedCloses | null = null;
  #longOpen: WatchedCloses | null = null;
  #shortOpen: WatchedCloses | null = null;

  constructor(input: SimulationInput, levels: BoundLevels) {
    const { entries, exits } = input;
    const hasHistory = recordsHistory(input, levels);
    this.#input = input;
    this.#readsEveryClose = hasHistory || levels.stop?.followsBars === true;
    this.flat = hasHistory ? EVERY_CLOSE : this.#union(entries.map((rule) => rule.signal));
    this.hasStatefulEntries = entries.some(isStateful);
    this.hasStatefulExits = exits.some(({ when }) => when.kind === 'stateful');
  }

  /** While longs fill every slot: their exits, and opposite entries that close or reverse. */
  get longFull(): WatchedCloses {
    return (this.#longFull ??= this.#whileOpen(1, this.#closingEntries(1)));
  }

  get shortFull(): WatchedCloses {
    return (this.#shortFull ??= this.#whileOpen(-1, this.#closingEntries(-1)));
  }

  /** While longs are open and slots are free: their exits and every entry. */
  get longOpen(): WatchedCloses {
    return (this.#longOpen ??= this.#whileOpen(1, this.#input.entries));
  }

  get shortOpen(): WatchedCloses {
    return (this.#shortOpen ??= this.#whileOpen(-1, this.#input.entries));
  }

  /** The entries that close or reverse the positions of a side. */
  #closingEntries(side: 1 | -1): readonly EntryRule[] {
    return this.#input.entries.filter((rule) => isStateful(rule) || (rule.side !== side && rule.conflict !== 'ignore'));
  }

  #whileOpen(side: 1 | -1, watched: readonly EntryRule[]): WatchedCloses {
    if (this.#readsEveryClose) return EVERY_CLOSE;
    const leaving = this.#input.exits.filter((rule) => rule.appliesTo === 0 || rule.appliesTo === side);
    return this.#union([...leaving.map((rule) => rule.when), ...watched.map((rule) => rule.signal)]);
  }

  #union(sources: readonly ConditionSource[]): WatchedCloses {
    const columns: Uint32Array[] = [];
    for (const source of sources) {
      if (source.kind === 'bits') columns.push(source.isTrue);
      else if (source.condition.gate === null || keepsHistory(source.condition)) return EVERY_CLOSE;
      else columns.push(source.condition.gate);
    }
    return { words: unionOf(columns, wordCount(this.#input.bars.length)) };
  }
}

const EVERY_CLOSE: WatchedCloses = { words: null };

const isStateful = ({ signal }: EntryRule): boolean => signal.kind === 'stateful';

/** Whether any expression keeps history of state with the run instead of a position. */
function recordsHistory({ entries, exits }: SimulationInput, levels: BoundLevels): boolean {
  for (const { signal, order, rank } of entries) {
    if (signal.kind === 'stateful' && keepsHistory(signal.condition)) return true;
    if (order.type !== 'market' && isRecorded(order.price)) return true;
    if (rank !== undefined && isRecorded(rank)) return true;
  }
  for (const { when } of exits) if (when.kind === 'stateful' && when.condition.hasAccountHistory) return true;
  return levelSources(levels).some(isRecorded);
}

const isRecorded = (price: ValueSource): boolean => price.kind === 'stateful' && keepsHistory(price.value);

const keepsHistory = ({ hasAccountHistory, hasPositionHistory }: Stateful): boolean =>
  hasAccountHistory || hasPositionHistory;

/** The first row at or after `row` whose close must be read, at most `end`. */
export const nextWatched = (closes: WatchedCloses, row: number, end: number): number =>
  closes.words === null ? row : nextBit(closes.words, row, end);
