// A new run: everything that one simulation holds, as it is before the first bar.
import { closesOf } from '../bars/timeframes.ts';
import { contradictionsOf } from '../bars/contradictions.ts';
import { priceBlocksOf } from '../bars/priceBlocks.ts';
import type { AmbiguityFallback } from '../config.ts';
import { signalExit } from '../definitions/exitReasons/signalExit.ts';
import { slippageKindOf } from '../definitions/slippage/slippageKinds.ts';
import { exitSizeOf } from '../definitions/sizing/exitSizes.ts';
import type { EntryRule, RiskRules, Stateful, ValueSource } from '../evaluate/tradingRules.ts';
import { Accelerator } from '../kernels/accelerator.ts';
import { wordCount } from '../kernels/bits.ts';
import { bindLevels, levelSources, readsAtSignal, type BoundLevels } from './boundLevels.ts';
import { carryOf } from './carry.ts';
import { createFeeSchedule } from './costs.ts';
import type { Decision } from './instant.ts';
import { createLedger } from './ledger.ts';
import { Marks, type MarkedRows } from './marks.ts';
import { DueExits, NO_LEVELS, type ExitFill } from './orders.ts';
import { rowScans } from './rowScan.ts';
import type { BarCount, Books, PlayTrades, RecordedHistory, Run } from './run.ts';
import type { ResultReads, Scratch, SimulationInput } from './simulation.ts';
import { bindSize, newSizingContext } from './sizing.ts';
import { StateReader } from './state.ts';
import { StreamedMarks } from './streamedMarks.ts';
import { TradeBudget } from './tradeBudget.ts';
import { TradeLog } from './tradeLog.ts';
import { Watch } from './watch.ts';

const EVERYTHING: ResultReads = { marks: null, extremes: true, trades: true, blocked: true };

/** What plays the trades of some strategies in place of the general loop. */
export const TRADES = new Accelerator<
  (input: SimulationInput, exits: Run['exits'], children: Run['children']) => PlayTrades | null
>();

/**
 * @param policy decides the bars that finer bars leave undecided
 * @param budget how many trades may be made; shared by the runs whose trades are kept together
 * @param shared the account of a portfolio, and where the rows of this instrument lie on its axis; null: a single run
 */
export function createRun(
  input: SimulationInput,
  policy: AmbiguityFallback,
  budget = new TradeBudget(input.bars.length, input.control),
  shared: { readonly books: Books; readonly marked: MarkedRows } | null = null,
): Run {
  const levels = bindLevels(input.risk);
  const history = recordedHistory(input, levels);
  const records =
    shared === null ? newRecords(input, history.length > 0, budget) : sharedRecords(input, shared.books, shared.marked);
  const run = newRun(input, levels, policy, history, records, shared?.books ?? null);
  run.state.attach(run);
  return run;
}

/** Where a run records what its result is made from. */
type Records = Pick<Run, 'reads' | 'marks' | 'equity' | 'marked' | 'inPosition' | 'trades'>;

/** @param readsState whether rules read state: they may read earlier equity, so all of it is kept */
function newRecords(input: SimulationInput, readsState: boolean, budget: TradeBudget): Records {
  const { bars, config, scratch, start, end } = input;
  const reads = readsState ? EVERYTHING : (input.reads ?? EVERYTHING);
  const streamed = readsState ? null : (scratch?.streamed ?? null);
  // A warm-up longer than the data leaves nothing to evaluate.
  const rows = Math.max(0, end - start);
  const equity = equityColumn(scratch, streamed === null ? rows : 0);
  return {
    reads,
    marks:
      streamed === null
        ? new Marks(equity, start, bars.close, reads.marks)
        : new StreamedMarks(start, bars.close, streamed, config.initialBalance),
    equity,
    marked: { time: bars.time, start, instants: null },
    inPosition: inPositionBits(scratch, rows),
    trades: (scratch?.trades ?? new TradeLog()).clear(reads.trades, budget),
  };
}

function sharedRecords({ bars, start, end }: SimulationInput, { equity, trades }: Books, marked: MarkedRows): Records {
  return {
    reads: EVERYTHING,
    marks: new Marks(equity, marked.start, bars.close, null),
    equity,
    marked,
    inPosition: new Uint32Array(wordCount(Math.max(0, end - start))),
    trades,
  };
}

