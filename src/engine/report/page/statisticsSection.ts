// The statistics of a run by name, in tables of one unit each.
import type { ReportRow, ReportTable } from '../../definitions/statistics/statistic.ts';
import { STATISTICS } from '../../definitions/statistics/statistics.ts';
import { asHeading, benchmarkName, BUY_AND_HOLD } from '../buyAndHold.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, section, tone, trusted, type Html } from '../kit/html.ts';
import { fixed, minute, percent, type Precision } from '../kit/numberText.ts';

interface Style {
  readonly title: string;
  readonly unit: string;
  readonly write: (value: number | null, precision: Precision) => string;
}
const asRatio = (value: number | null): string => fixed(value, 2);
const TABLES: Readonly<Record<ReportTable, (quote: string) => Style>> = {
  return: () => ({ title: 'Return', unit: '%', write: (value) => percent(value) }),
  risk: () => ({ title: 'Risk and exposure', unit: '%', write: (value) => percent(value) }),
  ratio: () => ({ title: 'Ratios', unit: 'no unit', write: asRatio }),
  position: () => ({ title: 'Per position', unit: '%', write: (value) => percent(value) }),
  edge: () => ({ title: 'Edge', unit: 'no unit', write: asRatio }),
  money: (quote) => ({ title: 'Money', unit: quote, write: (value, { money }) => fixed(value, money) }),
  count: () => ({ title: 'Counts', unit: 'as named', write: (value) => fixed(value, Number.isInteger(value) ? 0 : 1) }),
  date: () => ({
    title: 'Dates',
    unit: 'UTC',
    write: (value) => (value === null ? '–' : minute(value).replace(' 00:00', '')),
  }),
};

/** @param quote the currency, for the heading of the money table. */
export function statisticsSection(run: CompletedRun, quote: string, precision: Precision): Html {
  const { summary, report } = run;
  const benchmark = benchmarkName(report.input.config, report.portfolio?.isNamed === true);
  const tables = (Object.keys(TABLES) as ReportTable[]).map((table) => {
    const { title, unit, write } = TABLES[table](quote);
    const rows = STATISTICS.filter(({ row }) => row.table === table)
      .toSorted((a, b) => a.row.place - b.row.place)
      .map(({ key, row }) => rowOf(againstBenchmark(row, benchmark), write(shownValue(row, summary[key]), precision)));
    if (table === 'money' && summary.carry !== undefined) {
      const { borrowPaid, dividendsReceived } = summary.carry;
      rows.push(rowOf({ name: 'Borrowing paid' }, write(borrowPaid, precision)));
      rows.push(rowOf({ name: 'Dividends received' }, write(dividendsReceived, precision)));
    }
    return html`<table class="names">
      <caption>
        ${title}
        <small>${unit}</small>
      </caption>
      <tbody>
        ${rows}
      </tbody>
    </table> `;
  });
  return section({ id: 'statistics', title: 'Statistics' }, html`<div class="columns">${tables}</div>`);
}

/** The number as pages show it: falls are below 0. */
export const shownValue = ({ isFall }: ReportRow, value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : isFall ? -value : value;

/** The row in the words of the benchmark of this run. */
function againstBenchmark(row: ReportRow, benchmark: string): ReportRow {
  const named = (text: string): string => text.replace(BUY_AND_HOLD, benchmark);
  const name = row.name === asHeading(BUY_AND_HOLD) ? asHeading(benchmark) : named(row.name);
  return { ...row, name, ...(row.about !== undefined && { about: named(row.about) }) };
}

type RowTexts = Pick<ReportRow, 'name' | 'about' | 'isSigned' | 'isFall' | 'unit'>;

function rowOf({ name, about, isSigned, isFall, unit }: RowTexts, text: string): Html {
  const hint = about === undefined ? NOTHING : html` title="${about}"`;
  const mark = about === undefined ? NOTHING : trusted(' class="hint"');
  const value = html`<td${isSigned || isFall ? tone(text) : NOTHING}>${text}</td>`;
  const counted = unit === undefined ? NOTHING : html` <small>${unit}</small>`;
  return html`<tr><th scope="row"${hint}><span${mark}>${name}</span>${counted}</th>${value}</tr>`;
}
