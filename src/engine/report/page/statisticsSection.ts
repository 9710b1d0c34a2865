// The statistics of a run by name, in tables of one unit each.
import type { Summary } from '../summary.ts';
import { html, NOTHING, section, tone, trusted, type Html } from '../kit/html.ts';
import { fixed, minute, percent, type Precision } from '../kit/numberText.ts';

/** Every member of the summary that is one number. */
type NumberKey = {
  [Key in keyof Summary]-?: Summary[Key] extends number | null ? Key : never;
}[keyof Summary];

type Table = 'return' | 'risk' | 'ratio' | 'position' | 'edge' | 'money' | 'count' | 'date';
interface Statistic {
  readonly table: Table;
  readonly name: string;
  /** A short explanation for readers who do not know the name. */
  readonly about?: string;
  /** Set for gains and losses, which are colored by their sign. */
  readonly isSigned?: true;
}

/** In reading order within each table. The compiler requires an entry for every statistic of the summary. */
const STATISTICS: Readonly<Record<NumberKey, Statistic>> = {
  returnPct: { table: 'return', name: 'Total return', isSigned: true },
  cagr: { table: 'return', name: 'Growth per year', about: 'Compound annual growth rate (CAGR)', isSigned: true },
  buyHoldReturnPct: {
    table: 'return',
    name: 'Buy and hold',
    about: 'From the first open to the last close',
    isSigned: true,
  },
  excessReturnPct: { table: 'return', name: 'Excess over buy and hold', isSigned: true },
  alpha: { table: 'return', name: 'Alpha per year', about: 'Return that beta does not explain', isSigned: true },
  feesPctOfGross: { table: 'return', name: 'Fees, share of profit before fees', about: 'Fees / |net profit + fees|' },
  maxDrawdown: { table: 'risk', name: 'Deepest drawdown', about: 'Largest fall of equity from a peak' },
  avgDrawdown: { table: 'risk', name: 'Average drawdown' },
  ulcerIndex: { table: 'risk', name: 'Ulcer index', about: 'Root mean square of daily drawdowns' },
  timeUnderwaterPct: { table: 'risk', name: 'Time below a peak' },
  annualVolatility: { table: 'risk', name: 'Volatility per year' },
  var95: { table: 'risk', name: 'Value at risk, 95\u00a0%', about: 'Daily return that one day in twenty falls below' },
  cvar95: { table: 'risk', name: 'Expected shortfall, 95\u00a0%', about: 'Mean daily return of the worst twentieth' },
  exposurePct: { table: 'risk', name: 'Time in the market' },
  sharpeRatio: { table: 'ratio', name: 'Sharpe ratio', about: 'Annualized, risk-free rate 0' },
  sortinoRatio: { table: 'ratio', name: 'Sortino ratio', about: 'Annualized, against downside deviation' },
  calmarRatio: { table: 'ratio', name: 'Calmar ratio', about: 'Growth per year / deepest drawdown' },
  omegaRatio: { table: 'ratio', name: 'Omega ratio', about: 'Sum of daily gains / sum of daily losses' },
  recoveryFactor: { table: 'ratio', name: 'Recovery factor', about: 'Net profit / largest drawdown in money' },
  probabilisticSharpe: {
    table: 'ratio',
    name: 'Probabilistic Sharpe',
    about: 'Probability that the true Sharpe ratio is above 0 (Bailey and López de Prado)',
  },
  tailRatio: { table: 'ratio', name: 'Tail ratio', about: '95th percentile of daily returns / |5th|' },
  skew: { table: 'ratio', name: 'Skewness', about: 'Of daily returns' },
  kurtosis: { table: 'ratio', name: 'Excess kurtosis', about: 'Of daily returns; 0 for a normal distribution' },
  beta: { table: 'ratio', name: 'Beta', about: 'Against buy and hold' },
  turnover: { table: 'ratio', name: 'Turnover', about: 'Traded notional / mean equity' },
  winRate: { table: 'position', name: 'Won', about: 'Share of positions with a profit' },
  avgTradePct: { table: 'position', name: 'Average return', isSigned: true },
  medianTradePct: { table: 'position', name: 'Median return', isSigned: true },
  bestTradePct: { table: 'position', name: 'Best', isSigned: true },
  worstTradePct: { table: 'position', name: 'Worst', isSigned: true },
  avgMaePct: { table: 'position', name: 'Average adverse excursion', about: 'Furthest against the position (MAE)' },
  avgMfePct: { table: 'position', name: 'Average favorable excursion', about: 'Furthest in its favor (MFE)' },
  profitFactor: { table: 'edge', name: 'Profit factor', about: 'Money won / money lost' },
  winLossRatio: { table: 'edge', name: 'Win/loss ratio', about: 'Average win / average loss' },
  expectancyR: { table: 'edge', name: 'Expectancy in R', about: 'Mean result in units of the initial risk' },
  systemQualityNumber: { table: 'edge', name: 'System quality number', about: '√n · mean / deviation (Van Tharp)' },
  kellyFraction: { table: 'edge', name: 'Kelly fraction', about: 'Share of equity that maximizes log growth' },
  initialBalance: { table: 'money', name: 'Initial balance' },
  finalEquity: { table: 'money', name: 'Final equity' },
  equityPeak: { table: 'money', name: 'Highest equity' },
  netProfit: { table: 'money', name: 'Net profit', isSigned: true },
  expectancy: { table: 'money', name: 'Average per position', isSigned: true },
  avgWin: { table: 'money', name: 'Average win', isSigned: true },
  avgLoss: { table: 'money', name: 'Average loss', isSigned: true },
  totalFees: { table: 'money', name: 'Fees' },
  makerFees: { table: 'money', name: 'of these, maker' },
  takerFees: { table: 'money', name: 'of these, taker' },
  slippageCost: { table: 'money', name: 'Slippage' },
  fundingPaid: { table: 'money', name: 'Funding paid' },
  totalNotional: { table: 'money', name: 'Traded notional' },
  totalPositions: { table: 'count', name: 'Positions' },
  longPositions: { table: 'count', name: 'Long positions' },
  shortPositions: { table: 'count', name: 'Short positions' },
  maxConsecutiveWins: { table: 'count', name: 'Longest winning streak', about: 'Positions' },
  maxConsecutiveLosses: { table: 'count', name: 'Longest losing streak', about: 'Positions' },
  avgBarsHeld: { table: 'count', name: 'Bars held on average' },
  maxDrawdownDurationBars: { table: 'count', name: 'Bars of the longest drawdown' },
  minTrackRecordDays: {
    table: 'count',
    name: 'Days of track record needed',
    about: 'For 95 % confidence that the Sharpe ratio is above 0',
  },
  maxDrawdownStart: { table: 'date', name: 'Deepest drawdown: peak' },
  maxDrawdownEnd: { table: 'date', name: 'Deepest drawdown: bottom' },
  maxDrawdownRecoveredAt: { table: 'date', name: 'Deepest drawdown: recovered' },
};

