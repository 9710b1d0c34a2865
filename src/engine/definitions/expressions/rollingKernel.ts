// The kernel of each rolling operation.
import { zscore } from '../../indicators/windowStatistics.ts';
import { rollingMax, rollingMin } from '../../kernels/rollingExtremes.ts';
import { percentileRank } from '../../indicators/ranks.ts';
import { rollingMean, rollingSum } from '../../kernels/rollingSums.ts';
import { rollingVariance } from '../../kernels/rollingVariance.ts';
import { rollingQuantile, rollingRowsAgo, rollingSlope } from '../../kernels/rollingRanks.ts';
import type { SharedValueOperation } from './planSteps.ts';

/**
 * One rolling operation over present values. Rows before the window is full are left as they are. An operation with the
 * name of an indicator means the same as that indicator.
 */
export function rollingKernel(
  step: SharedValueOperation & { op: 'rolling' },
  source: Float64Array,
  out: Float64Array,
  poll?: () => void,
): void {
  const { period } = step;
  switch (step.rolling) {
    case 'sum':
      return rollingSum(source, 0, period, out);
    case 'avg':
      return rollingMean(source, 0, period, out);
    case 'var':
      return rollingVariance(source, 0, period, out);
    case 'std':
      rollingVariance(source, 0, period, out);
      for (let row = 0; row < out.length; row++) out[row] = Math.sqrt(out[row]);
      return;
    case 'zscore':
      return zscore.compute([source], { length: period, ddof: 1 }, [out]);
    case 'percentile_rank':
      return percentileRank.compute([source], { length: period }, [out], poll);
    case 'max':
      return rollingMax(source, 0, period, out);
    case 'min':
      return rollingMin(source, 0, period, out);
    case 'argmax':
      return rollingRowsAgo(source, period, 'max', out);
    case 'argmin':
      return rollingRowsAgo(source, period, 'min', out);
    case 'median':
      return rollingQuantile(source, period, 0.5, out, poll);
    case 'quantile':
      return rollingQuantile(source, period, step.quantile, out, poll);
    case 'slope':
      return rollingSlope(source, period, out, poll);
  }
}
