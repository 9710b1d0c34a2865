// The timeframe of a file, given or inferred from the steps between its times, and the open of each bar.
import { DAY_MS, TIMEFRAMES, TIMEFRAME_MS } from '../../engine/bars/bars.ts';
import type { Timeframe } from '../../engine/bars/bars.ts';
import { longestMs } from '../../engine/bars/timeframes.ts';
import { durationText, isoInstant } from '../formatting.ts';
import { refuse } from './importError.ts';
import { isPeriod, periodOpens } from './periods.ts';
import type { ReadOptions } from './readOptions.ts';
import { daysOfClocks, daysOfSessions } from './sessions.ts';
import { areDistinct, commonestStep, firstRows, isSorted } from './steps.ts';
import type { TimeReading } from './times.ts';

interface TimedBars {
  readonly timeframe: Timeframe;
  /** The open of each bar, ms UTC. */
  readonly time: Float64Array;
}

/** The opens of bars; days, weeks and months are put on the calendar if their times show which ones they are. */
export function openTimes(
  { times, clocks, isDates }: Pick<TimeReading, 'times' | 'clocks' | 'isDates'>,
  given: 'open' | 'close',
  options: Pick<ReadOptions, 'timeframe' | 'timeframeHint'>,
  notes: string[],
): TimedBars {
  const localDays = clocks && daysOfClocks(given === 'close' ? clocks.map(wholeSecond) : clocks, given);
  if (clocks && localDays && areDistinct(localDays)) {
    const timeframe = options.timeframe ?? inferTimeframe(localDays, options.timeframeHint);
    if (isPeriod(timeframe)) return { timeframe, time: periodOpens(timeframe, clocks.map(wholeSecond), given, notes) };
    if (timeframe === '1d') {
      notes.push('The times are those of a place, not UTC: each bar is put on its calendar day there, at 00:00 UTC.');
      if (endsEarly(clocks)) notes.push(PARTIAL);
      return { timeframe, time: localDays };
    }
  }
  const timeframe = options.timeframe ?? inferTimeframe(times, options.timeframeHint);
  const step = commonestStep(times);
  if (step !== null && timeframeOfStep(step) !== timeframe && step > longestMs(timeframe))
    notes.push(`Most bars are ${durationText(step)} apart, not ${timeframe}. Is the timeframe right?`);
  if (isPeriod(timeframe)) return { timeframe, time: periodOpens(timeframe, times.map(wholeSecond), given, notes) };
  const timeIs = isDates ? 'open' : given;
  if (timeIs !== given) notes.push('The times are dates, without a time of day: each is the day of its bar.');
  const whole = timeIs === 'close' ? times.map(wholeSecond) : times;
  const sessions = timeframe === '1d' ? daysOfSessions(whole, timeIs) : null;
  if (sessions) {
    notes.push(sessions.note);
    return { timeframe, time: sessions.days };
  }
  return { timeframe, time: timeIs === 'close' ? whole.map((close) => close - TIMEFRAME_MS[timeframe]) : times };
}

const PARTIAL =
  'Warning: the last bar is stamped at another time of day than the others, as if it had not ended. Leave it out ' +
  'if it has not.';
const HOUR_MS = TIMEFRAME_MS['1h'];

/** Whether the last day is stamped at a time of its own, as Yahoo stamps the day that is not over. */
function endsEarly(clocks: Float64Array): boolean {
  const [first, second, third] = clocks.slice(-3).map((clock) => clock % DAY_MS);
  const differ = (a: number, b: number): boolean => Math.abs(a - b) > HOUR_MS;
  return clocks.length > 2 && !differ(first, second) && differ(second, third);
}

/** Moves the last millisecond of a second to the next: Binance writes the close of a bar as 12:59:59.999. */
const wholeSecond = (time: number): number => (time % 1000 === 999 ? time + 1 : time);

/** Months are dated by their first or last trading days, 28 to 33 days apart. */
const MONTH_STEP_MS = { from: 27.5 * DAY_MS, to: 33.5 * DAY_MS };

function timeframeOfStep(step: number): Timeframe | undefined {
  if (step >= MONTH_STEP_MS.from && step <= MONTH_STEP_MS.to) return '1M';
  return TIMEFRAMES.find((timeframe) => longestMs(timeframe) === step);
}

function inferTimeframe(times: Float64Array, hint: Timeframe | undefined): Timeframe {
  const known = TIMEFRAMES.join(', ');
  const step = commonestStep(times);
  if (step === null)
    return (
      hint ??
      refuse(
        'TIMEFRAME_UNKNOWN',
        'A single bar does not show its timeframe. Name it: --timeframe of an import, or --bars ' +
          `SYMBOL:TIMEFRAME=FILE (${known}).`,
      )
    );
  const found = timeframeOfStep(step);
  // In a shuffled file the steps say nothing about the timeframe.
  if (found === undefined && !isSorted(times, 1) && !isSorted(times, -1)) {
    const firsts = firstRows(times);
    const again = times.findIndex((time, row) => firsts.get(time) !== row);
    if (again !== -1)
      refuse(
        'TIME_DUPLICATE',
        `The time ${isoInstant(times[again])} appears twice, in rows ${firsts.get(times[again])! + 1} and ` +
          `${again + 1}. ` +
          'Leave out one of the rows with --dedupe first or --dedupe last, and put the rows in the order of their ' +
          'times with --sort.',
      );
    refuse(
      'TIME_UNSORTED',
      'The rows are not in the order of their times. Sort them by time, oldest first, or give --sort.',
    );
  }
  return (
    found ??
    refuse(
      'TIMEFRAME_UNKNOWN',
      `Most bars are ${durationText(step)} apart, which is not a stored timeframe (${known}). Export the data ` +
        `at one of these.`,
    )
  );
}