interface Style {
  readonly title: string;
  readonly unit: string;
  readonly write: (value: number | null, precision: Precision) => string;
}
const asRatio = (value: number | null): string => fixed(value, 2);
const TABLES: Readonly<Record<Table, (quote: string) => Style>> = {
  return: () => ({ title: 'Return', unit: '%', write: (value) => percent(value) }),
  risk: () => ({ title: 'Risk and exposure', unit: '%', write: (value) => percent(value) }),
  ratio: () => ({ title: 'Ratios', unit: 'no unit', write: asRatio }),
  position: () => ({ title: 'Per position', unit: '%', write: (value) => percent(value) }),
  edge: () => ({ title: 'Edge', unit: 'no unit', write: asRatio }),
  money: (quote) => ({ title: 'Money', unit: quote, write: (value, { money }) => fixed(value, money) }),
  count: () => ({ title: 'Counts', unit: 'count', write: (value) => fixed(value, Number.isInteger(value) ? 0 : 1) }),
  date: () => ({
    title: 'Dates',
    unit: 'UTC',
    write: (value) => (value === null ? '–' : minute(value).replace(' 00:00', '')),
  }),
};

/** @param quote the currency, for the heading of the money table. */
export function statisticsSection(summary: Summary, quote: string, precision: Precision): Html {
  const tables = (Object.keys(TABLES) as Table[]).map((table) => {
    const { title, unit, write } = TABLES[table](quote);
    const rows = (Object.keys(STATISTICS) as NumberKey[])
      .filter((key) => STATISTICS[key].table === table)
      .map((key) => rowOf(STATISTICS[key], write(summary[key] ?? null, precision)));
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

function rowOf({ name, about, isSigned }: Statistic, text: string): Html {
  const hint = about === undefined ? NOTHING : html` title="${about}"`;
  const mark = about === undefined ? NOTHING : trusted(' class="hint"');
  const value = html`<td${isSigned ? tone(text) : NOTHING}>${text}</td>`;
  return html`<tr><th scope="row"${hint}><span${mark}>${name}</span></th>${value}</tr>`;
}
