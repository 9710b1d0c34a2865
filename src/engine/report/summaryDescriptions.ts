// What each key of the flat summary says, with its unit, its sign and its range, for schemas (formulas: semantics §5).
import type { FlatKey } from './flatSummary.ts';

/** A share of something: 0.05 is 5 %, also where the key ends in Pct. */
const fraction = (what: string, range: string): string => `${what} A fraction: 0.05 is 5 %. ${range}`;
const money = (what: string): string => `${what} In the quote currency.`;
const barTime = (what: string): string => `${what} Open time of its bar, ms UTC.`;

const GAIN = '-1 or more.';
const SIGNED = 'Below 0 is a loss.';
const SHARE = '0 to 1.';

export const FLAT_DESCRIPTIONS: Readonly<Record<FlatKey, string>> = {
  returnPct: fraction('finalEquity / initialBalance - 1.', SIGNED),
  netProfit: money('finalEquity - initialBalance.'),
  initialBalance: money('As configured.'),
  finalEquity: money('Equity at the close of the last bar.'),
  buyHoldReturnPct: fraction('Last close / first evaluated open - 1; null without bars.', GAIN),
  excessReturnPct: fraction('returnPct - buyHoldReturnPct.', 'Below 0 trails buy and hold.'),
  equityPeak: money('Highest equity at the close of a bar.'),
  cagr: fraction('Compound growth per year; null when finalEquity is not above 0.', GAIN),
  calmarRatio: 'cagr / maxDrawdown; null without a drawdown.',
  recoveryFactor: 'netProfit / the largest drawdown in money; null without one.',
  maxDrawdown: fraction('Largest fall of equity below its peak, relative to the peak.', '0 or more; 0 is none.'),
  avgDrawdown: fraction('Mean depth of the drawdowns; null without any.', '0 or more.'),
  maxDrawdownDurationBars: 'Bars of the longest stretch below a peak.',
  maxDrawdownStart: barTime('Peak of the deepest drawdown.'),
  maxDrawdownEnd: barTime('Trough of the deepest drawdown.'),
  maxDrawdownRecoveredAt:
    'Open time of the bar on which the deepest drawdown recovered; null: it did not, or there was none. ISO 8601, UTC.',
  timeUnderwaterPct: fraction('Bars below the peak / evaluated bars.', SHARE),
  annualVolatility: fraction('Deviation of daily returns, per year.', '0 or more.'),
  sharpeRatio: 'Annualized, risk-free rate 0; null with fewer than two days or without variation.',
  sortinoRatio: 'Annualized, against downside deviation; null without a losing day.',
  omegaRatio: 'Sum of daily gains / sum of daily losses.',
  ulcerIndex: fraction('Root mean square of the drawdowns of daily equity.', '0 or more.'),
  tailRatio: 'The 95th percentile of daily returns / the 5th, in absolute values.',
  var95: fraction('Daily return that one day in twenty falls below.', SIGNED),
  cvar95: fraction('Mean daily return of the worst twentieth.', SIGNED),
  skew: 'Of daily returns.',
  kurtosis: 'Excess kurtosis of daily returns; 0 for a normal distribution.',
  beta: 'Of daily returns against buy and hold.',
  alpha: fraction('Return per year that beta does not explain.', 'Any sign.'),
  probabilisticSharpe: 'Probability that the true Sharpe ratio is above 0. 0 to 1.',
  minTrackRecordDays: 'Days needed for 95 % confidence that the Sharpe ratio is above 0.',
  exposurePct: fraction(
    'Evaluated bars with a position open between the fills at the open and those at the close / evaluated bars.',
    SHARE,
  ),
  turnover: 'totalNotional / mean equity at a close.',
  totalPositions: 'Positions opened; each may close in several trades.',
  longPositions: 'Long ones of totalPositions.',
  shortPositions: 'Short ones of totalPositions.',
  winRate: 'Positions with a profit / positions; null without positions. A fraction, 0 to 1.',
  profitFactor: 'Money won / money lost; null without a loss.',
  expectancy: money('Mean result of a position.'),
  expectancyR: 'Mean result of a position in units of its initial risk (R), over positions with a stop.',
  avgTradePct: fraction('Mean over positions of pnl / entry notional.', SIGNED),
  medianTradePct: fraction('Median over positions of pnl / entry notional.', SIGNED),
  avgWin: money('Mean result of the positions with a profit.'),
  avgLoss: money('Mean result of the positions with a loss; negative.'),
  winLossRatio: 'avgWin / |avgLoss|.',
  bestTradePct: fraction('Highest pnl / entry notional of a position.', SIGNED),
  worstTradePct: fraction('Lowest pnl / entry notional of a position.', SIGNED),
  maxConsecutiveWins: 'Positions of the longest winning streak.',
  maxConsecutiveLosses: 'Positions of the longest losing streak.',
  avgBarsHeld: 'Mean bars from the entry of a position to its last exit.',
  avgMaePct: fraction('Mean over positions of the worst price held through, as a move from the entry.', '0 or less.'),
  avgMfePct: fraction('Mean over positions of the best price held through, as a move from the entry.', '0 or more.'),
  systemQualityNumber: '√n · mean / deviation of the results of n positions.',
  kellyFraction: fraction('Share of equity that maximizes logarithmic growth.', 'Below 0: no edge.'),
  totalFees: money('makerFees + takerFees.'),
  makerFees: money('Fees of maker fills; a rebate is negative.'),
  takerFees: money('Fees of taker fills.'),
  feesPctOfGross: fraction(
    'totalFees / |netProfit + totalFees|, the profit before fees alone; null when that is zero.',
    '1 or more: fees took it all.',
  ),
  slippageCost: money('|Fill price - price before slippage| · quantity, over all fills.'),
  fundingPaid: money('Funding paid, net of what was received.'),
  totalNotional: money('Quantity · fill price, over all fills.'),
};

/** Whether people read the key in percent. */
export const isFraction = (key: FlatKey): boolean => FLAT_DESCRIPTIONS[key].includes('A fraction');
