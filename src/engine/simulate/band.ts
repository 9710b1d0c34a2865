// The band: what the result would have been under the pessimistic and the optimistic reading of the bars that stayed
// undecided.
import { policyInForce, type ResolvedConfig } from '../config.ts';
import type { ResultReads, SimulationInput, SimulationResult } from './simulation.ts';
import { simulate } from './simulate.ts';

/** Returns as fractions of the initial balance; a sensitivity, not a bound (semantics §3.5). */
export interface Band {
  /** The least and the greatest of three returns: the result's own, the pessimistic and the optimistic. */
  readonly low: number;
  readonly high: number;
  readonly pessimistic: number;
  readonly optimistic: number;
}

/** Only the final balance of a run is read. */
const readsOfFinalBalance = ({ bars, end }: SimulationInput): ResultReads => ({
  marks: { rows: Int32Array.of(end - 1), closes: Float64Array.of(bars.close[end - 1]) },
  extremes: false,
  trades: false,
  blocked: false,
});

/**
 * Runs the simulation again under each extreme policy, with drilling as it was. When no outcome came from the fallback,
 * nothing runs again and both returns are the result's own. null when a run was cancelled.
 */
export const simulateBand = (input: SimulationInput, result: SimulationResult): Band | null =>
  bandOf(input.config, result, (config) => {
    // Without the lent memory, which may still hold the result that was passed in.
    const { scratch: _, ...rest } = input;
    return simulate({ ...rest, config, keepOrders: false, reads: readsOfFinalBalance(input) });
  });

/**
 * The band of any simulation.
 * @param simulateUnder simulates with another policy
 */
export function bandOf(
  config: ResolvedConfig,
  result: SimulationResult,
  simulateUnder: (config: ResolvedConfig) => Pick<SimulationResult, 'cancelled' | 'finalBalance'>,
): Band | null {
  const returnOf = (finalBalance: number): number => finalBalance / config.initialBalance - 1;
  const own = returnOf(result.finalBalance);
  if (result.cancelled) return null;
  if (result.ambiguity.fallbackBars === 0) return { low: own, high: own, pessimistic: own, optimistic: own };
  const under = (policy: 'pessimistic' | 'optimistic'): number | null => {
    if (policyInForce(config) === policy) return own;
    if (result.readings !== null) return returnOf(result.readings[policy]);
    const isDrilling = config.ambiguityResolution === 'multi_resolution';
    const replaced = isDrilling ? { ambiguityFallback: policy } : { ambiguityResolution: policy };
    const outcome = simulateUnder({ ...config, ...replaced });
    return outcome.cancelled ? null : returnOf(outcome.finalBalance);
  };
  const pessimistic = under('pessimistic');
  const optimistic = pessimistic === null ? null : under('optimistic');
  if (pessimistic === null || optimistic === null) return null;
  return {
    low: Math.min(own, pessimistic, optimistic),
    high: Math.max(own, pessimistic, optimistic),
    pessimistic,
    optimistic,
  };
}
