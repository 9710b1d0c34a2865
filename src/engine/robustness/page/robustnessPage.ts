// The report of a robustness check: the verdict and its bounds, and what each analysis did to the result, with the
// original marked. It is made of the stored result alone, and needs no script to be read.
import type { ResolvedConfig } from '../../config.ts';
import { isFraction, statisticOf } from '../../definitions/statistics/statistics.ts';
import { boxes, type BoxRow } from '../../report/kit/boxes.ts';
import { html, htmlPage, NOTHING, section, signedCell, table, trusted, type Html } from '../../report/kit/html.ts';
import { count, day, fixed, percent, percentWithSign, significant } from '../../report/kit/numberText.ts';
import { configFacts, marketText, pageHeader, type Fact } from '../../report/kit/runFacts.ts';
import type { AnalysisDistribution, AnalysisRow } from '../analyses/analysis.ts';
import { ANALYSES } from '../analyses/registeredAnalyses.ts';
import type { Bound } from '../bound.ts';
import type { RunNumbers } from '../checkRuns.ts';
import type { FindingSeverity } from '../finding.ts';
import type { RobustnessResult } from '../robustnessResult.ts';

/** What the page says of the backtest that was checked. */
export interface CheckedHeading {
  readonly title: string;
  readonly version: number | null;
  readonly backtestId: string | null;
  readonly config: ResolvedConfig;
}

interface RobustnessPageAssets {
  readonly style: string;
  readonly scripts: readonly string[];
}

const VERDICTS: Readonly<Record<RobustnessResult['verdict']['code'], { word: string; severity: FindingSeverity }>> = {
  broken: { word: 'Broken', severity: 'error' },
  unprofitable: { word: 'Unprofitable', severity: 'error' },
  luck: { word: 'Probably luck', severity: 'error' },
  fragile: { word: 'Fragile', severity: 'warning' },
  inconclusive: { word: 'Inconclusive', severity: 'warning' },
  robust: { word: 'Robust', severity: 'info' },
};

export function robustnessPage(
  result: RobustnessResult,
  heading: CheckedHeading,
  { style, scripts }: RobustnessPageAssets,
): string {
  const { title, version, backtestId, config } = heading;
  const facts: readonly Fact[] = [
    ['Market', `${marketText(config)} ${config.timeframe}`],
    ['Period', periodOf(config, result.luck.days)],
    ...configFacts(config, null),
    ...(backtestId === null ? [] : [['Run', backtestId] as const]),
  ];
  const about = version === null ? null : `version ${version}`;
  const reports = reportsOf(result);
  return htmlPage({
    title: `${title}: robustness`,
    style,
    body: html`<main>
      ${pageHeader({ kind: 'Robustness report', title, about, facts })}${verdictSection(result)}
      ${distributionsSection(result, reports)}${boundsSection(result)}${runsSection(result, reports)}
      ${evidenceSection(result)}
    </main>`,
    data: {},
    scripts,
  });
}

function periodOf({ range }: ResolvedConfig, days: number | null): string {
  const length = days === null ? [] : [`${count(days)} days`];
  const { start, end } = range ?? { start: null, end: null };
  if (start === null && end === null) return ['all bars', ...length].join(', ');
  const from = start === null ? 'the first bar' : day(start);
  const to = end === null ? 'the last bar' : day(end - 1);
  return [`${from} to ${to}`, ...length].join(', ');
}

