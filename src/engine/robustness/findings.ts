// Findings: what the numbers of a robustness check mean, in plain words, each with the bound that it breaks.
import type { RobustnessAnalyses as Found } from './analyses.ts';
import { COST_FACTOR, MIN_RUNS, type Bound } from './robustBounds.ts';
import { isLuck } from './lineage.ts';

type FindingSeverity = 'error' | 'warning' | 'info';
export interface Finding {
  readonly code: string;
  readonly severity: FindingSeverity;
  readonly message: string;
}
/** Findings that make the verdict luck: so many tries explain the result. */
export const CODES_OF_LUCK: ReadonlySet<string> = new Set(['SWEEP_IS_LUCK', 'TRIALS_EXPLAIN_IT']);
/** Findings after which there is not enough to tell: nothing speaks against the result, and too little for it. */
export const CODES_OF_DOUBT: ReadonlySet<string> = new Set([
  'TOO_FEW_TRADES', 'RECORD_TOO_SHORT', 'TRIALS_UNKNOWN', 'NOT_MEASURED',
]); // prettier-ignore

/** All findings, the worst first. */
export function findingsOf(found: Found, bounds: readonly Bound[]): Finding[] {
  const failed = new Map(bounds.flatMap((each) => (each.passed === false ? [[each.name, each] as const] : [])));
  const all = [
    ...audits(found),
    // Without a gain there is nothing that could be luck or fragile.
    ...(isProfitable(found)
      ? [
          ...luck(found, failed),
          ...openPositions(failed),
          ...trades(found, failed),
          ...bars(found, failed),
          ...costs(found),
          ...shifts(found, failed),
          ...parameters(found, failed),
          ...doubts(found, bounds),
        ]
      : []),
    ...remarks(found),
    ...counterfactuals(found),
  ];
  const order: readonly FindingSeverity[] = ['error', 'warning', 'info'];
  return order.flatMap((severity) => all.filter((finding) => finding.severity === severity));
}

type Failed = ReadonlyMap<string, Bound>;

export const percent = (fraction: number | null): string =>
  fraction === null ? 'nothing' : `${(100 * fraction).toFixed(1)} %`;
const ratio = (value: number | null): string => (value === null ? 'nothing' : value.toFixed(2));
const warning = (code: string, message: string): Finding => ({ code, severity: 'warning', message });
const info = (code: string, message: string): Finding => ({ code, severity: 'info', message });
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
const isProfitable = ({ baseline }: Found): boolean => (baseline.returnPct ?? 0) > 0;

function audits({ lookAheadAudit: ahead, warmUpAudit: warmUp }: Found): Finding[] {
  const list: Finding[] = [];
  if (ahead?.passed === false) {
    const where =
      ahead.first === null ? '' : `; first ${ahead.first.rule} at ${new Date(ahead.first.time).toISOString()}`;
    const message =
      `The run looks ahead: on bars that end earlier, ${counted(ahead.signalsDiffering, 'signal')} and ` +
      `${counted(ahead.tradesDiffering, 'trade')} before the end are different${where}.`;
    list.push({ code: 'LOOKS_AHEAD', severity: 'error', message });
  }
  if (warmUp?.passed === false) {
    const [shortest] = warmUp.byMultiple;
    const enough = warmUp.enoughBars === null ? 'No tested length is enough' : `${warmUp.enoughBars} bars are enough`;
    list.push(
      warning(
        'WARMUP_TOO_SHORT',
        `With only the ${counted(warmUp.warmupBars, 'bar')} of the warm-up before the start, ` +
          `${counted(shortest.signalsDiffering, 'signal')} and ${counted(shortest.tradesDiffering, 'trade')} are ` +
          `different. ${enough}; set settings.warmupPeriod.`,
      ),
    );
  }
  return list;
}

