// The verdict of a robustness check: what its findings and bounds add up to (docs/robustness.md).
import type { Bound } from './bound.ts';
import { percent, type Finding } from './finding.ts';
import { CODES_OF_LUCK, CODES_OF_DOUBT } from './findings.ts';
import type { RobustnessAnalyses as Found } from './foundAnalyses.ts';

export interface RobustnessVerdict {
  /**
   * `broken`: it looks ahead; `unprofitable`: there is no gain to defend; `luck`: so many tries explain it, or its
   * sweep calls it luck; `fragile`: a bound is broken; `inconclusive`: not enough to tell; `robust`: every bound holds.
   */
  readonly code: 'broken' | 'unprofitable' | 'luck' | 'fragile' | 'inconclusive' | 'robust';
  readonly text: string;
}

/** The worst that any finding says. */
export function verdictOf(
  { baseline }: Pick<Found, 'baseline'>,
  findings: readonly Finding[],
  bounds: readonly Bound[],
): RobustnessVerdict {
  const [error] = findings.filter(({ severity }) => severity === 'error');
  if (error !== undefined) return { code: 'broken', text: `Do not use this result. ${error.message}` };
  const gain = baseline.returnPct ?? 0;
  if (!(gain > 0)) {
    const earned = gain === 0 ? 'earns nothing' : `loses ${gain > -0.0005 ? 'less than 0.1 %' : percent(-gain)}`;
    return { code: 'unprofitable', text: `The backtest ${earned}: there is no gain whose robustness could be tested.` };
  }
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  const luck = warnings.filter(({ code }) => CODES_OF_LUCK.has(code));
  const doubts = warnings.filter(({ code }) => CODES_OF_DOUBT.has(code));
  const weaknesses = warnings.filter((finding) => !luck.includes(finding) && !doubts.includes(finding));
  if (luck.length > 0) return { code: 'luck', text: `Treat this result as luck. ${luck[0].message}` };
  if (weaknesses.length > 0) {
    const { length } = weaknesses;
    const count = length === 1 ? 'One weakness found.' : `${length} weaknesses found; this is the first.`;
    return { code: 'fragile', text: `${count} ${weaknesses[0].message}` };
  }
  const unmet = bounds.filter(({ passed }) => passed !== true).map(({ name }) => name);
  if (doubts.length > 0 || unmet.length > 0) {
    const reasons = doubts.map(({ message }) => message).join(' ');
    return {
      code: 'inconclusive',
      text: `Not enough to tell. ${reasons === '' ? `Bounds that do not hold: ${unmet.join(', ')}.` : reasons}`,
    };
  }
  const count = findings.length === 1 ? 'One finding' : `${findings.length} findings`;
  const remarks = findings.length === 0 ? '' : ` ${count} of severity info should be read.`;
  return { code: 'robust', text: `All ${bounds.length} bounds hold.${remarks}` };
}
