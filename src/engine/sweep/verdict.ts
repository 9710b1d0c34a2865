// The verdict of a sweep: says in one paragraph, with numbers, whether the best row is more than the luck of many
// tries.

/** The inputs of the verdict, all about the row with the best objective. */
export interface Overfitting {
  /** Variants evaluated: the number of tries that the deflation accounts for. */
  readonly trials: number;
  /** Daily Sharpe ratio of the best row, not annualized. */
  readonly dailySharpe: number | null;
  /** The largest daily Sharpe ratio expected of as many variants without skill. */
  readonly expectedMaximum: number | null;
  readonly probabilisticSharpe: number | null;
  readonly deflatedSharpe: number | null;
  /** Probability of backtest over-fitting; null below 80 days or two variants. */
  readonly overfittingProbability: number | null;
  /** The number of variants it was computed from. */
  readonly variantsCompared: number;
  readonly days: number;
  /** Days until the track record would prove a Sharpe ratio above zero. */
  readonly minTrackRecordDays: number | null;
}

/** All that the workspace has tried of the same strategy on the same data, this sweep included. */
interface WorkspaceTrials {
  readonly trials: number;
  readonly deflatedSharpe: number | null;
}

export interface Verdict {
  readonly code: 'luck' | 'not_luck';
  readonly text: string;
}

/** What the choices of a walk-forward earned on bars that they were not chosen on. */
interface OutOfSample {
  readonly returnPct: number;
  readonly sharpeRatio: number | null;
  readonly coveredShare: number;
  /** The Sharpe ratio of the best row over the whole range, annualized as the other. */
  readonly bestSharpe: number | null;
}

/** The verdict is luck unless all bounds hold (semantics §5.4). */
export const MIN_DEFLATED = 0.95;
const MAX_OVERFITTING = 0.5;
/** A walk-forward must keep this share of the Sharpe ratio (Pardo 2008, "walk-forward efficiency": 50 to 60 %). */
const MIN_KEPT = 0.5;
/** A walk-forward that trades less of its test period than this tests little of the choice. */
const MIN_COVERED = 0.5;
const NOT_LUCK = 'The best variant is probably not luck: ';

/**
 * Whether the best row is more than luck, and why, in one paragraph (semantics §5.4): first what decides, then what
 * speaks against it. A walk-forward can take a verdict away, and never gives one.
 * @param hasBest whether any row is ranked
 * @param workspace null if not known; else its deflated Sharpe ratio, which is the stricter one, decides.
 * @param outOfSample null without a walk-forward
 */
export function verdictOf(
  found: Overfitting,
  hasBest: boolean,
  workspace: WorkspaceTrials | null,
  outOfSample: OutOfSample | null = null,
): Verdict {
  const inSample = inSampleVerdict(found, hasBest, workspace);
  const tested = outOfSample && testedOutOfSample(outOfSample);
  if (tested === null || (workspace?.deflatedSharpe ?? found.deflatedSharpe) === null) return inSample;
  const { passed, text } = tested;
  if (inSample.code === 'luck') {
    const how = passed ? 'It does hold out of sample' : 'It does not hold out of sample, either';
    return { code: 'luck', text: `${inSample.text} ${how}: ${text}.` };
  }
  if (passed) return { code: 'not_luck', text: `${inSample.text} It holds out of sample, too: ${text}.` };
  return {
    code: 'luck',
    text: `Treat the best variant as luck: ${text}. ${inSample.text.replace(NOT_LUCK, 'In sample it would pass: ')}`,
  };
}

/** Whether the choices of the folds earned enough on enough bars. */
function testedOutOfSample({ returnPct, sharpeRatio, coveredShare, bestSharpe }: OutOfSample) {
  if (coveredShare < MIN_COVERED)
    return {
      passed: false,
      text:
        `the walk-forward traded ${percentBeside(coveredShare, MIN_COVERED)} of its test period (at least ` +
        `${percent(MIN_COVERED)} is needed)`,
    };
  const needed = MIN_KEPT * (bestSharpe ?? 0);
  const passed = returnPct > 0 && sharpeRatio !== null && sharpeRatio >= needed;
  const shown = sharpeRatio === null ? 'no Sharpe ratio' : `a Sharpe ratio of ${sharpeRatio.toPrecision(3)}`;
  return {
    passed,
    text:
      `the choices of the folds returned ${(100 * returnPct).toFixed(1)} % in their test windows, with ${shown} ` +
      `(above 0 and at least ${needed.toPrecision(3)} are needed, half of the best row's)`,
  };
}

