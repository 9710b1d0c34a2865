// Import reports: what an import inferred and noticed, so that a wrong guess is visible.
import type { Timeframe } from '../../engine/bars/bars.ts';
import { closeOf } from '../../engine/bars/timeframes.ts';
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import { findOutliers } from '../../engine/bars/outliers.ts';
import type { Outlier } from '../../engine/bars/outliers.ts';
import { inferCalendar } from '../calendar.ts';
import type { Calendar } from '../calendar.ts';
import { countGaps } from '../gaps.ts';
import type { GapCount } from '../gaps.ts';
import type { Table } from './table.ts';
import type { TimeReading } from './times.ts';

/** What the bars of a series show, whether imported or generated. */
interface SeriesSummary extends GapCount {
  readonly timeframe: Timeframe;
  readonly bars: number;
  /** [start, end): open of the first bar, close of the last, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly calendar: Calendar;
  /** All prices that the bars around them contradict, oldest first. */
  readonly outliers: readonly Outlier[];
}

export interface ImportReport extends SeriesSummary {
  readonly isTimeframeInferred: boolean;
  readonly format: Table['format'];
  readonly time: {
    readonly column: string;
    readonly unit: TimeReading['unit'];
    readonly zone: TimeReading['zone'];
    readonly is: 'open' | 'close';
  };
  /** Open, high and low are the close, because the file has one price per bar. */
  readonly isCloseOnly: boolean;
  /** Extra numeric columns, kept as `series`. */
  readonly series: readonly string[];
  /** Columns that were dropped: not numbers, or a second time. */
  readonly ignored: readonly string[];
  readonly notes: readonly string[];
}

export interface BarsTable {
  readonly columns: SnapshotColumns;
  readonly report: ImportReport;
  /** Name of the file the bars were read from, without its folder; absent for generated bars. */
  readonly sourceFile?: string;
}

/** What the bars are: their extent, gaps, trading calendar and outliers. There must be at least one. */
export function summarizeSeries(columns: SnapshotColumns, timeframe: Timeframe): SeriesSummary {
  const { time } = columns;
  return {
    timeframe,
    bars: time.length,
    start: time[0],
    end: closeOf(timeframe, time[time.length - 1]),
    ...countGaps(time, timeframe),
    calendar: inferCalendar(time, timeframe),
    outliers: findOutliers(columns),
  };
}

/** Whether a note is about bars that may not be what they seem, which a run on the file must say as well. */
export const isWarning = (note: string): boolean => note.startsWith('Warning:');
