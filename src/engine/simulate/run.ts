// A run: everything one simulation holds while it goes from bar to bar.
import type { Bars } from '../bars/bars.ts';
import { TIMEFRAME_MS } from '../bars/bars.ts';
import { wordCount } from '../kernels/bits.ts';
import { kernelsUnder, type InPlaceKernels } from '../kernels/simd/inPlace.ts';
import type { AmbiguityFallback } from '../config.ts';
import { priceBlocksOf, type PriceBlocks } from '../bars/priceBlocks.ts';
import { createFeeSchedule, createSlippage, type FeeSchedule, type SlippageModel } from './costs.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { Marks } from './marks.ts';
import type { Decision, Instant, ReusedInstant } from './instant.ts';
import {
  DueExits,
  NO_LEVELS,
  readsAtSignal,
  type ClosingFill,
  type EntryFill,
  type EntryOrder,
  type ExitFill,
} from './orders.ts';
import type { Position } from './position.ts';
import type { OrderRecord, RejectionReason, ResultReads, Scratch, SimulationInput } from './simulation.ts';
import type { EntryRule, ExitRule, Stateful, StateMemory, ValueSource } from '../evaluate/tradingRules.ts';
import { StateReader } from './state.ts';
import { StreamedMarks } from './streamedMarks.ts';
import { TradeBudget } from './tradeBudget.ts';
import { TradeLog } from './tradeLog.ts';
import type { SizingContext } from './sizing.ts';
import { roundTripsOf, type RoundTrips } from './roundTrips.ts';
import { Watch } from './watch.ts';

/** Bars counted once each, whatever the number of positions in them: the last row counted, and how many. */
interface BarCount {
  lastRow: number;
  count: number;
}

/** An expression over state whose history is recorded at every evaluated close, and its memory. */
interface RecordedHistory {
  readonly node: Stateful;
  readonly memory: StateMemory;
  /** What reads position state sees it as entries do; null in exits, where that history is kept with each position. */
  readonly view: 'entries' | null;
}

export interface Run {
  readonly input: SimulationInput;
  readonly bars: Bars;
  /** One past the last evaluated row. */
  readonly end: number;
  /** The children to drill into; null when there are none or the resolution does not ask for them. */
  readonly children: Bars | null;
  /** What decides where nothing finer does. */
  readonly policy: AmbiguityFallback;
  readonly barMs: number;
  readonly entries: readonly EntryRule[];
  /** By priority, then listing, with their index in `input.exits`. */
  readonly exits: readonly { readonly rule: ExitRule; readonly index: number }[];
  readonly watch: Watch;
  /** Whether the risk rules read anything at a signal. */
  readonly readsLevels: boolean;
  /** How fills on base bars are decided: of themselves, because the open had passed the level, or by the policy. */
  readonly decisions: { readonly direct: Decision; readonly gap: Decision; readonly policy: Decision };
  /** The instants of a bar, written again for each. */
  readonly instants: Readonly<Record<'open' | 'gap' | 'close', ReusedInstant>>;
  /** The arguments of the next fill, written again for each: a new object per fill costs more than the fill itself. */
  readonly entryFill: EntryFill;
  readonly exitFill: ExitFill;
  readonly closing: ClosingFill;
  readonly sizing: SizingContext;

  /** Oldest first. */
  readonly positions: Position[];
  /** Positions closed on the row of the last full exit; in `blanks`, those of earlier rows, to be used again. */
  readonly closed: Position[];
  readonly blanks: Position[];
  readonly dueExits: DueExits;
  dueEntry: EntryOrder | null;
  /** The market entry that is due, or was last. */
  readonly marketEntry: EntryOrder;
  /** Pending limit or stop orders, one per entry rule. */
  readonly pending: (EntryOrder | null)[];
  pendingCount: number;

  readonly ledger: Ledger;
  readonly fees: FeeSchedule;
  readonly slippage: SlippageModel;
  slippageCost: number;
  fundingPaid: number;

