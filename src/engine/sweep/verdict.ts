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

export interface Verdict {
  readonly code: 'luck' | 'not_luck';
  readonly text: string;
}

/** The verdict is luck unless both bounds hold (semantics §5.4). */
const MIN_DEFLATED = 0.95;
const MAX_OVERFITTING = 0.5;

/** Whether the best row is more than luck, and why, in one paragraph (semantics §5.4). */
export function verdictOf(found: Overfitting): Verdict {
  const { deflatedSharpe: deflated, overfittingProbability: overfitting, trials } = found;
  if (deflated === null)
    return {
      code: 'luck',
      text:
        'There is nothing to judge: the best variant has no Sharpe ratio, because it did not trade or its equity ' +
        'never changed.',
    };
  const isDeflated = deflated >= MIN_DEFLATED;
  const isRobust = overfitting !== null && overfitting <= MAX_OVERFITTING;
  const tries = `${trials} ${trials === 1 ? 'variant' : 'variants'}`;
  const sharpeText = isDeflated
    ? `after ${tries} its Sharpe ratio is above what luck alone would show with probability ${percent(deflated)}`
    : `after ${tries} its Sharpe ratio is above what luck alone would show with probability ${percent(deflated)} ` +
      `only, and ${percent(MIN_DEFLATED)} is asked for`;
  const overfittingText =
    overfitting === null
      ? 'the probability of over-fitting cannot be computed from so few days or variants, so it is not ruled out'
      : 'the choice that is best on one half of the days ends in the lower half on the other in ' +
        `${percent(overfitting)} of all splits${isRobust ? '' : `, and ${percent(MAX_OVERFITTING)} is the limit`}`;
  const isEdge = isDeflated && isRobust;
  const opening = isEdge ? 'The best variant is probably not luck' : 'Treat the best variant as luck';
  return {
    code: isEdge ? 'not_luck' : 'luck',
    text: `${opening}: ${sharpeText}; ${overfittingText}.${trackRecord(found)}`,
  };
}

function trackRecord({ days, minTrackRecordDays: needed }: Overfitting): string {
  if (needed === null || days >= needed) return '';
  return (
    ` The record is also too short: ${days} days where ${Math.ceil(needed)} are needed to tell this Sharpe ratio ` +
    'from zero.'
  );
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(fraction > 0.99 && fraction < 1 ? 2 : 0)} %`;