/** `blockBootstrap` → `Block bootstrap`. */
function inWords(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words[0].toUpperCase()}${words.slice(1)}`;
}

interface ReportedAnalysis {
  readonly title: string;
  readonly about: string;
  readonly distributions: readonly AnalysisDistribution[];
  readonly samples: readonly AnalysisRow[];
  readonly runs: readonly AnalysisRow[];
  readonly audit: { readonly passed: boolean | null } | null;
}

const reportsOf = (result: RobustnessResult): ReportedAnalysis[] =>
  ANALYSES.flatMap((analysis) => {
    const found = result[analysis.name];
    if (found === undefined) return [];
    const { distributions = [], samples = [], runs = [], audit = null } = analysis.reportOf(found);
    return [{ title: inWords(analysis.name), about: analysis.about, distributions, samples, runs, audit }];
  });

function verdictSection({ verdict, findings }: RobustnessResult): Html {
  const { word, severity } = VERDICTS[verdict.code];
  const others = findings.filter(({ message }) => !verdict.text.includes(message));
  const notes = others.map(
    (finding) =>
      html`<div class="note ${finding.severity}" data-code="${finding.code}"><p>${finding.message}</p></div> `,
  );
  return html`<section class="card verdict ${severity}" id="verdict">
    <h2>${word}</h2>
    <p>${verdict.text}</p>
    ${notes}
  </section> `;
}

/** How the page writes a statistic: falls are below 0, as in the report of a backtest. */
function formOf(statistic: keyof RunNumbers) {
  const { row } = statisticOf(statistic);
  const sign = row.isFall ? -1 : 1;
  const isShare = isFraction(statistic);
  return {
    name: row.name,
    shown: (value: number): number => sign * value,
    text: (value: number): string => (isShare ? `${percent(value, 1)} %` : fixed(value, 2)),
  };
}

const KEY = html`<ul class="swatches">
  <li>
    <svg class="boxes" viewBox="0 0 26 14">
      <path class="original" transform="translate(13 7)" d="M0-7 5 0 0 7-5 0z"></path></svg
    >the backtest as it is
  </li>
  <li>
    <svg class="boxes" viewBox="0 0 26 14">
      <line class="whisker" x1="1" x2="25" y1="7" y2="7" />
      <rect class="box" x="6" y="1" width="13" height="12" />
      <line class="median" x1="12" x2="12" y1="1" y2="13" /></svg
    >half of the runs, their median, and nine of ten
  </li>
  <li>
    <svg class="boxes" viewBox="0 0 26 14"><circle class="run" cx="13" cy="7" r="4.5"></circle></svg>one run
  </li>