  readonly marks: Marks | StreamedMarks;
  readonly equity: Float64Array;
  readonly inPosition: Uint32Array;
  readonly trades: TradeLog;
  readonly reads: ResultReads;
  /** Whether any rule reads position or account state. */
  readonly readsState: boolean;
  /** Whether positions have levels of their own: stops, targets or a trailing stop. */
  readonly hasLevels: boolean;
  /** To pass over bars in which nothing is touched; null: bar by bar, which is quicker once. */
  readonly blocks: PriceBlocks | null;
  /** The kernels that pass over bars; null: the prices are not where they read. */
  readonly kernels: InPlaceKernels | null;
  /** null: the general loop plays everything. */
  readonly roundTrips: RoundTrips | null;
  readonly orders: OrderRecord[] | null;
  nextOrderId: number;
  nextPositionId: number;
  /** The row on which the number of positions last rose from 0. */
  openSince: number;
  /** The row of the last full exit of any position; -Infinity before the first. */
  lastFullExitRow: number;
  /** Equity was used up: no further trading. */
  isOver: boolean;

  readonly counts: {
    /** Signals of stateful rules, counted as they are read; those of bit rules are popcounts in the end. */
    readonly statefulSignals: number[];
    readonly fillsByRule: number[];
    blockedInPosition: number;
    blockedCooldown: number;
    blockedMaxPositions: number;
    ordersExpired: number;
    ordersReplaced: number;
    readonly ordersRejected: Record<RejectionReason, number>;
  };
  /** Bars whose outcome depended on the path, and what became of them. */
  readonly ambiguous: Readonly<Record<'undecided' | 'drilled' | 'fallback' | 'childrenMissing', BarCount>>;

  readonly state: StateReader;
  readonly history: readonly RecordedHistory[];
  /** The memory of each stateful expression that is not a position's. */
  readonly memories: ReadonlyMap<Stateful, StateMemory>;
}

const EVERYTHING: ResultReads = { marks: null, extremes: true, trades: true, blocked: true };

const countBars = (): BarCount => ({ lastRow: -1, count: 0 });

/** Counts `row` unless it was the last one counted. */
export function countBar(counter: BarCount, row: number): void {
  if (counter.lastRow === row) return;
  counter.lastRow = row;
  counter.count++;
}

/**
 * @param policy decides the bars that finer bars do not
 * @param budget how many trades may be made; shared by the runs whose trades are kept together
 */
