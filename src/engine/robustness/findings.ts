// Findings: what the numbers of a robustness check mean, in plain words, each with the bound that it breaks: those of
// every analysis, and those of the backtest itself and of its lineage.
import { ANALYSES, type ResultsOfAnalyses } from './analyses/registeredAnalyses.ts';
import { MIN_RUNS, type Bound } from './bound.ts';
import { counted, percent, ratio, warning, type Finding, type FindingSeverity } from './finding.ts';
import { isLuck, type Deflation } from './lineage.ts';
import type { RunNumbers } from './checkRuns.ts';
import type { Evidence } from './evidence.ts';

/** Findings that make the verdict luck: so many tries explain the result. */
export const CODES_OF_LUCK: ReadonlySet<string> = new Set(['SWEEP_IS_LUCK', 'TRIALS_EXPLAIN_IT']);
/** Findings after which there is not enough to tell: nothing speaks against the result, and too little for it. */
export const CODES_OF_DOUBT: ReadonlySet<string> = new Set([
  'TOO_FEW_TRADES', 'RECORD_TOO_SHORT', 'TRIALS_UNKNOWN', 'NOT_MEASURED',
]); // prettier-ignore

/** All findings, the worst first. */
export function findingsOf(found: RobustnessAnalyses, bounds: readonly Bound[]): Finding[] {
  const failed = new Map(bounds.flatMap((each) => (each.passed === false ? [[each.name, each] as const] : [])));
  const { baseline } = found;
  const ofAnalyses = ANALYSES.flatMap((analysis) => {
    const result = found[analysis.name];
    return result === undefined ? [] : [analysis.findingsOf(result, baseline, failed)];
  });
  const all = [
    ...ofAnalyses.flatMap(({ faults = [] }) => faults),
    // Without a gain there is nothing that could be luck or fragile.
    ...((baseline.returnPct ?? 0) > 0
      ? [
          ...luck(found, failed),
          ...openPositions(found, failed),
          ...ofAnalyses.flatMap(({ weaknesses = [] }) => weaknesses),
          ...doubts(found, bounds),
        ]
      : []),
    ...ofAnalyses.flatMap(({ remarks = [] }) => remarks),
  ];
  const order: readonly FindingSeverity[] = ['error', 'warning', 'info'];
  return order.flatMap((severity) => all.filter((finding) => finding.severity === severity));
}

type Failed = ReadonlyMap<string, Bound>;

function luck(
  { luck: { sweeps, trials, deflatedSharpe, expectedMaximum }, baseline }: RobustnessAnalyses,
  failed: Failed,
): Finding[] {
  const [sweep] = sweeps.filter(isLuck);
  const list: Finding[] = [];
  if (sweep !== undefined) {
    const place = sweep.rank === null ? 'is a variant of' : `is row ${sweep.rank} of the best of`;
    list.push(
      warning('SWEEP_IS_LUCK', `The backtest ${place} sweep ${sweep.name}, whose verdict is luck: ${sweep.text}`),
    );
  }
  const bound = failed.get('deflatedSharpe');
  if (bound !== undefined && trials !== null && trials > 1)
    list.push(
      warning(
        'TRIALS_EXPLAIN_IT',
        `${counted(trials, 'variant')} of this strategy were tried on this data, and the Sharpe ratio of ` +
          `${ratio(baseline.sharpeRatio)} is above the best that as many without skill would show with a probability ` +
          `of ${percent(deflatedSharpe)} (at least ${percent(bound.limit)} is needed; daily, that best is ` +
          `${expectedMaximum!.toFixed(4)}).`,
      ),
    );
  const cliff = sweeps.find(({ isCliff }) => isCliff);
  if (cliff !== undefined)
    list.push(
      warning(
        'BEST_ON_CLIFF',
        `In sweep ${cliff.name} the row of this backtest is on a cliff: its nearest rows keep ` +
          `${percent(cliff.plateau)} of its lead over the median row (at least 50 % is needed).`,
      ),
    );
  return list;
}

function openPositions({ evidence }: RobustnessAnalyses, failed: Failed): Finding[] {
  const bound = failed.get('openProfitShare');
  if (bound === undefined) return [];
  const open =
    evidence.unit === 'period'
      ? 'The period after the last rebalance, which only the end of the data closed, makes'
      : 'Positions that no rule has closed, only the end of the data, make';
  return [
    warning(
      'OPEN_POSITION_DECIDES',
      `${open} ${percent(bound.value)} of the profit (at most ${percent(bound.limit)} is allowed).`,
    ),
  ];
}

/** The analysis that measures a bound; several bounds of one analysis are named once. */
const measuredBy = ({ name, analysis }: Bound): string => analysis ?? name;

/** What is missing for a verdict. */
function doubts(
  { evidence, luck: { trials, probabilisticSharpe, days } }: RobustnessAnalyses,
  bounds: readonly Bound[],
): Finding[] {
  const of = (name: Bound['name']): Bound | undefined => bounds.find((each) => each.name === name);
  const list: Finding[] = [];
  const few = of('independentTrades');
  if (few?.passed === false)
    list.push(
      warning(
        'TOO_FEW_TRADES',
        evidence.unit === 'period'
          ? `${counted(evidence.independentTrades, 'period')} from one rebalance to the next: at least ` +
              `${few.limit} are needed.`
          : `${counted(evidence.independentTrades, 'independent trade')} of ` +
              `${counted(evidence.closedPositions, 'position')} that a rule closed: at least ` +
              `${few.limit} trades that do not overlap are needed.`,
      ),
    );
  const deflated = of('deflatedSharpe');
  // With one try, or as if there had been one: more of them only lower it.
  if (deflated !== undefined && (trials === 1 || trials === null) && (probabilisticSharpe ?? 0) < deflated.limit)
    list.push(
      warning(
        'RECORD_TOO_SHORT',
        `Over ${counted(days ?? 0, 'day')} the Sharpe ratio is above 0 with a probability of ` +
          `${percent(probabilisticSharpe)} (at least ${percent(deflated.limit)} is needed).`,
      ),
    );
  if (trials === null)
    list.push(
      warning(
        'TRIALS_UNKNOWN',
        'How many variants were tried before this one is not known: state it (--trials COUNT, or --sweep FILE with ' +
          'the result of the sweep that it comes from).',
      ),
    );
  const missing = bounds.filter(
    ({ name, passed }) => passed === null && !(name === 'deflatedSharpe' && trials === null),
  );
  if (missing.length > 0)
    list.push(
      warning(
        'NOT_MEASURED',
        `Not measured: ${[...new Set(missing.map(measuredBy))].join(', ')}. Request these analyses, with at least ` +
          `${MIN_RUNS} samples and bars enough for them.`,
      ),
    );
  return list;
}

/** The analyses that were requested; the others are absent. */
export interface RobustnessAnalyses extends ResultsOfAnalyses {
  readonly seed: number;
  readonly baseline: RunNumbers;
  readonly evidence: Omit<Evidence, 'sample' | 'firstSignalBars'>;
  readonly luck: Deflation;
}
