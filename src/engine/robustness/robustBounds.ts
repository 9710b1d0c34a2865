// The bounds that a result must keep to be called robust (docs/robustness.md): those of the backtest itself and of its
// lineage, and those of every analysis.
import { FEW_POSITIONS } from '../report/diagnosis.ts';
import { MIN_DEFLATED } from '../sweep/verdict.ts';
import { ANALYSES } from './analyses/registeredAnalyses.ts';
import { bound, type Bound } from './bound.ts';
import type { RobustnessAnalyses as Found } from './foundAnalyses.ts';
import { isLuck } from './lineage.ts';

/** Below this many trades, quantiles of Student's t are more than 4 % beyond those of the normal distribution. */
const MIN_TRADES = FEW_POSITIONS;
const MAX_OPEN_SHARE = 0.5;
const MIN_PLATEAU = 0.5;

/** Every bound that applies to the backtest, whether or not its analysis was requested. */
export function boundsOf(found: Found): Bound[] {
  const { evidence, luck, baseline } = found;
  const plateau = luck.sweeps.find(({ rank }) => rank !== null)?.plateau;
  return [
    bound('independentTrades', null, evidence.independentTrades, '>=', MIN_TRADES),
    bound('openProfitShare', null, evidence.openProfitShare, '<=', MAX_OPEN_SHARE),
    bound('deflatedSharpe', null, luck.deflatedSharpe, '>=', MIN_DEFLATED),
    bound('sweepsCallingItLuck', null, luck.sweeps.filter(isLuck).length, '<=', 0),
    ...(plateau == null ? [] : [bound('sweepPlateau', null, plateau, '>=', MIN_PLATEAU)]),
    ...ANALYSES.flatMap((analysis) => analysis.boundsOf(found[analysis.name], baseline)),
  ];
}
