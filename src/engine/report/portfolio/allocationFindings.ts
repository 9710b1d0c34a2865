// Findings about an allocation: why it never held anything, and why it held too little to tell skill from luck.
import type { RebalanceCounts } from '../../simulate/portfolio/portfolioSimulation.ts';
import { error, percent, warning, type Diagnosis } from '../diagnosisFindings.ts';

/** From this share of the places on, something is named as the reason. */
const MANY_PLACES = 0.5;
/** A leg with places for at least this share of the eligible instruments hardly selects. */
const NEARLY_ALL = 0.9;
/** Fewer rebalances than this cannot make enough holdings, however many places there are. */
const FEW_REBALANCES = 12;

/** Why nothing was ever held: the first stage of a rebalance that let nothing through. */
export function neverHeld(counts: RebalanceCounts): Diagnosis {
  const { message, suggestion } = firstObstacle(counts);
  return error('NEVER_HELD', null, `The allocation never bought or sold anything: ${message}`, suggestion);
}

interface Advice {
  readonly message: string;
  readonly suggestion: string;
}

function firstObstacle(counts: RebalanceCounts): Advice {
  const { whenTrue, undecided, eligible, selected, failedRequire, rebalances } = counts;
  if (whenTrue === 0)
    return {
      message: 'when was true at no instant of the run.',
      suggestion: 'Use a schedule such as the last day of each month, or a longer range.',
    };
  const due = whenTrue === 1 ? 'the only instant' : `all ${whenTrue} instants`;
  if (undecided === whenTrue)
    return {
      message: `grossPercent was missing on every instrument at ${due} at which a rebalance was due.`,
      suggestion: 'Use a number, or a value that is known earlier: shorter periods need less warm-up.',
    };
  if (eligible === 0)
    return {
      message: `no instrument was eligible at ${due} at which a rebalance was due.`,
      suggestion: 'Loosen where, and check that by and weights.by have values: shorter periods need less warm-up.',
    };
  if (selected === 0)
    return {
      message: `require failed on each of the ${failedRequire} places that had an instrument.`,
      suggestion: 'Loosen require, or give a fallback that is held in its place.',
    };
  if (rebalances === 0)
    return {
      message: `every target at ${due} was below the smallest order of its instrument.`,
      suggestion:
        'Use a larger initialBalance or fewer places: an order is at least one step and the minimum notional.',
    };
  const { orders, ordersRejected, ordersCancelled, ordersExpired } = counts;
  const ends = [
    `${ordersRejected} dropped, below the minimum notional or without a level`,
    `${ordersCancelled} cancelled by a later rebalance`,
    `${ordersExpired} left over at the last bar`,
  ];
  return {
    message: `of ${orders} orders none was filled: ${ends.filter((end) => !end.startsWith('0 ')).join(', ')}.`,
    suggestion: 'Use a range that ends later, a larger initialBalance, or fewer rebalances.',
  };
}

/** What keeps the number of holdings small. @param holdings how many there were */
export function fewHoldings(counts: RebalanceCounts, holdings: number): Diagnosis {
  const { message, suggestion } = reasonOfFew(counts);
  const few = `${holdings} ${holdings === 1 ? 'holding is' : 'holdings are'} too few to tell skill from luck`;
  return warning('TOO_FEW_TRADES', null, `${few}${message}.`, suggestion);
}

function reasonOfFew({ whenTrue, eligible, selected, failedRequire, emptyPlaces }: RebalanceCounts): Advice {
  const places = selected + failedRequire + emptyPlaces;
  if (whenTrue < FEW_REBALANCES)
    return {
      message: `, and when was true at only ${whenTrue} ${whenTrue === 1 ? 'instant' : 'instants'}`,
      suggestion: 'Use a longer range, or a when that comes true more often, such as a schedule by month or week.',
    };
  if (failedRequire >= MANY_PLACES * places)
    return {
      message: `, and require failed on ${percent(failedRequire / places)} of the places`,
      suggestion: 'Loosen require, or use a longer range.',
    };
  if (places >= NEARLY_ALL * eligible)
    return {
      message: `, and the legs have places for nearly all eligible instruments, so that holdings hardly change`,
      suggestion: 'Use a smaller top (or topPercent), or give more instruments to choose from.',
    };
  return { message: '', suggestion: 'Use a longer range, or rebalance more often.' };
}
