// The portfolio loop: instant after instant through the opens, insides and closes of the instruments at which
// something can happen. Rules: semantics §2 to §4 for each instrument, and semantics §8 for all together.
import { policyInForce, type AmbiguityFallback } from '../../config.ts';
import { setBits } from '../../kernels/bits.ts';
import { isIdle } from '../closes.ts';
import { TradeBudget } from '../tradeBudget.ts';
import { playCloses } from './closeStep.ts';
import { GatheredPortfolio } from './collectPortfolio.ts';
import { playInsides } from './insideStep.ts';
import { playOpens } from './openStep.ts';
import { Portfolio } from './portfolio.ts';
import type { PortfolioInput, PortfolioResult } from './portfolioSimulation.ts';
import { playQuiet } from './quietInstants.ts';

/** How often a run checks whether it is cancelled: after so many bars that were played or instants that were passed. */
const POLL_BARS = 16_384;

/**
 * Simulates under the policy of the config. Under `worst` it simulates both pessimistically and optimistically and
 * keeps the run with the lower final balance, the pessimistic one on a tie, as `simulate` does.
 * @throws MemoryRefused when `input.control` allows no more trades
 */
export function simulatePortfolio(input: PortfolioInput): PortfolioResult {
  const bars = input.instruments.reduce((sum, instrument) => sum + instrument.bars.length, 0);
  const budget = new TradeBudget(bars, input.control);
  const policy = policyInForce(input.config);
  if (policy !== 'worst') return simulateUnder(input, policy, budget);
  const pessimistic = simulateUnder(input, 'pessimistic', budget);
  // Where no bar was decided by the policy, every policy gives the same run.
  if (pessimistic.cancelled || pessimistic.ambiguity.fallbackBars === 0) return pessimistic;
  const optimistic = simulateUnder(input, 'optimistic', budget);
  if (optimistic.cancelled) return optimistic;
  const readings = { pessimistic: pessimistic.finalBalance, optimistic: optimistic.finalBalance };
  const worst = optimistic.finalBalance < pessimistic.finalBalance ? optimistic : pessimistic;
  worst.readings = readings;
  return worst;
}

function simulateUnder(input: PortfolioInput, policy: AmbiguityFallback, budget: TradeBudget): PortfolioResult {
  const { control, start, end } = input;
  const portfolio = new Portfolio(input, policy, budget);
  let unpolled = 0;
  for (let instant = start; instant < end; instant++) {
    if (portfolio.active.length === 0) {
      const next = portfolio.nextEvent(instant, end);
      portfolio.equity.fill(portfolio.ledger.balance, instant - start, next - start);
      unpolled += next - instant;
      instant = next;
    } else {
      const bars = 1 + portfolio.active.length;
      const next = playQuiet(portfolio, instant, instant + Math.ceil(POLL_BARS / bars));
      unpolled += (next - instant) * bars;
      instant = next;
    }
    if (instant === end) break;
    unpolled += 1 + playInstant(portfolio, instant);
    if (unpolled < POLL_BARS) continue;
    unpolled = 0;
    if (control?.isCancelled()) return new GatheredPortfolio(portfolio, true);
    control?.report(instant - start, end - start);
  }
  control?.report(end - start, end - start);
  return new GatheredPortfolio(portfolio, false);
}

/** Returns how many bars were played. */
function playInstant(portfolio: Portfolio, instant: number): number {
  const { active, present, readers, inPosition, input } = portfolio;
  present.length = 0;
  for (const member of active) if (hasBar(member.instants, member.row, member.run.end, instant)) present.push(member);
  playOpens(portfolio, instant);
  const isHeld = portfolio.openCount > 0;
  // A position that is opened inside a bar is held in it, even if it is closed there too (semantics §5.2).
  if (playInsides(portfolio) || isHeld) setBits(inPosition, instant - input.start, instant - input.start + 1);
  playCloses(portfolio, instant);
  portfolio.markInstant(instant - input.start);
  for (let at = active.length - 1; at >= 0; at--) {
    const member = active[at];
    if (hasBar(member.instants, member.row, member.run.end, instant)) member.row++;
    if (member.holdingOrder === null && isIdle(member.run)) portfolio.deactivate(member);
  }
  return present.length + readers.length;
}

const hasBar = (instants: Int32Array, row: number, end: number, instant: number): boolean =>
  row < end && instants[row] === instant;
