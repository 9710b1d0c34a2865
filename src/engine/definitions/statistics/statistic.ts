// A statistic of a run: where its number is stored, its description and its unit, what of a simulation it reads, and
// its row in the report.
import type { ColumnType } from '../../bars/table.ts';

export interface Statistic {
  /**
   * The place of its number among those that are stored of a run, and its place in answers. A stored result has no
   * names, so a position never changes and is never given to another statistic. A new statistic has the next one.
   */
  readonly position: number;
  /** The first sentence of its description in the schemas of the API. */
  readonly about: string;
  readonly unit: Unit;
  /** The last sentence of its description: which values there are, or what the sign means. */
  readonly range?: string;
  /** Whether it is null when it is undefined; otherwise it is always a number. */
  readonly canBeNull: boolean;
  readonly reads: Reading;
  /** The values that a sweep ranks first, unless its objective states a direction. */
  readonly better: 'higher' | 'lower';
  /** Whether the rows of a large sweep, which hold few statistics, have it. */
  readonly isHeadline?: true;
  readonly row: ReportRow;
}
/** Statistics that one function computes, by key. */
export type Statistics = Readonly<Record<string, Statistic>>;

/** What of a simulation a statistic is computed from. A variant of a sweep records only what its statistics read. */
type Reading =
  /** The last mark of the run, or of every day. */
  | 'dayMarks'
  /** Equity at the close of every bar. */
  | 'everyMark'
  /** The bars with a position. */
  | 'rows'
  /** How many entries were filled. */
  | 'entries'
  /** The trades. */
  | 'trades'
  /** The trades, with the best and the worst price of each. */
  | 'extremes'
  /** The totals of all fills. */
  | 'fills';

/** A unit: the sentence that a description adds, and the type of a column of such values. */
interface UnitForm {
  readonly sentence: string;
  readonly column: ColumnType;
  /** Whether people read it in percent. */
  readonly isFraction: boolean;
}
/** A share of something: 0.05 is 5 %, also where the key ends in Pct. */
const FRACTION = 'A fraction: 0.05 is 5 %.';
export const UNITS = {
  fraction: { sentence: FRACTION, column: 'number', isFraction: true },
  /** A fraction from 0 to 1. */
  share: { sentence: 'A fraction, 0 to 1.', column: 'number', isFraction: true },
  money: { sentence: 'In the quote currency.', column: 'number', isFraction: false },
  ratio: { sentence: '', column: 'number', isFraction: false },
  /** A whole number. */
  count: { sentence: '', column: 'count', isFraction: false },
  /** A number of bars or days that need not be whole. */
  amount: { sentence: '', column: 'number', isFraction: false },
  barTime: { sentence: 'Open time of its bar, ms UTC.', column: 'time', isFraction: false },
  /** In ms UTC where it is stored, and as text in answers. */
  instant: { sentence: 'ISO 8601, UTC.', column: 'time', isFraction: false },
} as const satisfies Readonly<Record<string, UnitForm>>;
type Unit = keyof typeof UNITS;

export type ReportTable = 'return' | 'risk' | 'ratio' | 'position' | 'edge' | 'money' | 'count' | 'date';
/** The row of a statistic in the report of a run. */
export interface ReportRow {
  readonly table: ReportTable;
  /** Rows of a table stand in the order of their places. */
  readonly place: number;
  readonly name: string;
  /** A short explanation for readers who do not know the name. */
  readonly about?: string;
  /** Set for gains and losses, which are colored by their sign. */
  readonly isSigned?: true;
  /** Set for the depth of falls, which results hold as numbers above 0 and pages show below 0, as everywhere. */
  readonly isFall?: true;
  /** What it counts, in a table of several units. */
  readonly unit?: 'positions' | 'bars' | 'days';
}
