// A run: everything one simulation holds while it goes from bar to bar.
import type { Bars } from '../bars/bars.ts';
import type { AmbiguityFallback } from '../config.ts';
import type { PriceBlocks } from '../bars/priceBlocks.ts';
import type { BoundLevels } from './boundLevels.ts';
import type { Carry } from './carry.ts';
import type { FeeSchedule } from './costs.ts';
import type { Ledger } from './ledger.ts';
import type { MarkedRows, Marks } from './marks.ts';
import type { Decision, Instant, ReusedInstant } from './instant.ts';
import type { ClosingFill, DueExits, EntryFill, EntryOrder, ExitFill } from './orders.ts';
import type { Position } from './position.ts';
import type { OrderRecord, RejectionReason, ResultReads, SimulationInput } from './simulation.ts';
import type { SlippedPrice } from '../definitions/slippage/slippageKind.ts';
import type { ExitSize } from '../definitions/sizing/exitSize.ts';
import type { EntryRule, ExitRule, Stateful, StateMemory } from '../evaluate/tradingRules.ts';
import type { StateReader } from './state.ts';
import type { RowScans } from './rowScan.ts';
import type { StreamedMarks } from './streamedMarks.ts';
import type { TradeLog } from './tradeLog.ts';
import type { BoundSize, SizingContext } from './sizing.ts';
import type { Watch } from './watch.ts';

/** Bars counted once each, whatever the number of positions in them: the last row counted, and how many. */
export interface BarCount {
  lastRow: number;
  count: number;
}

/** An expression over state whose history is recorded at every evaluated close, and its memory. */
export interface RecordedHistory {
  readonly node: Stateful;
  readonly memory: StateMemory;
  /**
   * `entries`: position state is recorded as entries see it. null in exits, where that history is kept with each
   * position.
   */
  readonly view: 'entries' | null;
}

/** What the runs of a portfolio share: one account. */
export interface Books {
  readonly ledger: Ledger;
  readonly fees: FeeSchedule;
  readonly trades: TradeLog;
  /** Equity at the instants of the axis from the first on. */
  readonly equity: Float64Array;
}

/**
 * Plays trades one after the other until one ends at `until` or later, or at the last close. Nothing is open at `from`,
 * and all rows of a trade lie before `limit`. Returns the row at which the general loop goes on, with nothing open or
 * due; `from` when the next trade is not one that it can play.
 */
export type PlayTrades = (run: Run, from: number, until: number, limit: number) => number;

export interface Run {
  readonly input: SimulationInput;
  readonly bars: Bars;
  /** One past the last evaluated row. */
  readonly end: number;
  /** The children to drill into; null when there are none or the resolution does not ask for them. */
  readonly children: Bars | null;
  /** Bits of the bars that their children contradict, which have none for the run; null: no bar. */
  readonly contradicted: Uint32Array | null;
  /** Decides the bars that finer bars leave undecided. */
  readonly policy: AmbiguityFallback;
  /** When a bar that opens at a time closes. */
  readonly closeOf: (open: number) => number;
  readonly entries: readonly EntryRule[];
  /** How each entry is sized. */
  readonly sizes: readonly BoundSize[];
  /** By priority, then listing, with their index in `input.exits`. */
  readonly exits: readonly { readonly rule: ExitRule; readonly index: number; readonly size: ExitSize }[];
  readonly watch: Watch;
  /** The levels of the risk rules. */
  readonly levels: BoundLevels;
  /** Whether any of them is read at a signal. */
  readonly readsLevels: boolean;
  /** How fills on base bars are decided: directly, because the open has passed the level, or by the policy. */
  readonly decisions: { readonly direct: Decision; readonly gap: Decision; readonly policy: Decision };
  /** The instants of the current bar, overwritten for the next. */
  readonly instants: Readonly<Record<'open' | 'gap' | 'close', ReusedInstant>>;
  /** The arguments of a fill, overwritten for the next: a new object per fill costs more than the fill itself. */
  readonly entryFill: EntryFill;
  readonly exitFill: ExitFill;
  readonly closing: ClosingFill;
  readonly sizing: SizingContext;

  /** Oldest first. */
  readonly positions: Position[];
  /** Positions closed on the row of the last full exit; `blanks` has those of earlier rows, to be reused. */
  readonly closed: Position[];
  readonly blanks: Position[];
  readonly dueExits: DueExits;
  dueEntry: EntryOrder | null;
  /** The market entry that is due, or the last one that was. */
  readonly marketEntry: EntryOrder;
  /** Pending limit or stop orders, one per entry rule. */
  readonly pending: (EntryOrder | null)[];
  pendingCount: number;

  readonly ledger: Ledger;
  readonly fees: FeeSchedule;
  /** Slippage, bound to the bars of the run. */
  readonly slippedPrice: SlippedPrice;
  slippageCost: number;
  /** What holding costs or earns; null: nothing. */
  readonly carry: Carry | null;
  fundingPaid: number;
  borrowPaid: number;
  dividendsReceived: number;

  readonly marks: Marks | StreamedMarks;
  readonly equity: Float64Array;
  readonly marked: MarkedRows;
  readonly inPosition: Uint32Array;
  readonly trades: TradeLog;
  readonly reads: ResultReads;
  /** Whether any rule reads position or account state. */
  readonly readsState: boolean;
  /** Whether positions have levels of their own: stops, targets or a trailing stop. */
  readonly hasLevels: boolean;
  /** The extremes of blocks of bars, to skip blocks in which nothing is touched; null: bars are read one by one. */
  readonly blocks: PriceBlocks | null;
  readonly scans: RowScans;
  /** null: the general loop plays everything. */
  readonly playTrades: PlayTrades | null;
  readonly orders: OrderRecord[] | null;
  /** The first row inside which a position was open since the number of positions last rose from 0. */
  openSince: number;
  /** The row of the last full exit of any position; -Infinity before the first. */
  lastFullExitRow: number;

  readonly counts: {
    /**
     * Signals of stateful rules, counted as they are read; those of other rules are counted from their bits at the end.
     */
    readonly statefulSignals: number[];
    readonly fillsByRule: number[];
    blockedInPosition: number;
    blockedCooldown: number;
    blockedMaxPositions: number;
    /** Signals and orders that lost to the slots of the account. */
    lostSlots: number;
    ordersExpired: number;
    ordersReplaced: number;
    readonly ordersRejected: Record<RejectionReason, number>;
  };
  /** Bars whose outcome depended on the path, and what became of them. */
  readonly ambiguous: Readonly<Record<'undecided' | 'drilled' | 'fallback' | 'childrenMissing', BarCount>>;

  readonly state: StateReader;
  readonly history: readonly RecordedHistory[];
  /** For each stateful expression, the memory that belongs to the run instead of a position. */
  readonly memories: ReadonlyMap<Stateful, StateMemory>;
}

/** Counts `row` unless it was the last one counted. */
export function countBar(counter: BarCount, row: number): void {
  if (counter.lastRow === row) return;
  counter.lastRow = row;
  counter.count++;
}

/** The instant of market orders that fill at the open of `row`, and of pending orders that it has passed. */
export const atOpen = (run: Run, row: number): Instant => at(run.instants.open, row, run.bars.open[row]);

/** The instant of levels that the open of `row` has passed. */
export const atGap = (run: Run, row: number): Instant => at(run.instants.gap, row, run.bars.open[row]);

/** The instant of fills at the close of `row`. */
export const atClose = (run: Run, row: number): Instant => at(run.instants.close, row, NaN);

function at(instant: ReusedInstant, row: number, from: number): Instant {
  instant.row = row;
  instant.from = from;
  return instant;
}
