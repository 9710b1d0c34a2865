// Cost stress: the result of a backtest at several levels of one cost, for the stress of fees and that of slippage.
import { bound, type Bound } from '../bound.ts';
import type { RunNumbers } from '../checkRuns.ts';
import { info, warning } from '../finding.ts';
import type { StressLevel } from '../stress.ts';
import type { AnalysisFindings, EndedParts, AnalysisRow } from './analysis.ts';
import { runOf, runRow } from './partOutcomes.ts';

export interface CostStress {
  readonly levels: readonly (StressLevel & RunNumbers)[];
  /**
   * The multiple, or the bps, at which the return reaches zero, by linear interpolation; null: not within the levels.
   */
  readonly breakEven: number | null;
}

/** Costs may rise by this factor before a strategy is called fragile; where there are none, to this many bps. */
const COST_FACTOR = 2;
const COST_BPS = 20;

export function costStress(levels: readonly StressLevel[], { outcomes, baseline }: EndedParts): CostStress {
  const rows = levels.flatMap((level, at) => {
    const run = runOf(outcomes[at]);
    return run === null ? [] : [{ ...level, ...run }];
  });
  const own: StressLevel = levels.some((level) => 'bps' in level) ? { bps: 0 } : { multiplier: 1 };
  return { levels: rows, breakEven: breakEvenOf([...rows, { ...own, ...baseline }]) };
}

/** Where the return first falls to zero as the cost rises, by linear interpolation; null: it does not. */
function breakEvenOf(rows: CostStress['levels']): number | null {
  const points = rows
    .map((row) => ({ cost: 'bps' in row ? row.bps : row.multiplier, gain: row.returnPct ?? NaN }))
    .sort((a, b) => a.cost - b.cost);
  for (let at = 1; at < points.length; at++) {
    const [low, high] = [points[at - 1], points[at]];
    if (low.gain > 0 && high.gain <= 0) return low.cost + ((high.cost - low.cost) * low.gain) / (low.gain - high.gain);
  }
  return null;
}

/** The bound on the lowest return at up to twice the cost, or up to 20 bps per fill where there is none. */
export function costBound(name: string, analysis: string, stress: CostStress | undefined): Bound {
  const returns = (stress?.levels ?? []).flatMap((level) =>
    ('bps' in level ? level.bps <= COST_BPS : level.multiplier > 1 && level.multiplier <= COST_FACTOR) &&
    level.returnPct !== null
      ? [level.returnPct]
      : [],
  );
  return bound(name, analysis, returns.length === 0 ? null : returns.reduce((a, b) => Math.min(a, b)), '>', 0);
}

/** @param cost as messages call it */
export function costFindings(code: string, cost: string, { levels, breakEven }: CostStress): AnalysisFindings {
  if (breakEven === null) return {};
  const isMultiple = levels.some((level) => 'multiplier' in level);
  const limit = breakEven.toPrecision(2);
  const message = isMultiple
    ? `The gain is gone at ${limit} times the ${cost}.`
    : `The gain is gone at ${cost} of ${limit} bps per fill; the config has none.`;
  return { weaknesses: [!isMultiple || breakEven <= COST_FACTOR ? warning(code, message) : info(code, message)] };
}

export const costRows = (cost: string, { levels }: CostStress): AnalysisRow[] =>
  levels.map((level) =>
    runRow('multiplier' in level ? `${cost} × ${level.multiplier}` : `${cost} + ${level.bps} bps`, level),
  );