function luck(
  { luck: { sweeps, trials, deflatedSharpe, expectedMaximum }, baseline }: Found,
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

function openPositions(failed: Failed): Finding[] {
  const bound = failed.get('openProfitShare');
  if (bound === undefined) return [];
  return [
    warning(
      'OPEN_POSITION_DECIDES',
      `Positions that no rule has closed, only the end of the data, make ${percent(bound.value)} of the profit (at ` +
        `most ${percent(bound.limit)} is allowed).`,
    ),
  ];
}

function trades({ monteCarlo }: Found, failed: Failed): Finding[] {
  if (monteCarlo == null) return [];
  const { shuffled, resampled, actual } = monteCarlo;
  const list: Finding[] = [];
  const losses = failed.get('tradeLossProbability');
  if (losses !== undefined)
    list.push(
      warning(
        'TRADES_LUCKY',
        `Drawn again at random, the positions lose money in ${percent(resampled.lossProbability)} of ` +
          `${monteCarlo.samples} draws (at most ${percent(losses.limit)} is allowed): a few of them make the result.`,
      ),
    );
  if (failed.has('drawdownAtExits'))
    list.push(
      warning(
        'DRAWDOWN_LUCKY',
        `The order of the trades was lucky: measured at exits, the drawdown was ${percent(actual.maxDrawdown)}; in ` +
          `another order expect ${percent(shuffled.maxDrawdown.p50)}, and ` +
          `${percent(shuffled.maxDrawdown.p95)} in one order of twenty.`,
      ),
    );
  return list;
}

function bars({ blockBootstrap: drawn }: Found, failed: Failed): Finding[] {
  const bound = failed.get('bootstrapLossProbability');
  if (drawn === undefined || bound === undefined) return [];
  return [
    warning(
      'BARS_LUCKY',
      `On ${drawn.runs} histories made of blocks of the same bars, it loses money in ` +
        `${percent(drawn.lossProbability)} (at most ${percent(bound.limit)} is allowed); the median return is ` +
        `${percent(drawn.returnPct.p50)} instead of ${percent(drawn.original?.returnPct ?? null)}.`,
    ),
  ];
}

function costs(found: Found): Finding[] {
  return (['feeStress', 'slippageStress'] as const).flatMap((analysis) => {
    const stress = found[analysis];
    if (stress === undefined || stress.breakEven === null) return [];
    const what = analysis === 'feeStress' ? 'fees' : 'slippage';
    const code = analysis === 'feeStress' ? 'FEES_DECIDE' : 'SLIPPAGE_DECIDES';
    const isMultiple = stress.levels.some((level) => 'multiplier' in level);
    const limit = stress.breakEven.toPrecision(2);
    const message = isMultiple
      ? `The gain is gone at ${limit} times the ${what}.`
      : `The gain is gone at ${what} of ${limit} bps per fill; the config has none.`;
    return [!isMultiple || stress.breakEven <= COST_FACTOR ? warning(code, message) : info(code, message)];
  });
}

function shifts({ startShift, baseline }: Found, failed: Failed): Finding[] {
  const bound = failed.get('startShiftKeptReturn');
  if (startShift === undefined || bound === undefined) return [];
  const worst = startShift.shifts.reduce((a, b) => ((b.returnPct ?? 0) < (a.returnPct ?? 0) ? b : a));
  return [
    warning(
      'START_DECIDES',
      `Started ${counted(worst.bars, 'bar')} later it returns ${percent(worst.returnPct)} instead of ` +
        `${percent(baseline.returnPct)} (at least ${percent(bound.limit)} of that is needed).`,
    ),
  ];
}

function parameters({ parameterJitter: jitter, baseline }: Found, failed: Failed): Finding[] {
  if (jitter == null) return [];
  const [kept, sharpe, losses] = ['jitterKeptReturn', 'jitterKeptSharpe', 'jitterLossProbability'].map((name) =>
    failed.get(name),
  );
  const parts = [
    kept &&
      `the median return is ${percent(jitter.returnPct.p50)} instead of ${percent(baseline.returnPct)} (at least ` +
        `${percent(kept.limit)} of that is needed)`,
    sharpe &&
      `the median Sharpe ratio is ${ratio(jitter.sharpeRatio.p50)} instead of ${ratio(baseline.sharpeRatio)} (at ` +
        `least ${percent(sharpe.limit)} of that is needed)`,
    losses && `${percent(jitter.lossProbability)} of the runs lose money (at most ${percent(losses.limit)} is allowed)`,
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return [];
  return [warning('PARAMETERS_DECIDE', `With its numbers moved a little, ${parts.join(', and ')}.`)];
}

/** The analysis that measures a bound; several bounds of one analysis are named once. */
const measuredBy = ({ name, analysis }: Bound): string => analysis ?? name;

/** What is missing for a verdict. */
function doubts({ evidence, luck: { trials, probabilisticSharpe, days } }: Found, bounds: readonly Bound[]): Finding[] {
  const of = (name: Bound['name']): Bound | undefined => bounds.find((each) => each.name === name);
  const list: Finding[] = [];
  const few = of('independentTrades');
  if (few?.passed === false)
    list.push(
      warning(
        'TOO_FEW_TRADES',
        `${counted(evidence.independentTrades, 'independent trade')} of ` +
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

function remarks({ monteCarlo, parameterJitter }: Found): Finding[] {
  return [
    ...(monteCarlo === null
      ? [info('TOO_FEW_POSITIONS', 'Fewer than two positions: trades cannot be reordered.')]
      : []),
    ...(parameterJitter === null ? [info('NO_PARAMETERS', 'The strategy has no number that could be moved.')] : []),
  ];
}

const COSTS: readonly string[] = ['fees', 'slippage', 'funding'];

function counterfactuals({ counterfactuals: rows = [], baseline }: Found): Finding[] {
  return rows.flatMap((row) => {
    if ('error' in row || COSTS.includes(row.without)) return [];
    const isBetter =
      (row.returnPct ?? 0) > (baseline.returnPct ?? 0) && (row.maxDrawdown ?? 0) <= (baseline.maxDrawdown ?? 0);
    if (!isBetter) return [];
    const message =
      `Without ${row.without} it returns ${percent(row.returnPct)} instead of ${percent(baseline.returnPct)}, with a ` +
      'drawdown that is no larger: on these bars the rule only costs.';
    return [info('RULE_ONLY_COSTS', message)];
  });
}
