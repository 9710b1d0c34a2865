// Warnings about trading days: scheduled and counted days on which the run has no bars, because of a holiday or a gap.
import { DAY_MS } from '../bars/bars.ts';
import { compareRange } from '../bars/exchangeDays.ts';
import { exchangeOf, type RunCalendar } from '../bars/runCalendar.ts';
import { isFiner } from '../bars/timeframes.ts';
import { lateDaysOf } from '../definitions/expressions/schedules.ts';
import { isPortfolio } from '../config.ts';
import type { ValidationIssue } from '../language/issues/issues.ts';
import type { ReportInput } from './reportInput.ts';
import { configWarning } from './warnings.ts';

/** The instants of the first and the last evaluated bar. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** At most one warning about scheduled days, one about counted days, and one about the bars of each instrument. */
export function tradingDayWarnings(report: ReportInput): ValidationIssue[] {
  const { input, firstRow, endRow } = report;
  // A bar of more than a day says nothing of its days.
  if (endRow <= firstRow || isFiner('1d', input.bars.timeframe)) return [];
  const path = isPortfolio(input.config) ? '/config/instruments' : '/config/signalInstrument';
  const span = { from: input.bars.time[firstRow], to: input.bars.time[endRow - 1] };
  return [...lateSchedule(report, span, path), ...countedHolidays(report, span, path), ...missingDays(report, path)];
}

/** The schedule with the most days that took place late. */
function lateSchedule({ evaluated }: ReportInput, span: Span, path: string): ValidationIssue[] {
  const schedules = evaluated.plan.steps.flatMap((step) => {
    // That of every trading day takes place on the same bars, whatever is a holiday.
    if (step.op !== 'schedule' || step.days === null || step.days.every === 'day') return [];
    const calendar = evaluated.calendarOf(step);
    return { ...lateDaysOf(step.days, evaluated.barsOf(step).time, calendar, span), calendar };
  });
  const [worst] = schedules.toSorted((a, b) => b.late.length - a.late.length);
  if (worst === undefined || worst.late.length === 0) return [];
  const { late, count, calendar } = worst;
  const days = `${late.length} of ${count} scheduled days, the first of them ${dateOf(late[0])}`;
  return [
    calendar.knowsHolidays
      ? configWarning(
          'TRADING_DAYS_MISSING',
          path,
          `The bars lack trading days: ${days}, took place on the bar after it.`,
          'Import the missing bars; candlepool data gaps lists them.',
        )
      : configWarning(
          'HOLIDAYS_UNKNOWN',
          path,
          `The schedule had no bar on ${days}, and took place on the next bar: holidays are not known in advance.`,
          WITH_CALENDAR,
        ),
  ];
}

const WITH_CALENDAR =
  'Import the bars with --calendar, such as XNYS, if the last or first day on which the market trades is meant.';

/** Weekdays without bars, where trading days of a month are counted without a calendar. */
function countedHolidays({ evaluated }: ReportInput, span: Span, path: string): ValidationIssue[] {
  const step = evaluated.plan.steps.find(({ op, ...rest }) => op === 'time' && isDayCount(rest));
  if (step === undefined) return [];
  const calendar = evaluated.calendarOf(step);
  if (calendar.knowsHolidays) return [];
  const holidays = daysWithoutBars(evaluated.barsOf(step).time, calendar, span);
  if (holidays.length === 0) return [];
  const message =
    `trading_day_of_month and trading_days_to_month_end count weekdays: ${holidays.length} of them have no bars, ` +
    `the first ${dateOf(holidays[0])}.`;
  return [configWarning('HOLIDAYS_UNKNOWN', path, message, WITH_CALENDAR)];
}

const isDayCount = (operation: object): boolean =>
  'field' in operation && typeof operation.field === 'string' && operation.field.startsWith('trading_day');

function daysWithoutBars(times: Float64Array, { followed, isTradingDay }: RunCalendar, { from, to }: Span): number[] {
  const days = new Set((followed ?? times).map((time) => Math.floor(time / DAY_MS)));
  const absent: number[] = [];
  for (let day = Math.floor(from / DAY_MS); day * DAY_MS <= to; day++)
    if (isTradingDay(day) && !days.has(day)) absent.push(day * DAY_MS);
  return absent;
}

/** Trading days of the exchange on which an instrument has no bars. */
function missingDays({ evaluated, input, firstRow, endRow, portfolio }: ReportInput, path: string): ValidationIssue[] {
  const runs = portfolio?.instruments ?? [{ evaluated, input, firstRow, endRow }];
  const found = runs.flatMap(({ input: { bars, instrument }, firstRow: first, endRow: end }) => {
    const exchange = exchangeOf(instrument);
    if (exchange === undefined) return [];
    const { missing } = compareRange(bars, first, end, exchange);
    return missing.length === 0 ? [] : { symbol: bars.symbol, exchange: exchange.name, missing };
  });
  if (found.length === 0) return [];
  const [{ symbol, exchange, missing }] = found;
  const others = found.length === 1 ? '' : ` Other instruments that lack days: ${found.length - 1}.`;
  const message =
    `${symbol} has no bars on ${missing.length} trading ${missing.length === 1 ? 'day' : 'days'} of ${exchange}, ` +
    `the first ${dateOf(missing[0])}.${others}`;
  return [
    configWarning('TRADING_DAYS_MISSING', path, message, 'Import the missing bars; candlepool data gaps lists them.'),
  ];
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
