// The head of the page: which strategy ran on what, at what cost, and the few numbers that readers look at first.
import type { ArtifactNotice, ReportHeading } from '../../task.ts';
import { closeOf } from '../../bars/timeframes.ts';
import { benchmarkName } from '../buyAndHold.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, tone, type Html } from '../kit/html.ts';
import { count, day, fixed, percentWithSign, type Precision } from '../kit/numberText.ts';
import { configFacts, marketText, pageHeader, type Fact } from '../kit/runFacts.ts';

export function titleOf({ report }: CompletedRun, heading: ReportHeading | null): string {
  const { config } = report.input;
  return heading?.strategyName ?? `${marketOf({ report })} ${config.timeframe}`;
}

/** The instruments of a run in a few words. */
export const marketOf = ({ report }: Pick<CompletedRun, 'report'>): string => marketText(report.input.config);

export function headingSection(run: CompletedRun, heading: ReportHeading | null, precision: Precision): Html {
  const { input } = run.report;
  const { config } = input;
  const version = heading?.strategyVersion ?? null;
  const facts: readonly Fact[] = [
    ['Market', `${marketOf(run)} ${config.timeframe}`],
    ['Period', periodOf(run)],
    ...configFacts(config, input.instrument.quote),
    ...(heading?.backtestId ? [['Run', heading.backtestId] as const] : []),
  ];
  const about = version === null ? null : `version ${version}`;
  return html`${pageHeader({ kind: 'Backtest report', title: titleOf(run, heading), about, facts })}
  ${headline(run, precision)}`;
}

export const noticeSection = (notice: ArtifactNotice | null): Html =>
  notice === null
    ? NOTHING
    : html`<section id="notice" class="note warning">
        <h3>Not the stored result</h3>
        <p>${notice.message}</p>
      </section> `;

function periodOf({ report }: CompletedRun): string {
  const { bars, start, end } = report.input;
  if (end <= start) return 'no bars';
  const last = closeOf(bars.timeframe, bars.time[end - 1]) - 1;
  return `${day(bars.time[start])} to ${day(last)}, ${count(end - start)} bars`;
}

function headline({ summary, report }: CompletedRun, precision: Precision): Html {
  const benchmark = benchmarkName(report.input.config, report.portfolio?.isNamed === true);
  const cards: readonly (readonly [string, string, string, boolean])[] = [
    ['Return', percentWithSign(summary.returnPct), `${benchmark} ${percentWithSign(summary.buyHoldReturnPct)}`, true],
    ['Growth per year', percentWithSign(summary.cagr), `volatility ${percentWithSign(summary.annualVolatility)}`, true],
    [
      'Deepest drawdown',
      percentWithSign(-summary.maxDrawdown),
      recovery(summary.maxDrawdownRecoveredAt, summary.maxDrawdown),
      true,
    ],
    ['Sharpe ratio', fixed(summary.sharpeRatio, 2), `Sortino ${fixed(summary.sortinoRatio, 2)}`, false],
    ['Positions', count(summary.totalPositions), `${percentWithSign(summary.winRate)} won`, false],
    [
      'Profit factor',
      fixed(summary.profitFactor, 2),
      `${fixed(summary.expectancy, precision.money)} per position`,
      false,
    ],
  ];
  return html`<div id="headline" class="cards">
    ${cards.map(
      ([name, value, more, isSigned]) =>
        html`<div class="card">
        <span>${name}</span><strong${isSigned ? tone(value) : NOTHING}>${value}</strong><small>${more}</small>
      </div>`,
    )}
  </div> `;
}

const recovery = (recoveredAt: number | null, depth: number): string =>
  depth === 0 ? 'never below a peak' : recoveredAt === null ? 'not recovered' : `recovered ${day(recoveredAt)}`;
