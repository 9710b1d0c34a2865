// Signals and trades of two runs over the same bars, compared row by row.
import { exitReasonOf } from '../definitions/exitReasons/exitReasons.ts';
import { hasBit } from '../kernels/bits.ts';
import type { CheckRun } from './checkRuns.ts';

/** The rules of a run whose signals are columns; those that read position or account state show in the trades. */
function ruleColumns({ prepared }: CheckRun): { readonly id: string; readonly isTrue: Uint32Array }[] {
  const { entries, exits } = prepared.input;
  return [
    ...entries.map(({ id, signal }) => ({ id: `entry ${id}`, source: signal })),
    ...exits.map(({ id, when }) => ({ id: `exit ${id}`, source: when })),
  ].flatMap(({ id, source }) => (source.kind === 'bits' ? [{ id, isTrue: source.isTrue }] : []));
}

/** Rows [from, to) in which any rule has a signal. */
export function signalRows(run: CheckRun, from: number, to: number): number[] {
  const columns = ruleColumns(run);
  const rows: number[] = [];
  for (let row = from; row < to; row++) if (columns.some(({ isTrue }) => hasBit(isTrue, row))) rows.push(row);
  return rows;
}

export interface SignalDifference {
  /** ms UTC of the open of the bar. */
  readonly time: number;
  readonly rule: string;
  /** Whether the rule signals in the whole run; `cut`: in the cut one. */
  readonly whole: boolean;
  readonly cut: boolean;
}
interface SignalComparison {
  readonly compared: number;
  readonly differing: number;
  readonly first: SignalDifference | null;
}

/**
 * Compares every signal in rows [from, to) of the whole run.
 * @param offset rows that the data of the cut run begins later.
 */
export function compareSignals(
  whole: CheckRun,
  cut: CheckRun,
  { from, to, offset }: { readonly from: number; readonly to: number; readonly offset: number },
): SignalComparison {
  const others = ruleColumns(cut);
  let differing = 0;
  let first: SignalDifference | null = null;
  ruleColumns(whole).forEach(({ id, isTrue }, at) => {
    const other = others[at].isTrue;
    for (let row = from; row < to; row++) {
      const [ours, theirs] = [hasBit(isTrue, row), hasBit(other, row - offset)];
      if (ours === theirs) continue;
      differing++;
      const time = whole.prepared.input.bars.time[row];
      if (first === null || time < first.time) first = { time, rule: id, whole: ours, cut: theirs };
    }
  });
  return { compared: others.length * (to - from), differing, first };
}

/** Identifies a fill; prices are left out where a warm-up may move a level in its last digits. */
export function tradeKeys(run: CheckRun, offset: number, withPrices: boolean): string[] {
  return run.simulation.trades
    .filter(({ exitReason }) => !exitReasonOf(exitReason).endsWithData)
    .map(({ side, entryRow, exitRow, exitReason, entryPrice, exitPrice, quantity }) =>
      [
        side,
        entryRow + offset,
        exitRow + offset,
        exitReason,
        ...(withPrices ? [entryPrice, exitPrice, quantity] : []),
      ].join(' '),
    );
}
