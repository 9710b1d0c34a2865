// The bounds that a result must keep to be called robust (docs/robustness.md): the rule is written here, once.
import type { RobustnessAnalysis } from './robustnessRequest.ts';
import type { CostStress, RobustnessAnalyses as Found } from './analyses.ts';
import { FEW_POSITIONS } from '../report/diagnosis.ts';
import { MIN_DEFLATED } from '../sweep/verdict.ts';
import { isLuck } from './lineage.ts';

/** A number, and what it must be. */
export interface Bound {
  readonly name: BoundName;
  /** The analysis that measures it; null: the backtest itself and its lineage. */
  readonly analysis: RobustnessAnalysis | null;
  readonly value: number | null;
  readonly must: '>=' | '<=' | '>';
  readonly limit: number;
  /** null: it was not measured, so that it is not known. */
  readonly passed: boolean | null;
}

/** Below this many trades, quantiles of Student's t are more than 4 % beyond those of the normal distribution. */
const MIN_TRADES = FEW_POSITIONS;
/** Random variations of which fewer can be run say nothing; the same rule of thumb. */
export const MIN_RUNS = 30;
const MAX_OPEN_SHARE = 0.5;
/** More losing draws of the positions than this, one in twenty, and a few of them make the result. */
const MAX_TRADE_LOSSES = 0.05;
/** A strategy that loses money on more than this share of the drawn histories may have been lucky with its bars. */
const MAX_LOSSES = 0.25;
/** A small change must keep this share of the return. */
export const KEPT = 0.5;
/** The record that proves a Sharpe ratio grows with 1 / s²: at this share of it, twice the record is needed. */
const KEPT_SHARPE = Math.SQRT1_2;
/** Costs may rise by this factor before a strategy is called fragile; where there are none, to this many bps. */
export const COST_FACTOR = 2;
const COST_BPS = 20;
const MIN_PLATEAU = 0.5;

type BoundName =
  | 'independentTrades'
  | 'openProfitShare'
  | 'deflatedSharpe'
  | 'sweepsCallingItLuck'
  | 'sweepPlateau'
  | 'lookAheadDifferences'
  | 'warmUpDifferences'
  | 'tradeLossProbability'
  | 'drawdownAtExits'
  | 'bootstrapLossProbability'
  | 'returnAtStressedFees'
  | 'returnAtStressedSlippage'
  | 'startShiftKeptReturn'
  | 'jitterKeptReturn'
  | 'jitterKeptSharpe'
  | 'jitterLossProbability';

/** Every bound that applies to the backtest, whether or not its analysis was requested. */
export function boundsOf(found: Found): Bound[] {
  const { evidence, luck, lookAheadAudit: ahead, warmUpAudit: warmUp, monteCarlo, blockBootstrap: drawn } = found;
  const plateau = luck.sweeps.find(({ rank }) => rank !== null)?.plateau;
  const [shortest] = warmUp?.byMultiple ?? [];
  return [
    bound('independentTrades', null, evidence.independentTrades, '>=', MIN_TRADES),
    bound('openProfitShare', null, evidence.openProfitShare, '<=', MAX_OPEN_SHARE),
    bound('deflatedSharpe', null, luck.deflatedSharpe, '>=', MIN_DEFLATED),
    bound('sweepsCallingItLuck', null, luck.sweeps.filter(isLuck).length, '<=', 0),
    ...(plateau == null ? [] : [bound('sweepPlateau', null, plateau, '>=', MIN_PLATEAU)]),
    bound(
      'lookAheadDifferences',
      'lookAheadAudit',
      ahead === undefined || ahead.passed === null
        ? null
        : ahead.signalsDiffering + ahead.tradesDiffering + ahead.equityDiffering,
      '<=',
      0,
    ),
    // Without a bar before the warm-up there is nothing that could differ.
    ...(warmUp?.passed === null
      ? []
      : [
          bound(
            'warmUpDifferences',
            'warmUpAudit',
            shortest === undefined ? null : shortest.signalsDiffering + shortest.tradesDiffering,
            '<=',
            0,
          ),
        ]),
    bound('tradeLossProbability', 'monteCarlo', monteCarlo?.resampled.lossProbability, '<=', MAX_TRADE_LOSSES),
    bound('drawdownAtExits', 'monteCarlo', monteCarlo?.actual.maxDrawdown, '>=', monteCarlo?.shuffled.maxDrawdown.p5),
    bound('bootstrapLossProbability', 'blockBootstrap', enough(drawn, drawn?.lossProbability), '<=', MAX_LOSSES),
    bound('returnAtStressedFees', 'feeStress', stressedReturn(found.feeStress), '>', 0),
    bound('returnAtStressedSlippage', 'slippageStress', stressedReturn(found.slippageStress), '>', 0),
    bound('startShiftKeptReturn', 'startShift', keptByShifts(found), '>=', KEPT),
    ...jitterBounds(found),
  ];
}

/** None where the strategy has no number to move: there is nothing that could be fitted. */
function jitterBounds({ parameterJitter: jitter, baseline }: Found): Bound[] {
  if (jitter === null) return [];
  const kept = (median: number | null | undefined, original: number | null): number | null =>
    median == null || original === null || !(original > 0) ? null : median / original;
  const analysis = 'parameterJitter';
  return [
    bound('jitterKeptReturn', analysis, enough(jitter, kept(jitter?.returnPct.p50, baseline.returnPct)), '>=', KEPT),
    bound(
      'jitterKeptSharpe',
      analysis,
      enough(jitter, kept(jitter?.sharpeRatio.p50, baseline.sharpeRatio)),
      '>=',
      KEPT_SHARPE,
    ),
    bound('jitterLossProbability', analysis, enough(jitter, jitter?.lossProbability), '<=', MAX_LOSSES),
  ];
}

function bound(
  name: BoundName,
  analysis: RobustnessAnalysis | null,
  value: number | null | undefined,
  must: Bound['must'],
  limit: number | null | undefined,
): Bound {
  const known = value == null || limit == null ? null : { value, limit };
  return {
    name,
    analysis,
    value: value ?? null,
    must,
    limit: limit ?? 0,
    passed: known === null ? null : holds(known.value, must, known.limit),
  };
}

function holds(value: number, must: Bound['must'], limit: number): boolean {
  switch (must) {
    case '>=':
      return value >= limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
  }
}

/** The value, where enough of the random variations could be run. */
const enough = (runs: { readonly runs: number } | null | undefined, value: number | null | undefined): number | null =>
  runs == null || runs.runs < MIN_RUNS ? null : (value ?? null);

/** The lowest return at up to twice the cost, or up to 20 bps per fill where there is none. */
function stressedReturn(stress: CostStress | undefined): number | null {
  const returns = (stress?.levels ?? []).flatMap((level) =>
    ('bps' in level ? level.bps <= COST_BPS : level.multiplier > 1 && level.multiplier <= COST_FACTOR) &&
    level.returnPct !== null
      ? [level.returnPct]
      : [],
  );
  return returns.length === 0 ? null : returns.reduce((a, b) => Math.min(a, b));
}

/** The share of the return that the worst later start keeps. */
function keptByShifts({ startShift, baseline: { returnPct } }: Found): number | null {
  const shifts = startShift?.shifts ?? [];
  if (shifts.length === 0 || returnPct === null || !(returnPct > 0)) return null;
  return shifts.reduce((worst, shift) => Math.min(worst, shift.returnPct ?? 0), Infinity) / returnPct;
}
