// The head of the page: which strategy ran on what, at what cost, and the few numbers that readers look at first.
import { policyInForce, symbolsOf, type FeeModel, type ResolvedConfig } from '../../config.ts';
import { slippageKindOf } from '../../definitions/slippage/slippageKinds.ts';
import type { ArtifactNotice, ReportHeading } from '../../task.ts';
import { closeOf } from '../../bars/timeframes.ts';
import { benchmarkName } from '../buyAndHold.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, tone, type Html } from '../kit/html.ts';
import { count, day, fixed, percentWithSign, rate, trimmed, type Precision } from '../kit/numberText.ts';

/** More would fill the heading. */
const MOST_SYMBOLS = 8;

export function titleOf({ report }: CompletedRun, heading: ReportHeading | null): string {
  const { config } = report.input;
  return heading?.strategyName ?? `${marketOf({ report })} ${config.timeframe}`;
}

/** The instruments of a run in a few words. */
export function marketOf({ report }: Pick<CompletedRun, 'report'>): string {
  const symbols = symbolsOf(report.input.config);
  return symbols.length <= MOST_SYMBOLS ? symbols.join(', ') : `${count(symbols.length)} instruments`;
}

export function headingSection(run: CompletedRun, heading: ReportHeading | null, precision: Precision): Html {
  const { input } = run.report;
  const { config } = input;
  const version = heading?.strategyVersion ?? null;
  const facts: readonly (readonly [string, string])[] = [
    ['Market', `${marketOf(run)} ${config.timeframe}`],
    ['Period', periodOf(run)],
    ['Costs', costsOf(config)],
    ['Fills', fillsOf(config)],
    ['Capital', `${fixed(config.initialBalance, 0)} ${input.instrument.quote ?? ''}`.trim()],
    ...parametersOf(config),
    ...(heading?.backtestId ? [['Run', heading.backtestId] as const] : []),
  ];
  return html`<header>
      <p class="eyebrow">Backtest report</p>
      <h1>${titleOf(run, heading)}${version === null ? NOTHING : html` <small>version ${version}</small>`}</h1>
      <dl class="facts">
        ${facts.map(
          ([name, value]) =>
            html`<div>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>
    </header>
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

function costsOf(config: ResolvedConfig): string {
  const { execution, leverage, fundingRate, borrowRatePerYear, dividends = [], dividendColumn } = config;
  const { tiers } = execution.feeModel;
  const [{ makerRate, takerRate }] = tiers;
  const first = makerRate === takerRate ? rate(takerRate) : `maker ${rate(makerRate)}, taker ${rate(takerRate)}`;
  const perOrder = perOrderOf(execution.feeModel);
  const isFree = tiers.every((tier) => tier.makerRate === 0 && tier.takerRate === 0);
  const rates = tiers.length === 1 ? `fees ${first}` : `fees from ${first} in ${tiers.length} tiers`;
  const fees = !isFree ? [rates] : perOrder.length === 0 ? ['no fees'] : [];
  const funding = fundingRate === 0 ? [] : [`funding ${rate(fundingRate)} per 8 h`];
  const borrowing = borrowRatePerYear === undefined ? [] : [`borrowing ${rate(borrowRatePerYear)} per year`];
  const paid = [
    ...(dividends.length === 0 ? [] : [`${count(dividends.length)} dividends`]),
    ...(dividendColumn === undefined ? [] : [`dividends of column ${dividendColumn}`]),
  ];
  const margin = leverage === 1 ? [] : [`leverage ${trimmed(leverage, 2)}×`];
  const { slippage } = execution;
  const slipped = slippageKindOf(slippage).shown(slippage, (number) => trimmed(number, 4));
  return [...fees, ...perOrder, slipped, ...funding, ...borrowing, ...paid, ...margin].join(', ');
}

/** What orders pay beside the rates of the tiers. */
function perOrderOf({ perUnit, perOrder, minPerOrder, maxPerOrder, maxRate }: FeeModel): string[] {
  const amount = (value: number | undefined, text: (amount: string) => string): string[] =>
    value === undefined ? [] : [text(trimmed(value, 6))];
  const limit = maxRate === undefined ? [] : [`at most ${rate(maxRate)} of an order`];
  return [
    ...amount(perUnit, (text) => `fees ${text} per unit`),
    ...amount(perOrder, (text) => `fees ${text} per order`),
    ...amount(minPerOrder, (text) => `at least ${text} per order`),
    ...amount(maxPerOrder, (text) => `at most ${text} per order`),
    ...limit,
  ];
}

function fillsOf(config: ResolvedConfig): string {
  const timing = config.execution.orderTiming === 'next_open' ? 'at the next open' : "at the signal's close";
  return `${timing}; ${policyInForce(config).replace('_', ' ')} inside a bar`;
}

function parametersOf({ params, overrides }: ResolvedConfig): (readonly [string, string])[] {
  const set = { ...params, ...overrides };
  const texts = Object.entries(set).map(([name, value]) => `${name} = ${value}`);
  return texts.length === 0 ? [] : [['Parameters', texts.join(', ')]];
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
