// Definitions: statistics of daily returns (report/returns.ts computes them).
import type { Statistics } from './statistic.ts';

export const RETURN_STATISTICS = {
  /** sd(ddof 1)·√A. */
  annualVolatility: {
    position: 17,
    about: 'Deviation of daily returns, per year.',
    unit: 'fraction',
    range: '0 or more.',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'lower',
    row: { table: 'risk', place: 50, name: 'Volatility per year' },
  },
  /** mean/sd(ddof 1)·√A [empyrical sharpe_ratio]. */
  sharpeRatio: {
    position: 18,
    about: 'Annualized, risk-free rate 0; null with fewer than two days or without variation.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    isHeadline: true,
    row: { table: 'ratio', place: 10, name: 'Sharpe ratio', about: 'Annualized, risk-free rate 0' },
  },
  /** mean·A / (√mean(min(r,0)²)·√A) over all days [empyrical sortino_ratio]. */
  sortinoRatio: {
    position: 19,
    about: 'Annualized, against downside deviation; null without a losing day.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'ratio', place: 20, name: 'Sortino ratio', about: 'Annualized, against downside deviation' },
  },
  /** Σmax(r,0) / -Σmin(r,0) [empyrical omega_ratio at 0]. */
  omegaRatio: {
    position: 20,
    about: 'Sum of daily gains / sum of daily losses.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'ratio', place: 40, name: 'Omega ratio', about: 'Sum of daily gains / sum of daily losses' },
  },
  /** √(Σdd²/(n-1)) [quantstats ulcer_index]. */
  ulcerIndex: {
    position: 21,
    about: 'Root mean square of the drawdowns of daily equity.',
    unit: 'fraction',
    range: '0 or more.',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'lower',
    row: { table: 'risk', place: 30, name: 'Ulcer index', about: 'Root mean square of daily drawdowns' },
  },
  /** |95th percentile| / |5th percentile| [empyrical tail_ratio]. */
  tailRatio: {
    position: 22,
    about: 'The 95th percentile of daily returns / the 5th, in absolute values.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'ratio', place: 70, name: 'Tail ratio', about: '95th percentile of daily returns / |5th|' },
  },
  /** 5th percentile, linear [empyrical value_at_risk]. */
  var95: {
    position: 23,
    about: 'Daily return that one day in twenty falls below.',
    unit: 'fraction',
    range: 'Below 0 is a loss.',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: {
      table: 'risk',
      place: 60,
      name: 'Value at risk, 95\u00a0%',
      about: 'Daily return that one day in twenty falls below',
    },
  },
  /** Mean of the floor((n-1)·0.05)+1 smallest [empyrical conditional_value_at_risk]. */
  cvar95: {
    position: 24,
    about: 'Mean daily return of the worst twentieth.',
    unit: 'fraction',
    range: 'Below 0 is a loss.',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: {
      table: 'risk',
      place: 70,
      name: 'Expected shortfall, 95\u00a0%',
      about: 'Mean daily return of the worst twentieth',
    },
  },
  /** Bias-corrected [quantstats skew]. */
  skew: {
    position: 25,
    about: 'Of daily returns.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'ratio', place: 80, name: 'Skewness', about: 'Of daily returns' },
  },
  /** Excess, bias-corrected [quantstats kurtosis]. */
  kurtosis: {
    position: 26,
    about: 'Excess kurtosis of daily returns; 0 for a normal distribution.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'ratio', place: 90, name: 'Excess kurtosis', about: 'Of daily returns; 0 for a normal distribution' },
  },
  /** cov(r, b)/var(b), ddof 1. */
  beta: {
    position: 27,
    about: 'Of daily returns against buy and hold.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: { table: 'ratio', place: 100, name: 'Beta', about: 'Against buy and hold' },
  },
  /** (mean r - beta·mean b)·A. */
  alpha: {
    position: 28,
    about: 'Return per year that beta does not explain.',
    unit: 'fraction',
    range: 'Any sign.',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: {
      table: 'return',
      place: 50,
      name: 'Alpha per year',
      about: 'Return that beta does not explain',
      isSigned: true,
    },
  },
  /** Φ((s - 0)·√(n-1)/√(1 - g3·s + (g4-1)/4·s²)) (Bailey and López de Prado 2012). */
  probabilisticSharpe: {
    position: 29,
    about: 'Probability that the true Sharpe ratio is above 0. 0 to 1.',
    unit: 'ratio',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'higher',
    row: {
      table: 'ratio',
      place: 60,
      name: 'Probabilistic Sharpe',
      about: 'Probability that the true Sharpe ratio is above 0 (Bailey and López de Prado)',
    },
  },
  /** 1 + (1 - g3·s + (g4-1)/4·s²)·(1.645/s)², null at s <= 0. */
  minTrackRecordDays: {
    position: 30,
    about: 'Days needed for 95 % confidence that the Sharpe ratio is above 0.',
    unit: 'amount',
    canBeNull: true,
    reads: 'dayMarks',
    better: 'lower',
    row: {
      table: 'count',
      place: 80,
      name: 'Track record needed',
      unit: 'days',
      about: 'For 95 % confidence that the Sharpe ratio is above 0',
    },
  },
} as const satisfies Statistics;