</ul>`;

/** One plot for each statistic, with a row for each analysis: what it did to the number of the backtest. */
function distributionsSection(result: RobustnessResult, reports: readonly ReportedAnalysis[]): Html {
  const statistics = Object.keys(result.baseline).filter((key) =>
    reports.some(({ distributions }) => distributions.some(({ statistic }) => statistic === key)),
  ) as (keyof RunNumbers)[];
  const plots = statistics.map((statistic) => {
    const { name, shown, text } = formOf(statistic);
    const rows = reports.flatMap((report) => rowsOf(report, statistic, shown, result.baseline));
    const label = `${name}: ${rows.map((row) => rowText(row, text)).join('; ')}`;
    return html`<div>
      <h3>${name}</h3>
      ${boxes(rows, label, text)}
    </div>`;
  });
  if (plots.length === 0) return NOTHING;
  const note = 'Each row is an analysis: the backtest was run again under changed conditions.';
  return section(
    { id: 'distributions', title: 'What each analysis did to the result', note },
    html`${KEY}
      <div class="plots">${plots}</div>`,
  );
}

function rowText({ name, percentiles, runs = [], original }: BoxRow, text: (value: number) => string): string {
  const from = original === null ? '' : `, originally ${text(original)}`;
  return percentiles === undefined
    ? `${name} ${count(runs.length)} runs${from}`
    : `${name} ${text(percentiles[0])} to ${text(percentiles[4])}${from}`;
}

function rowsOf(
  { title, distributions, runs }: ReportedAnalysis,
  statistic: keyof RunNumbers,
  shown: (value: number) => number,
  baseline: RunNumbers,
): BoxRow[] {
  const shownOrNull = (value: number | null): number | null => (value === null ? null : shown(value));
  const drawn = distributions.flatMap(
    ({ statistic: of, about, original, of: { p5, p25, p50, p75, p95 } }): BoxRow[] => {
      const found = [p5, p25, p50, p75, p95].filter((value) => value !== null).map(shown);
      if (of !== statistic || found.length < 5) return [];
      const [a, b, c, d, e] = found.toSorted((x, y) => x - y);
      const name = about === undefined ? title : `${title}, ${about}`;
      return [{ name, percentiles: [a, b, c, d, e], original: shownOrNull(original) }];
    },
  );
  const single = runs.flatMap((run) => {
    const value = (run as Partial<RunNumbers>)[statistic] ?? null;
    return value === null ? [] : [{ name: run.name, value: shown(value) }];
  });
  return [
    ...drawn,
    ...(single.length === 0 ? [] : [{ name: title, runs: single, original: shownOrNull(baseline[statistic]) }]),
  ];
}

/** Bounds that count something; the others are shares. */
const COUNTS = /Trades$|Differences$|^sweeps/;
/** Bounds on drawdowns, which are below 0 on pages. */
const FALLS = /^drawdown/;
const wordOf = ({ name, must }: Bound): string => WORDS[FALLS.test(name) && must === '>=' ? '<=' : must];
const WORDS = { '>=': 'at least', '<=': 'at most', '>': 'above' } as const;

function boundsSection({ bounds }: RobustnessResult): Html {
  const text = ({ name }: Bound, value: number | null): string =>
    COUNTS.test(name) ? count(value) : percentWithSign(FALLS.test(name) && value !== null ? -value : value);
  const rows = bounds.map(
    (bound) =>
      html`<tr>
        <th scope="row">${inWords(bound.name)}</th>
        <td>${text(bound, bound.value)}</td>
        <td>${wordOf(bound)} ${text(bound, bound.limit)}</td>
        <td class="text ${bound.passed === null ? '' : bound.passed ? 'up' : 'down'}">
          ${bound.passed === null ? 'not measured' : bound.passed ? 'holds' : 'broken'}
        </td>
      </tr>`,
  );
  const headings = [
    { text: 'Bound', isText: true },
    { text: 'Measured' },
    { text: 'Must be' },
    { text: '', isText: true },
  ];
  const note = 'What a robust result must keep, and whether this one does.';
  return section({ id: 'bounds', title: 'Bounds', note }, table(headings, rows));
}

function runsSection({ baseline }: RobustnessResult, reports: readonly ReportedAnalysis[]): Html {
  const row = (title: string, run: AnalysisRow): Html => {
    const change = run.returnPct == null || baseline.returnPct === null ? null : run.returnPct - baseline.returnPct;
    const loses = run.lossProbability === undefined ? '' : `loses in ${percentWithSign(run.lossProbability)}`;
    return html`<tr>
      <th scope="row">${run.name}</th>
      <td class="text">${title}</td>
      ${signedCell(percent(run.returnPct))}${signedCell(percent(change))}
      ${signedCell(percent(run.maxDrawdown == null ? null : -run.maxDrawdown))}
      <td class="text">${run.error?.message ?? loses}</td>
    </tr>`;
  };
  const rows = reports.flatMap(({ title, samples, runs }) => [...samples, ...runs].map((run) => row(title, run)));
  const audits = reports.flatMap(({ title, about, audit }) =>
    audit === null
      ? []
      : [
          html`<p>
            ${title}, ${about}:
            <strong>${audit.passed === null ? 'nothing to compare' : audit.passed ? 'passed' : 'failed'}</strong>
          </p>`,
        ],
  );
  const first = row('', { name: 'the backtest', returnPct: baseline.returnPct, maxDrawdown: baseline.maxDrawdown });
  const headings = [
    { text: 'Run', isText: true },
    { text: 'Analysis', isText: true },
    { text: 'Return', unit: '%' },
    { text: 'Change', unit: 'points' },
    { text: 'Drawdown', unit: '%' },
    { text: '', isText: true },
  ];
  const note = 'Single runs, and the medians of many. Click a heading to sort.';
  return section(
    { id: 'runs', title: 'Runs', note },
    html`${audits}${table(headings, [first, ...rows], trusted(' class="sortable"'))}`,
  );
}

function evidenceSection({ evidence, luck }: RobustnessResult): Html {
  const unit = evidence.unit === 'period' ? 'Periods between rebalances' : 'Positions that a rule closed';
  const rows: readonly (readonly [string, string])[] = [
    [unit, count(evidence.closedPositions)],
    ['of these, not open at the same time', count(evidence.independentTrades)],
    ['Profit of what only the end of the data closed', percentWithSign(evidence.openProfitShare)],
    ['Days', count(luck.days)],
    ['Variants tried', luck.trials === null ? 'not known' : count(luck.trials)],
    ['Best daily Sharpe ratio expected by luck', significant(luck.expectedMaximum)],
    ['Sharpe ratio above 0', percentWithSign(luck.probabilisticSharpe)],
    ['Sharpe ratio above luck', percentWithSign(luck.deflatedSharpe)],
  ];
  const sweeps = luck.sweeps.map(({ name, text }) => html`<p class="lead">Sweep ${name}: ${text}</p>`);
  return section(
    { id: 'evidence', title: 'Evidence' },
    html`<table class="names">
        <tbody>
          ${rows.map(
            ([name, value]) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td>${value}</td>
              </tr>`,
          )}
        </tbody>
      </table>
      ${sweeps}`,
  );
}