function inSampleVerdict(found: Overfitting, hasBest: boolean, workspace: WorkspaceTrials | null): Verdict {
  const { overfittingProbability: overfitting } = found;
  const deflated = workspace?.deflatedSharpe ?? found.deflatedSharpe;
  if (deflated === null) return { code: 'luck', text: `There is nothing to judge: ${whyNothing(found, hasBest)}.` };
  const isAboveLuck = deflated >= MIN_DEFLATED;
  const isStable = overfitting !== null && overfitting <= MAX_OVERFITTING;
  const sharpe = sharpeText(found, deflated, workspace);
  const choice = overfitting === null ? null : choiceText(overfitting);
  const untested = 'whether the choice holds on other days cannot be tested with so few days or variants';
  if (isAboveLuck && isStable) return { code: 'not_luck', text: `${NOT_LUCK}${sharpe}, and ${choice}.` };
  if (isAboveLuck) {
    const alone = `By its Sharpe ratio alone it would pass: ${sharpe}.`;
    return { code: 'luck', text: `Treat the best variant as luck: ${choice ?? untested}. ${alone}` };
  }
  const result = isStable ? 'It does pass the test on other days' : 'It fails the test on other days, too';
  const other = choice === null ? upperFirst(untested) : `${result}: ${choice}`;
  return { code: 'luck', text: `Treat the best variant as luck: ${sharpe}. ${other}.${trackRecord(found)}` };
}

function whyNothing({ trials }: Overfitting, hasBest: boolean): string {
  if (trials === 0) return 'no variant was run';
  if (!hasBest) return 'no variant has a value of the objective and satisfies the constraints';
  return 'the best variant has no Sharpe ratio, because it did not trade or its equity never changed';
}

function sharpeText(found: Overfitting, deflated: number, workspace: WorkspaceTrials | null): string {
  const trials = workspace?.trials ?? found.trials;
  const hasEarlier = trials > found.trials;
  const tried = hasEarlier ? ', as many as the workspace has tried of this strategy on this data,' : '';
  const own =
    hasEarlier && found.deflatedSharpe !== null
      ? `; by the ${found.trials} of this sweep alone it would be ${percentBeside(found.deflatedSharpe, MIN_DEFLATED)}`
      : '';
  return (
    'the probability that its Sharpe ratio is above ' +
    `${trials === 1 ? '0' : `the best that ${trials} variants without skill would show${tried}`} is ` +
    `${percentBeside(deflated, MIN_DEFLATED)} (at least ${percent(MIN_DEFLATED)} is needed${own})`
  );
}

const choiceText = (overfitting: number): string =>
  'the variant that is best on one half of the days is in the lower half on the other in ' +
  `${percentBeside(overfitting, MAX_OVERFITTING)} of all splits (at most ${percent(MAX_OVERFITTING)} is allowed)`;

function trackRecord({ days, minTrackRecordDays: needed }: Overfitting): string {
  if (needed === null || days >= needed) return '';
  return (
    ` The record is too short to tell this Sharpe ratio from 0: it has ${days} days, and ${Math.ceil(needed)} are ` +
    'needed.'
  );
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(fraction > 0.99 && fraction < 1 ? 2 : 0)} %`;

/** With as many digits as tell the fraction from a bound that it does not reach: 94.96 %, not 95 %. */
function percentBeside(fraction: number, bound: number): string {
  if (fraction === bound || percent(fraction) !== percent(bound)) return percent(fraction);
  const digits = [1, 2, 3, 4].find((count) => Number((100 * fraction).toFixed(count)) !== 100 * bound);
  return digits === undefined ? percent(fraction) : `${(100 * fraction).toFixed(digits)} %`;
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
