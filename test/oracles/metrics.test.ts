// Statistics of returns against empyrical, quantstats, vectorbt and ffn, wherever the convention is the same.
import { describe, expect, it } from 'vitest';
import { drawdownStatistics } from '../../src/engine/report/drawdown.ts';
import { mean, standardDeviation } from '../../src/engine/report/moments.ts';
import type { BlockValues } from '../../src/engine/definitions/statistics/statistics.ts';
import { cagr, returnStatistics } from '../../src/engine/report/returns.ts';
import { returnSums } from '../../src/engine/report/returnSums.ts';
import { readOracle } from './shared.ts';

interface Series {
  readonly series: string;
  readonly annualization: number;
  readonly timestamps: readonly number[];
  readonly prices: readonly number[];
  readonly metrics: readonly { readonly lib: string; readonly metric: string; readonly value: number }[];
}
const { series } = readOracle<{ series: Series[] }>('metrics');

/**
 * Peer's name of a statistic → ours. Left out: other conventions (parametric VaR, the arithmetic recovery factor,
 * returns of bars, not trades).
 */
const SAME: Readonly<Record<string, keyof BlockValues<'returns'>>> = {
  'empyrical annual_volatility': 'annualVolatility',
  'quantstats volatility': 'annualVolatility',
  'empyrical sharpe_ratio': 'sharpeRatio',
  'quantstats sharpe': 'sharpeRatio',
  'vectorbt sharpe_ratio': 'sharpeRatio',
  'ffn calc_sharpe': 'sharpeRatio',
  'empyrical sortino_ratio': 'sortinoRatio',
  'quantstats sortino': 'sortinoRatio',
  'vectorbt sortino_ratio': 'sortinoRatio',
  'ffn calc_sortino_ratio': 'sortinoRatio',
  'empyrical omega_ratio': 'omegaRatio',
  'vectorbt omega_ratio': 'omegaRatio',
  'empyrical tail_ratio': 'tailRatio',
  'empyrical value_at_risk 5%': 'var95',
  'empyrical conditional_value_at_risk 5%': 'cvar95',
  'quantstats ulcer_index': 'ulcerIndex',
  'quantstats skew': 'skew',
  'quantstats kurtosis': 'kurtosis',
};
const DRAWDOWNS = ['empyrical max_drawdown', 'quantstats max_drawdown', 'ffn calc_max_drawdown'];

/** vectorbt and ffn go by way of pandas, which loses a digit or two. */
const expectNear = (ours: number | null, peer: number): void =>
  expect(Math.abs(ours! - peer), `${ours} against ${peer}`).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(peer)));

describe.each(series.map((each) => [each.series, each] as const))(
  '%s',
  (_, { prices, timestamps, annualization, metrics }) => {
    const equity = Float64Array.from(prices.slice(1));
    const returns = equity.map((value, index) => value / prices[index] - 1);
    const benchmark = () => ({ returns, mean: mean(returns), variance: standardDeviation(returns)! ** 2 });
    const sums = returnSums(equity, new Float64Array(equity.length), prices[0]);
    const daily = { day: Float64Array.from(timestamps.slice(1)), equity, returns, sums, benchmark };
    const ours = returnStatistics(daily, annualization);
    const peer = metrics.map((metric) => ({ ...metric, name: `${metric.lib} ${metric.metric}` }));

    it.each(peer.filter(({ name }) => name in SAME))('equals $name', ({ name, value }) =>
      expectNear(ours[SAME[name]], value),
    );

    it.each(peer.filter(({ name }) => DRAWDOWNS.includes(name)))('equals $name', ({ value }) =>
      expectNear(-drawdownStatistics(equity, prices[0]).maxDrawdown, value),
    );

    it.each(peer.filter(({ name }) => name === 'ffn calc_cagr'))('equals $name', ({ value }) =>
      expectNear(cagr(prices[0], prices.at(-1)!, timestamps[0], timestamps.at(-1)!), value),
    );

    it('measures a beta of 1 and an alpha of 0 against itself', () => {
      expectNear(ours.beta, 1);
      expect(Math.abs(ours.alpha!)).toBeLessThan(1e-9);
    });
  },
);
