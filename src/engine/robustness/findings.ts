// Findings: what the numbers of a robustness check mean, in plain words, and the verdict they add up to.
import type { RobustnessAnalyses as Found } from './analyses.ts';

type FindingSeverity = 'error' | 'warning' | 'info';
export interface Finding {
  readonly code: string;
  readonly severity: FindingSeverity;
  readonly message: string;
}
export interface RobustnessVerdict {
  /** `broken`: it looks ahead; `unprofitable`: there is no gain to defend; `fragile`: there are warnings. */
  readonly code: 'broken' | 'unprofitable' | 'fragile' | 'robust';
  readonly text: string;
}

/** A strategy that loses money on more than this share of the drawn histories may have been lucky with its bars. */
const MAX_LOSS_PROBABILITY = 0.25;
/** The same bound for the draws of its positions. */
const MAX_TRADE_LOSS_PROBABILITY = 0.05;
/** A small change must keep this share of the return. */
const KEPT = 0.5;
/** Costs may rise by this factor before a strategy is called fragile. */
const COST_FACTOR = 2;

/** All findings, the worst first. */
export function findingsOf(found: Found): Finding[] {
  const all = [
    ...audits(found),
    ...trades(found),
    ...bars(found),
    ...costs(found),
    ...shifts(found),
    ...parameters(found),
    ...counterfactuals(found),
  ];
  const order: readonly FindingSeverity[] = ['error', 'warning', 'info'];
  return order.flatMap((severity) => all.filter((finding) => finding.severity === severity));
}

/** The verdict: `broken` by an error, `unprofitable` without a gain, `robust` without a warning, else `fragile`. */
export function verdictOf({ baseline }: Found, findings: readonly Finding[]): RobustnessVerdict {
  const worst = findings.filter(({ severity }) => severity !== 'info');
  const [first] = worst;
  if (first?.severity === 'error') return { code: 'broken', text: `Do not use this result. ${first.message}` };
  const gain = baseline.returnPct ?? 0;
  if (!(gain > 0)) {
    const earned = gain === 0 ? 'earns nothing' : `loses ${gain > -0.0005 ? 'less than 0.1 %' : percent(-gain)}`;
    return { code: 'unprofitable', text: `The backtest ${earned}: there is no gain whose robustness could be tested.` };
  }
  if (first === undefined) {
    const remarks =
      findings.length === 0
        ? ''
        : ` ${findings.length === 1 ? 'One finding' : `${findings.length} findings`} of severity info should be read.`;
    return { code: 'robust', text: `None of the requested analyses found a weakness.${remarks}` };
  }
  const count = worst.length === 1 ? 'One weakness found.' : `${worst.length} weaknesses found; this is the first.`;
  return { code: 'fragile', text: `${count} ${first.message}` };
}

const percent = (fraction: number | null): string =>
  fraction === null ? 'nothing' : `${(100 * fraction).toFixed(1)} %`;
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

function trades(found: Found): Finding[] {
  const { monteCarlo } = found;
  if (monteCarlo === undefined) return [];
  if (monteCarlo === null) return [info('TOO_FEW_POSITIONS', 'Fewer than two positions: trades cannot be reordered.')];
  const { shuffled, resampled, actual } = monteCarlo;
  const list: Finding[] = [];
  if (isProfitable(found) && (resampled.lossProbability ?? 0) > MAX_TRADE_LOSS_PROBABILITY)
    list.push(
      warning(
        'TRADES_LUCKY',
        `Drawn again at random, the positions lose money in ${percent(resampled.lossProbability)} of ` +
          `${monteCarlo.samples} draws: a few of them make the result.`,
      ),
    );
  if (actual.maxDrawdown < (shuffled.maxDrawdown.p5 ?? 0))
    list.push(
      warning(
        'DRAWDOWN_LUCKY',
        `The order of the trades was lucky: the drawdown was ${percent(actual.maxDrawdown)}; in another order expect ` +
          `${percent(shuffled.maxDrawdown.p50)}, and ${percent(shuffled.maxDrawdown.p95)} in one order of twenty.`,
      ),
    );
  return list;
}

function bars(found: Found): Finding[] {
  const { blockBootstrap: drawn } = found;
  if (drawn === undefined || !isProfitable(found) || (drawn.lossProbability ?? 0) <= MAX_LOSS_PROBABILITY) return [];
  return [
    warning(
      'BARS_LUCKY',
      `On ${drawn.runs} histories made of blocks of the same bars, it loses money in ` +
        `${percent(drawn.lossProbability)}; the median return is ${percent(drawn.returnPct.p50)} instead of ` +
        `${percent(found.baseline.returnPct)}.`,
    ),
  ];
}

function costs(found: Found): Finding[] {
  if (!isProfitable(found)) return [];
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

function shifts(found: Found): Finding[] {
  const rows = found.startShift?.shifts ?? [];
  if (!isProfitable(found) || rows.length === 0) return [];
  const needed = KEPT * (found.baseline.returnPct ?? 0);
  const worst = rows.reduce((a, b) => ((b.returnPct ?? 0) < (a.returnPct ?? 0) ? b : a));
  if ((worst.returnPct ?? 0) >= needed) return [];
  return [
    warning(
      'START_DECIDES',
      `Started ${counted(worst.bars, 'bar')} later it returns ${percent(worst.returnPct)} ` +
        `instead of ${percent(found.baseline.returnPct)}.`,
    ),
  ];
}

function parameters(found: Found): Finding[] {
  const { parameterJitter: jitter } = found;
  if (jitter === undefined || !isProfitable(found)) return [];
  if (jitter === null) return [info('NO_PARAMETERS', 'The strategy has no number that could be moved.')];
  const median = jitter.returnPct.p50;
  if (median === null || median >= KEPT * (found.baseline.returnPct ?? 0)) return [];
  return [
    warning(
      'PARAMETERS_DECIDE',
      `With its numbers moved a little, the median return is ${percent(median)} instead of ` +
        `${percent(found.baseline.returnPct)}, and ${percent(jitter.lossProbability)} of the runs lose money.`,
    ),
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
