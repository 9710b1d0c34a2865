// A run: everything one simulation holds while it goes from bar to bar.
import type { Bars } from '../columns/bars.ts';
import { TIMEFRAME_MS } from '../columns/bars.ts';
import { wordCount } from '../columns/column.ts';
import type { AmbiguityFallback } from './config.ts';
import { createFeeSchedule, createSlippage, type FeeSchedule, type SlippedPrice } from './costs.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { EntryOrder, ExitOrder } from './orders.ts';
import type { Position } from './position.ts';
import type {
  EntryRule,
  ExitMethod,
  ExitRule,
  OrderRecord,
  RejectionReason,
  SimulationInput,
  StateMemory,
  StatefulCondition,
  StatefulValue,
  Trade,
} from './program.ts';
import { StateReader } from './state.ts';
import { createWatch, type Watch } from './watch.ts';

/** How the exits that follow are decided; written before they fill, read into their trade rows (semantics §3.6). */
export interface Decision {
  method: ExitMethod;
  resolution: Bars['timeframe'];
  policy: AmbiguityFallback | null;
  /** Open time of the deciding child, ms. */
  fineTime: number | null;
}

/** Bars counted once each, whatever the number of positions in them: the last row counted, and how many. */
interface BarCount {
  lastRow: number;
  count: number;
}

/** A node over state that keeps history of what the account did, as entries see it. */
interface HistoryNode {
  readonly node: StatefulCondition | StatefulValue;
  readonly memory: StateMemory;
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

  /** Oldest first. */
  readonly positions: Position[];
  /** Closed ones, to be used again. */
  readonly closed: Position[];
  dueExits: ExitOrder[];
  dueEntry: EntryOrder | null;
  /** An entry rule each: its limit or stop order that waits for its price. */
  readonly pending: (EntryOrder | null)[];
  pendingCount: number;

  readonly ledger: Ledger;
  readonly fees: FeeSchedule;
  readonly slip: SlippedPrice;
  slippageCost: number;
  fundingPaid: number;

  /** The instant being simulated: its row, whether it is the row's close, and the open of the bar or child it is inside. */
  row: number;
  isAtClose: boolean;
  insideOpen: number;
  readonly how: Decision;

  readonly equity: Float64Array;
  readonly inPosition: Uint32Array;
  readonly trades: Trade[];
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
    readonly ordersRejected: Record<RejectionReason, number>;
  };
  readonly undecided: BarCount;
  readonly drilled: BarCount;
  readonly fallback: BarCount;
  readonly childrenMissing: BarCount;

  readonly state: StateReader;
  /** Stateful entries' memory, a rule each. */
  readonly entryMemories: readonly (StateMemory | null)[];
  readonly history: readonly HistoryNode[];
}

const countBars = (): BarCount => ({ lastRow: -1, count: 0 });

/** Counts `row` unless it was the last one counted. */
export function countBar(counter: BarCount, row: number): void {
  if (counter.lastRow === row) return;
  counter.lastRow = row;
  counter.count++;
}

export function createRun(input: SimulationInput): Run {
  const { bars, config, start, end } = input;
  // A warm-up longer than the data leaves nothing to evaluate.
  const rows = Math.max(0, end - start);
  const isDrilling = config.ambiguityResolution === 'multi_resolution';
  const children = isDrilling && input.fine !== null && !input.fine.isResampled ? input.fine : null;
  const entryMemories = input.entries.map(({ signal }) =>
    signal.kind === 'stateful' ? signal.condition.newMemory() : null,
  );
  const run: Run = {
    input,
    bars,
    end,
    children,
    policy: config.ambiguityResolution === 'multi_resolution' ? config.ambiguityFallback : config.ambiguityResolution,
    barMs: TIMEFRAME_MS[bars.timeframe],
    entries: input.entries,
    exits: input.exits.map((rule, index) => ({ rule, index })).sort((a, b) => a.rule.priority - b.rule.priority),
    watch: createWatch(input),
    positions: [],
    closed: [],
    dueExits: [],
    dueEntry: null,
    pending: input.entries.map(() => null),
    pendingCount: 0,
    ledger: createLedger(config.initialBalance),
    fees: createFeeSchedule(config.execution.feeModel, () => instantOf(run)),
    slip: createSlippage(config.execution.slippage, bars, input.instrument, input.slippageAtr),
    slippageCost: 0,
    fundingPaid: 0,
    row: start,
    isAtClose: false,
    insideOpen: NaN,
    how: { method: 'direct', resolution: bars.timeframe, policy: null, fineTime: null },
    equity: new Float64Array(rows),
    inPosition: new Uint32Array(wordCount(rows)),
    trades: [],
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
      ordersRejected: { INSUFFICIENT_BALANCE: 0, MIN_NOTIONAL: 0, ZERO_QTY: 0, LEVEL_MISSING: 0 },
    },
    undecided: countBars(),
    drilled: countBars(),
    fallback: countBars(),
    childrenMissing: countBars(),
    state: new StateReader(),
    entryMemories,
    history: historyNodes(input, entryMemories),
  };
  run.state.attach(run);
  return run;
}

/** Every stateful node that must see every close from the account's side: entry signals, order prices, and risk prices read at a signal. */
function historyNodes(input: SimulationInput, entryMemories: readonly (StateMemory | null)[]): HistoryNode[] {
  const nodes: HistoryNode[] = [];
  input.entries.forEach(({ signal, order }, rule) => {
    if (signal.kind === 'stateful' && signal.condition.hasHistory) {
      nodes.push({ node: signal.condition, memory: entryMemories[rule]! });
    }
    if (order.type !== 'market' && order.price.kind === 'stateful') {
      nodes.push({ node: order.price.value, memory: order.price.value.newMemory() });
    }
  });
  const { stopLoss, takeProfits } = input.risk;
  if (stopLoss?.mode === 'price' && stopLoss.price.kind === 'stateful') {
    nodes.push({ node: stopLoss.price.value, memory: stopLoss.price.value.newMemory() });
  }
  for (const { trigger } of takeProfits) {
    if (trigger.mode === 'price' && trigger.price.kind === 'stateful') {
      nodes.push({ node: trigger.price.value, memory: trigger.price.value.newMemory() });
    }
  }
  return nodes;
}

export function decide(
  run: Run,
  method: ExitMethod,
  policy: AmbiguityFallback | null = null,
  fineTime: number | null = null,
): void {
  const { how } = run;
  how.method = method;
  how.policy = policy;
  how.fineTime = fineTime;
  how.resolution = fineTime === null ? run.bars.timeframe : run.children!.timeframe;
}

/** The instant of fills at the open of `row` or inside its bar. */
export function enterBar(run: Run, row: number): void {
  run.row = row;
  run.isAtClose = false;
  run.insideOpen = run.bars.open[row];
  decide(run, 'direct');
}

/** The instant of fills at the close of `row`. */
export function enterClose(run: Run, row: number): void {
  run.row = row;
  run.isAtClose = true;
  run.insideOpen = NaN;
  decide(run, 'direct');
}

/**
 * The time of this instant, ms. Asked for only where a fee window needs it: the time column is otherwise not read between signals, and
 * a cold cache line costs more than the fill.
 */
const instantOf = (run: Run): number => run.bars.time[run.row] + (run.isAtClose ? run.barMs : 0);

/** The last bar closed before a fill at this instant; what is read there is known. */
export const closedRow = (run: Run): number => (run.isAtClose ? run.row : run.row - 1);
