// Signals and trades of two runs over the same bars, compared row by row, each instrument on its own rows.
import type { InstrumentRun } from '../report/reportInput.ts';
import { exitReasonOf } from '../definitions/exitReasons/exitReasons.ts';
import type { ValueSource } from '../evaluate/tradingRules.ts';
import { hasBit } from '../kernels/bits.ts';
import { lowerBound } from '../kernels/search.ts';
import type { CheckRun } from './checkRuns.ts';

interface RuleColumn {
  readonly id: string;
  readonly isTrue: Uint32Array;
}

/** The rules of a run whose signals are columns; those that read position or account state show in the trades. */
function ruleColumns({ input: { entries, exits, allocation } }: InstrumentRun): RuleColumn[] {
  const rules = [
    ...entries.map(({ id, signal }) => ({ id: `entry ${id}`, source: signal })),
    ...exits.map(({ id, when }) => ({ id: `exit ${id}`, source: when })),
  ].flatMap(({ id, source }) => (source.kind === 'bits' ? [{ id, isTrue: source.isTrue }] : []));
  return allocation ? [...rules, { id: `rebalance ${allocation.id}`, isTrue: allocation.when }] : rules;
}

/** What an allocation asks of an instrument besides: who is eligible, and who keeps its place. */
function legColumns({ input: { allocation } }: InstrumentRun): RuleColumn[] {
  const legs = allocation
    ? ([
        ['long', allocation.long],
        ['short', allocation.short],
      ] as const)
    : [];
  return legs.flatMap(([side, leg]) =>
    (['where', 'require'] as const).flatMap((member) => {
      const isTrue = leg?.[member];
      return isTrue ? [{ id: `${side} ${member}`, isTrue }] : [];
    }),
  );
}

/** The numbers by which instruments of a portfolio are chosen and weighted. */
function valueColumns({ input: { entries, allocation } }: InstrumentRun) {
  const sources: [id: string, source: ValueSource | null | undefined][] = [
    ...entries.map(({ id, rank }) => [`rank ${id}`, rank] as [string, typeof rank]),
    ['long by', allocation?.long?.by],
    ['short by', allocation?.short?.by],
    ['weights by', allocation?.weights.by],
    ['gross', allocation?.gross],
  ];
  return sources.flatMap(([id, source]) => (source?.kind === 'column' ? [{ id, values: source.values }] : []));
}

/** The rows of an instrument that lie at rows [from, to) of the account, from the end of its own warm-up on. */
function rowsOf({ portfolio }: CheckRun, index: number, from: number, to: number): readonly [number, number] {
  if (portfolio === undefined) return [from, to];
  const { start, end } = portfolio.instruments[index].input;
  const instants = portfolio.axis.instants[index];
  return [Math.max(start, lowerBound(instants, from)), Math.min(end, lowerBound(instants, to))];
}

/** Rows [from, to) of the account in which any rule has a signal on any instrument. */
export function signalRows(run: CheckRun, from: number, to: number): number[] {
  const found = new Set<number>();
  run.prepared.instruments.forEach((instrument, index) => {
    const columns = ruleColumns(instrument);
    const instants = run.portfolio?.axis.instants[index];
    const [first, end] = rowsOf(run, index, from, to);
    for (let row = first; row < end; row++)
      if (columns.some(({ isTrue }) => hasBit(isTrue, row))) found.add(instants?.[row] ?? row);
  });
  return [...found].sort((a, b) => a - b);
}

export interface SignalDifference {
  /** ms UTC of the open of the bar. */
  readonly time: number;
  /** The instrument, in a portfolio. */
  readonly symbol?: string;
  readonly rule: string;
  /**
   * Whether the rule signals in the whole run; `cut`: in the cut one. Of a number by which instruments are chosen, the
   * number; null: missing.
   */
  readonly whole: boolean | number | null;
  readonly cut: boolean | number | null;
}
interface SignalComparison {
  readonly compared: number;
  readonly differing: number;
  readonly first: SignalDifference | null;
}

/** What is compared, and where. */
interface Compared {
  /** Rows [from, to) of the account in the whole run. */
  readonly from: number;
  readonly to: number;
  /** For each instrument, how many rows later its data begins in the cut run. */
  readonly offsets: readonly number[];
  /** Of portfolios, also the numbers by which instruments are chosen, which a warm-up may move in their last digits. */
  readonly withValues: boolean;
}

/** Compares every signal of a part of the whole run. */
export function compareSignals(whole: CheckRun, cut: CheckRun, compared: Compared): SignalComparison {
  const total = { compared: 0, differing: 0, first: null as SignalDifference | null };
  const others = cut.prepared.instruments;
  whole.prepared.instruments.forEach((instrument, index) => {
    const [from, to] = rowsOf(whole, index, compared.from, compared.to);
    const offset = compared.offsets[index];
    const { time } = instrument.input.bars;
    const compare = <Value extends boolean | number>(
      rule: string,
      read: (row: number) => Value,
      readCut: (row: number) => Value,
    ): void => {
      for (let row = from; row < to; row++) {
        const [ours, theirs] = [read(row), readCut(row - offset)];
        if (Object.is(ours, theirs)) continue;
        total.differing++;
        if (total.first !== null && time[row] >= total.first.time) continue;
        const symbol = whole.portfolio && { symbol: instrument.symbol };
        total.first = { time: time[row], ...symbol, rule, whole: shownOf(ours), cut: shownOf(theirs) };
      }
      total.compared += Math.max(0, to - from);
    };
    const columns = [...ruleColumns(instrument), ...legColumns(instrument)];
    const otherColumns = [...ruleColumns(others[index]), ...legColumns(others[index])];
    columns.forEach(({ id, isTrue }, at) => {
      const other = otherColumns[at].isTrue;
      compare(
        id,
        (row) => hasBit(isTrue, row),
        (row) => hasBit(other, row),
      );
    });
    if (whole.portfolio === undefined || !compared.withValues) return;
    const otherValues = valueColumns(others[index]);
    valueColumns(instrument).forEach(({ id, values }, at) => {
      const other = otherValues[at].values;
      compare(
        id,
        (row) => values[row],
        (row) => other[row],
      );
    });
  });
  return total;
}

const shownOf = (value: boolean | number): boolean | number | null =>
  typeof value === 'number' && Number.isNaN(value) ? null : value;

/** Which trades are compared, and how. */
interface ComparedTrades {
  readonly offsets: readonly number[];
  /** Prices are left out where a warm-up may move a level in its last digits. */
  readonly withPrices: boolean;
  /** Only trades that have ended before this row of the account. */
  readonly until?: number;
}

/** Identifies the fills of a run, except those that only the end of the data made. */
export function tradeKeys(run: CheckRun, { offsets, withPrices, until = Infinity }: ComparedTrades): string[] {
  const { portfolio, simulation } = run;
  const keys: string[] = [];
  for (const [trade, made] of simulation.trades.entries()) {
    const { side, entryRow, exitRow, exitReason, entryPrice, exitPrice, quantity } = made;
    if (exitReasonOf(exitReason).endsWithData) continue;
    const index = portfolio?.simulation.tradeInstruments[trade] ?? 0;
    if ((portfolio?.axis.instants[index][exitRow] ?? exitRow) >= until) continue;
    const offset = offsets[index];
    keys.push(
      [
        ...(portfolio === undefined ? [] : [portfolio.instruments[index].symbol]),
        side,
        entryRow + offset,
        exitRow + offset,
        exitReason,
        ...(withPrices ? [entryPrice, exitPrice, quantity] : []),
      ].join(' '),
    );
  }
  return keys;
}
