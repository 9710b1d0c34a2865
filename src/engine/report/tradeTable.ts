// The trade table: every trade row of a result as packed numbers and words, in the order in which they are hashed.
import { newNumbers, newWords } from '../kernels/sharedBuffer.ts';
import type { BoundRules } from '../evaluate/bindRules.ts';
import type { Decision } from '../simulate/instant.ts';
import { exitReasonOf, type ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../simulate/tradeLog.ts';

/** What the rows and rule indexes of a trade refer to. */
interface TradeContext {
  /** Open time of each row, ms UTC. */
  readonly time: Float64Array;
  /** First row of the range: bars are counted from it. */
  readonly firstRow: number;
  readonly boundRules: Pick<BoundRules, 'entries' | 'exits' | 'allocation' | 'targetPaths'>;
  /** Absent in runs of one instrument. */
  readonly symbol?: string;
}

/** The words of a trade row. Few rows of a result differ in them. */
export interface TradeWords {
  readonly side: 'long' | 'short';
  readonly exitReason: ExitReason;
  readonly exitMethod: Decision['method'];
  readonly exitResolution: string;
  readonly exitPolicy: string | null;
  readonly entryRule: string;
  readonly exitRule: string | null;
  /** Absent in runs of one instrument. */
  readonly symbol?: string;
}

export interface TradeTable {
  readonly length: number;
  /** ROW_NUMBERS numbers per row, see ROW. */
  readonly numbers: Float64Array;
  /** Open time of the child that decided, ms; NaN: none did. */
  readonly fineTimes: Float64Array;
  /** The index of each row's words. */
  readonly kinds: Uint32Array;
  readonly words: readonly TradeWords[];
}

/** The place of each number in a row: the order in which results are hashed and stored. */
const ROW = {
  positionId: 0,
  entryTime: 1,
  entryBar: 2,
  entryPrice: 3,
  quantity: 4,
  exitTime: 5,
  exitBar: 6,
  exitPrice: 7,
  entryFee: 8,
  exitFee: 9,
  slippage: 10,
  pnl: 11,
  returnPct: 12,
  maePct: 13,
  mfePct: 14,
  barsHeld: 15,
} as const;
/** Numbers per row. */
export const ROW_NUMBERS = 16;

/** Packs the closing fills of a run; bars are counted from the first row of the range. */
export function tradeTable(log: TradeLog, context: TradeContext): TradeTable {
  const { length } = log;
  const kinds = new TradeKinds(log, context);
  const table = emptyTable(length, kinds.words);
  writeTimes(log, context.time, table.numbers);
  // One call per row, because V8 compiles the function. A loop that runs once is not compiled, and makes an object of
  // every number it reads.
  for (let trade = 0; trade < length; trade++) writeRow(log, trade, context.firstRow, kinds, table);
  return table;
}

/**
 * Packs the closing fills of a portfolio run.
 * @param contexts of each instrument
 * @param instruments the instrument of each trade
 */
export function mixedTradeTable(
  log: TradeLog,
  contexts: readonly TradeContext[],
  instruments: ArrayLike<number>,
): TradeTable {
  const words: TradeWords[] = [];
  const kinds = contexts.map((context) => new TradeKinds(log, context, words));
  const table = emptyTable(log.length, words);
  for (let trade = 0; trade < log.length; trade++) {
    const { time, firstRow } = contexts[instruments[trade]];
    const row = trade * ROW_NUMBERS;
    table.numbers[row + ROW.entryTime] = time[log.numbers[trade * TRADE_WIDTH + TRADE.entryRow]];
    table.numbers[row + ROW.exitTime] = time[log.numbers[trade * TRADE_WIDTH + TRADE.exitRow]];
    writeRow(log, trade, firstRow, kinds[instruments[trade]], table);
  }
  return table;
}

const emptyTable = (length: number, words: readonly TradeWords[]): TradeTable => ({
  length,
  numbers: newNumbers(length * ROW_NUMBERS),
  fineTimes: newNumbers(length),
  kinds: newWords(length),
  words,
});

function writeRow(
  log: TradeLog,
  trade: number,
  firstRow: number,
  kinds: TradeKinds,
  table: Pick<TradeTable, 'numbers' | 'fineTimes' | 'kinds'>,
): void {
  writeNumbers(log.numbers, trade * TRADE_WIDTH, firstRow, table.numbers, trade * ROW_NUMBERS);
  table.fineTimes[trade] = log.decisions[trade].fineTime ?? NaN;
  table.kinds[trade] = kinds.of(trade);
}

/**
 * A separate loop, because every read of a time waits for memory: in a loop this short, the processor fetches many at
 * once.
 */
function writeTimes({ length, numbers }: TradeLog, time: Float64Array, to: Float64Array): void {
  for (let trade = 0, from = 0, row = 0; trade < length; trade++, from += TRADE_WIDTH, row += ROW_NUMBERS) {
    to[row + ROW.entryTime] = time[numbers[from + TRADE.entryRow]];
    to[row + ROW.exitTime] = time[numbers[from + TRADE.exitRow]];
  }
}

/** Writes all numbers of a row except its times. */
function writeNumbers(from: Float64Array, at: number, firstRow: number, to: Float64Array, row: number): void {
  const entryRow = from[at + TRADE.entryRow];
  const exitRow = from[at + TRADE.exitRow];
  to[row + ROW.positionId] = from[at + TRADE.positionId];
  to[row + ROW.entryBar] = entryRow - firstRow;
  to[row + ROW.entryPrice] = from[at + TRADE.entryPrice];
  to[row + ROW.quantity] = from[at + TRADE.quantity];
  to[row + ROW.exitBar] = exitRow - firstRow;
  to[row + ROW.exitPrice] = from[at + TRADE.exitPrice];
  to[row + ROW.entryFee] = from[at + TRADE.entryFee];
  to[row + ROW.exitFee] = from[at + TRADE.exitFee];
  to[row + ROW.slippage] = from[at + TRADE.slippage];
  to[row + ROW.pnl] = from[at + TRADE.pnl];
  to[row + ROW.returnPct] = from[at + TRADE.returnPct];
  to[row + ROW.maePct] = from[at + TRADE.maePct];
  to[row + ROW.mfePct] = from[at + TRADE.mfePct];
  to[row + ROW.barsHeld] = exitRow - entryRow;
}

/** The distinct words of the trades of a log. Most trades have the words of one of the last few. */
class TradeKinds {
  readonly words: TradeWords[];
  readonly #log: TradeLog;
  readonly #context: TradeContext;
  /** A trade of each kind of this context, and the index of its words. */
  readonly #trades: number[] = [];
  readonly #kinds: number[] = [];

  /** @param words those of all contexts of a log */
  constructor(log: TradeLog, context: TradeContext, words: TradeWords[] = []) {
    this.#log = log;
    this.#context = context;
    this.words = words;
  }

  of(trade: number): number {
    for (let kind = this.#trades.length - 1; kind >= 0; kind--)
      if (this.#isSame(this.#trades[kind], trade)) return this.#kinds[kind];
    const kind = this.words.push(this.#wordsOf(trade)) - 1;
    this.#trades.push(trade);
    this.#kinds.push(kind);
    return kind;
  }

  #isSame(a: number, b: number): boolean {
    const { numbers, reasons, decisions } = this.#log;
    const from = a * TRADE_WIDTH;
    const to = b * TRADE_WIDTH;
    return (
      reasons[a] === reasons[b] &&
      numbers[from + TRADE.exitRule] === numbers[to + TRADE.exitRule] &&
      numbers[from + TRADE.entryRule] === numbers[to + TRADE.entryRule] &&
      numbers[from + TRADE.side] === numbers[to + TRADE.side] &&
      (decisions[a] === decisions[b] || isSameDecision(decisions[a], decisions[b]))
    );
  }

  #wordsOf(trade: number): TradeWords {
    const { numbers, reasons, decisions } = this.#log;
    const at = trade * TRADE_WIDTH;
    const { method, resolution, policy } = decisions[trade];
    const { boundRules, symbol } = this.#context;
    const exitRule = numbers[at + TRADE.exitRule];
    // The exit's id for a signal, the place of the ladder's step for a take profit.
    const isTarget = exitReasonOf(reasons[trade]).names === 'target';
    const rules = isTarget ? boundRules.targetPaths : boundRules.exits.map(({ id }) => id);
    return sharedWords({
      side: numbers[at + TRADE.side] > 0 ? 'long' : 'short',
      exitReason: reasons[trade],
      exitMethod: method,
      exitResolution: resolution,
      exitPolicy: policy,
      entryRule: (boundRules.allocation ?? boundRules.entries[numbers[at + TRADE.entryRule]]).id,
      exitRule: exitRule < 0 ? null : (rules[exitRule] ?? null),
      ...(symbol !== undefined && { symbol }),
    });
  }
}

/** The words used last. The runs of a strategy share these objects, and also what later stages keep for them. */
const lastWords: TradeWords[] = [];
const MOST_LAST_WORDS = 8;

/** An object that equals `words`: the same one as long as it is among the last. */
function sharedWords(words: TradeWords): TradeWords {
  for (const known of lastWords) if (areSameWords(known, words)) return known;
  if (lastWords.length === MOST_LAST_WORDS) lastWords.shift();
  lastWords.push(words);
  return words;
}

const areSameWords = (a: TradeWords, b: TradeWords): boolean =>
  a.exitReason === b.exitReason &&
  a.side === b.side &&
  a.exitMethod === b.exitMethod &&
  a.exitResolution === b.exitResolution &&
  a.exitPolicy === b.exitPolicy &&
  a.entryRule === b.entryRule &&
  a.exitRule === b.exitRule &&
  a.symbol === b.symbol;

/** Compares without `fineTime`: each child that decides has a decision of its own. */
const isSameDecision = (a: Decision, b: Decision): boolean =>
  a.method === b.method && a.resolution === b.resolution && a.policy === b.policy;

/** The rows as objects. */
export const tradeRows = (table: TradeTable): NamedTradeRow[] =>
  Array.from({ length: table.length }, (_, row) => {
    const { symbol } = table.words[table.kinds[row]];
    return symbol === undefined ? tradeRow(table, row) : { symbol, ...tradeRow(table, row) };
  });

/** One closing fill as results and files show it. */
export type TradeRow = Readonly<ReturnType<typeof tradeRow>>;
export interface NamedTradeRow extends TradeRow {
  /** Absent in runs of one instrument. */
  readonly symbol?: string;
}

/** The values, in the order of the files. A literal: a loop over the columns takes five times as long. */
function tradeRow({ numbers, fineTimes, kinds, words }: TradeTable, row: number) {
  const at = row * ROW_NUMBERS;
  const { side, exitReason, exitMethod, exitResolution, exitPolicy, entryRule, exitRule } = words[kinds[row]];
  const fineTime = fineTimes[row];
  return {
    positionId: numbers[at + ROW.positionId],
    side,
    entryTime: numbers[at + ROW.entryTime],
    entryBar: numbers[at + ROW.entryBar],
    entryPrice: numbers[at + ROW.entryPrice],
    quantity: numbers[at + ROW.quantity],
    exitTime: numbers[at + ROW.exitTime],
    exitBar: numbers[at + ROW.exitBar],
    exitPrice: numbers[at + ROW.exitPrice],
    entryFee: numbers[at + ROW.entryFee],
    exitFee: numbers[at + ROW.exitFee],
    slippage: numbers[at + ROW.slippage],
    pnl: numbers[at + ROW.pnl],
    returnPct: numbers[at + ROW.returnPct],
    maePct: numbers[at + ROW.maePct],
    mfePct: numbers[at + ROW.mfePct],
    barsHeld: numbers[at + ROW.barsHeld],
    exitReason,
    exitMethod,
    exitResolution,
    exitPolicy,
    exitFineTime: fineTime === fineTime ? fineTime : null,
    entryRule,
    exitRule,
  };
}