export function createRun(
  input: SimulationInput,
  policy: AmbiguityFallback,
  budget = new TradeBudget(input.bars.length, input.control),
): Run {
  const { bars, config, risk, start, end } = input;
  // A warm-up longer than the data leaves nothing to evaluate.
  const rows = Math.max(0, end - start);
  const isDrilling = config.ambiguityResolution === 'multi_resolution';
  const children = isDrilling && input.fine !== null && !input.fine.isResampled ? input.fine : null;
  const history = recordedHistory(input);
  const reads = history.length > 0 ? EVERYTHING : (input.reads ?? EVERYTHING);
  // Rules over state read earlier marks, so that all of them are kept.
  const streamed = history.length > 0 ? null : (input.scratch?.streamed ?? null);
  const equity = equityColumn(input.scratch, streamed === null ? rows : 0);
  const direct: Decision = { method: 'direct', resolution: bars.timeframe, policy: null, fineTime: null };
  const gap: Decision = { method: 'gap', resolution: bars.timeframe, policy: null, fineTime: null };
  const exits = input.exits.map((rule, index) => ({ rule, index })).sort((a, b) => a.rule.priority - b.rule.priority);
  const run: Run = {
    input,
    bars,
    end,
    children,
    policy,
    barMs: TIMEFRAME_MS[bars.timeframe],
    entries: input.entries,
    exits,
    watch: new Watch(input),
    readsLevels: readsAtSignal(input.risk),
    decisions: {
      direct,
      gap,
      policy: { method: 'fallback', resolution: bars.timeframe, policy, fineTime: null },
    },
    instants: {
      open: { row: start, isAtClose: false, from: NaN, decision: direct },
      gap: { row: start, isAtClose: false, from: NaN, decision: gap },
      close: { row: start, isAtClose: true, from: NaN, decision: direct },
    },
    entryFill: { rawPrice: NaN, price: NaN, stopPrice: NaN, quantity: NaN },
    exitFill: { quantity: NaN, price: NaN, isSlipped: false, role: 'taker', reason: 'signal', rule: null, order: null },
    closing: { price: NaN, quantity: NaN, entryFee: NaN, exitFee: NaN, slippage: NaN, pnl: NaN },
    sizing: {
      price: NaN,
      stopPrice: NaN,
      feeRate: NaN,
      stopFeeRate: NaN,
      equity: NaN,
      freeCash: NaN,
      leverage: config.leverage,
      signalRow: start,
      bars,
      instrument: input.instrument,
    },
    positions: [],
    closed: [],
    blanks: [],
    dueExits: new DueExits(),
    dueEntry: null,
    marketEntry: { id: 0, rule: 0, signalRow: 0, price: NaN, lastRow: 0, levels: NO_LEVELS },
    pending: input.entries.map(() => null),
    pendingCount: 0,
    ledger: createLedger(config.initialBalance),
    fees: createFeeSchedule(config.execution.feeModel),
    slippage: createSlippage(config.execution.slippage, bars, input.instrument, input.slippageAtr),
    slippageCost: 0,
    fundingPaid: 0,
    marks:
      streamed === null
        ? new Marks(equity, start, bars.close, reads.marks)
        : new StreamedMarks(start, bars.close, streamed, config.initialBalance),
    equity,
    inPosition: input.scratch?.inPosition.subarray(0, wordCount(rows)).fill(0) ?? new Uint32Array(wordCount(rows)),
    trades: (input.scratch?.trades ?? new TradeLog()).clear(reads.trades, budget),
    reads,
    readsState: history.length > 0,
    hasLevels:
      risk.stopLoss !== null || risk.takeProfits.length > 0 || risk.trailingStop !== null || risk.breakeven !== null,
    blocks: input.reads === undefined ? null : priceBlocksOf(bars),
    kernels: kernelsUnder(bars.high, bars.low),
    roundTrips: roundTripsOf(input, exits, children),
    orders: input.keepOrders ? [] : null,
    nextOrderId: 1,
    nextPositionId: 1,
    openSince: start,
    lastFullExitRow: -Infinity,
    isOver: false,
    counts: {
      statefulSignals: input.entries.map(() => 0),
      fillsByRule: input.entries.map(() => 0),
      blockedInPosition: 0,
      blockedCooldown: 0,
      blockedMaxPositions: 0,
      ordersExpired: 0,
      ordersReplaced: 0,
      ordersRejected: { INSUFFICIENT_BALANCE: 0, MIN_NOTIONAL: 0, ZERO_QTY: 0, LEVEL_MISSING: 0 },
    },
    ambiguous: {
      undecided: countBars(),
      drilled: countBars(),
      fallback: countBars(),
      childrenMissing: countBars(),
    },
    state: new StateReader(),
    history,
    memories: new Map(history.map(({ node, memory }) => [node, memory])),
  };
  run.state.attach(run);
  return run;
}

const equityColumn = (scratch: Scratch | undefined, rows: number): Float64Array =>
  scratch === undefined || scratch.equity.length < rows ? new Float64Array(rows) : scratch.equity.subarray(0, rows);

/**
 * Every stateful expression with the memory that is not a position's: entry signals, order prices, risk prices read at
 * a signal, exits.
 */
function recordedHistory({ entries, exits, risk }: SimulationInput): RecordedHistory[] {
  const recorded: RecordedHistory[] = [];
  const add = (node: Stateful, view: RecordedHistory['view']) =>
    void recorded.push({ node, memory: node.newMemory(null), view });
  const addPrice = (price: ValueSource) => {
    if (price.kind === 'stateful') add(price.value, 'entries');
  };
  for (const { signal, order } of entries) {
    if (signal.kind === 'stateful') add(signal.condition, 'entries');
    if (order.type !== 'market') addPrice(order.price);
  }
  for (const { when } of exits) if (when.kind === 'stateful') add(when.condition, null);
  if (risk.stopLoss?.mode === 'price') addPrice(risk.stopLoss.price);
  for (const { trigger } of risk.takeProfits) if (trigger.mode === 'price') addPrice(trigger.price);
  return recorded;
}

/** Fills at the open of `row`: market orders, and pending orders that it has passed. */
export const atOpen = (run: Run, row: number): Instant => at(run.instants.open, row, run.bars.open[row]);

/** Fills at the open of `row` of levels that it has passed. */
export const atGap = (run: Run, row: number): Instant => at(run.instants.gap, row, run.bars.open[row]);

/** Fills at the close of `row`. */
export const atClose = (run: Run, row: number): Instant => at(run.instants.close, row, NaN);

function at(instant: ReusedInstant, row: number, from: number): Instant {
  instant.row = row;
  instant.from = from;
  return instant;
}