/** One literal makes every run, so that all runs have one hidden class: the loop is compiled for that one. */
function newRun(
  input: SimulationInput,
  levels: BoundLevels,
  policy: AmbiguityFallback,
  history: readonly RecordedHistory[],
  { reads, marks, equity, marked, inPosition, trades }: Records,
  books: Books | null,
): Run {
  const { bars, config, start } = input;
  const { slippage } = config.execution;
  const { children, contradicted } = barsToDrill(input);
  const exits = input.exits
    .map((rule, index) => ({ rule, index, size: exitSizeOf(rule.action.mode) }))
    .sort((a, b) => a.rule.priority - b.rule.priority);
  const sizes = input.entries.map(({ sizing }) => bindSize(sizing));
  const decisions = decisionsOf(bars.timeframe, policy);
  return {
    input,
    bars,
    end: input.end,
    children,
    contradicted,
    policy,
    closeOf: closesOf(bars.timeframe),
    entries: input.entries,
    exits,
    watch: new Watch(input, levels),
    levels,
    readsLevels: readsAtSignal(levels),
    decisions,
    instants: instantsOf(start, decisions),
    entryFill: { rawPrice: NaN, price: NaN, stopPrice: NaN, fee: NaN, quantity: NaN },
    exitFill: noExit(),
    closing: { price: NaN, quantity: NaN, entryFee: NaN, exitFee: NaN, slippage: NaN, pnl: NaN },
    sizes,
    sizing: newSizingContext(config, bars, input.instrument, sizes),

    positions: [],
    closed: [],
    blanks: [],
    dueExits: new DueExits(),
    dueEntry: null,
    marketEntry: { id: 0, rule: 0, signalRow: 0, price: NaN, lastRow: 0, levels: NO_LEVELS, lacksLeg: false },
    pending: input.entries.map(() => null),
    pendingCount: 0,

    ledger: books?.ledger ?? createLedger(config.initialBalance),
    fees: books?.fees ?? createFeeSchedule(config.execution.feeModel),
    slippedPrice: slippageKindOf(slippage).bind(slippage, {
      bars,
      instrument: input.instrument,
      atr: input.slippageAtr,
    }),
    slippageCost: 0,
    carry: carryOf(config, bars),
    fundingPaid: 0,
    borrowPaid: 0,
    dividendsReceived: 0,

    marks,
    equity,
    marked,
    inPosition,
    trades,
    reads,
    readsState: history.length > 0,
    hasLevels: hasLevels(input.risk),
    blocks: input.reads === undefined ? null : priceBlocksOf(bars),
    scans: rowScans(bars.high, bars.low),
    playTrades: books === null ? (TRADES.current?.(input, exits, children) ?? null) : null,
    orders: input.keepOrders ? [] : null,
    openSince: start,
    lastFullExitRow: -Infinity,

    counts: noCounts(input.entries),
    ambiguous: noAmbiguousBars(),

    state: new StateReader(),
    history,
    memories: new Map(history.map(({ node, memory }) => [node, memory])),
  };
}

/**
 * The bars to drill into; a resampled series never serves as children, and none does when too many bars contradict
 * theirs (semantics §3.2).
 */
function barsToDrill({ config, bars, fine }: SimulationInput): Pick<Run, 'children' | 'contradicted'> {
  const isDrilling = config.ambiguityResolution === 'multi_resolution';
  if (!isDrilling || fine === null || fine.isResampled) return { children: null, contradicted: null };
  const found = contradictionsOf(bars, fine);
  if (found === null || found.count === 0) return { children: fine, contradicted: null };
  return found.isDrillingOff ? { children: null, contradicted: null } : { children: fine, contradicted: found.runRows };
}

const decisionsOf = (resolution: Decision['resolution'], policy: AmbiguityFallback): Run['decisions'] => ({
  direct: { method: 'direct', resolution, policy: null, fineTime: null },
  gap: { method: 'gap', resolution, policy: null, fineTime: null },
  policy: { method: 'fallback', resolution, policy, fineTime: null },
});

const instantsOf = (row: number, { direct, gap }: Run['decisions']): Run['instants'] => ({
  open: { row, isAtClose: false, isAtOpen: true, from: NaN, decision: direct },
  gap: { row, isAtClose: false, isAtOpen: true, from: NaN, decision: gap },
  close: { row, isAtClose: true, isAtOpen: false, from: NaN, decision: direct },
});

const noExit = (): ExitFill => ({
  quantity: NaN,
  price: NaN,
  isSlipped: false,
  role: 'taker',
  reason: signalExit.reason,
  rule: null,
  order: null,
});

const noCounts = (entries: readonly EntryRule[]): Run['counts'] => ({
  statefulSignals: entries.map(() => 0),
  fillsByRule: entries.map(() => 0),
  blockedInPosition: 0,
  blockedCooldown: 0,
  blockedMaxPositions: 0,
  lostSlots: 0,
  ordersExpired: 0,
  ordersReplaced: 0,
  ordersRejected: { INSUFFICIENT_BALANCE: 0, MIN_NOTIONAL: 0, ZERO_QTY: 0, LEVEL_MISSING: 0 },
});

const noBars = (): BarCount => ({ lastRow: -1, count: 0 });

const noAmbiguousBars = (): Run['ambiguous'] => ({
  undecided: noBars(),
  drilled: noBars(),
  fallback: noBars(),
  childrenMissing: noBars(),
});

const hasLevels = ({ stopLoss, takeProfits, trailingStop, breakeven }: RiskRules): boolean =>
  stopLoss !== null || takeProfits.length > 0 || trailingStop !== null || breakeven !== null;

const inPositionBits = (scratch: Scratch | undefined, rows: number): Uint32Array =>
  scratch?.inPosition.subarray(0, wordCount(rows)).fill(0) ?? new Uint32Array(wordCount(rows));

const equityColumn = (scratch: Scratch | undefined, rows: number): Float64Array =>
  scratch === undefined || scratch.equity.length < rows ? new Float64Array(rows) : scratch.equity.subarray(0, rows);

/**
 * Every stateful expression, with the memory that belongs to the run instead of a position: entry signals, order
 * prices, ranks, risk prices read at a signal, exits.
 */
function recordedHistory({ entries, exits }: SimulationInput, levels: BoundLevels): RecordedHistory[] {
  const recorded: RecordedHistory[] = [];
  const add = (node: Stateful, view: RecordedHistory['view']) =>
    void recorded.push({ node, memory: node.newMemory(null), view });
  const addPrice = (price: ValueSource) => {
    if (price.kind === 'stateful') add(price.value, 'entries');
  };
  for (const { signal, order, rank } of entries) {
    if (signal.kind === 'stateful') add(signal.condition, 'entries');
    if (order.type !== 'market') addPrice(order.price);
    if (rank !== undefined) addPrice(rank);
  }
  for (const { when } of exits) if (when.kind === 'stateful') add(when.condition, null);
  levelSources(levels).forEach(addPrice);
  return recorded;
}
