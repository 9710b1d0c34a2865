// How certain a Sharpe ratio is: the probability that the true one is above a threshold, and the days needed to tell
// (semantics §5.4).
import type { Shape } from './moments.ts';
import { normalCdf } from './normal.ts';

/** The Sharpe ratio of daily returns and their shape; population moments, not annualized. */
export interface SharpeSample extends Shape {
  readonly sharpe: number;
  readonly days: number;
}

/** PSR(s*): the probability that the true Sharpe ratio is above the threshold (Bailey and López de Prado 2012). */
export function probabilisticSharpe(sample: SharpeSample, threshold: number): number | null {
  const { sharpe, days } = sample;
  const spread = spreadOf(sample);
  return spread > 0 && days > 1 ? normalCdf(((sharpe - threshold) * Math.sqrt(days - 1)) / Math.sqrt(spread)) : null;
}

/** Days until the probability reaches 0.95; null if the Sharpe ratio is not positive. */
export function minTrackRecord(sample: SharpeSample): number | null {
  const { sharpe } = sample;
  const spread = spreadOf(sample);
  return sharpe > 0 && spread > 0 ? 1 + spread * (1.645 / sharpe) ** 2 : null;
}

const spreadOf = ({ sharpe, skew, kurtosis }: SharpeSample): number =>
  1 - skew * sharpe + ((kurtosis - 1) / 4) * sharpe * sharpe;
