// The band: what the result would have been under the pessimistic and the optimistic reading of the bars that stayed
// undecided.
import { policyInForce, type AmbiguityFallback } from '../config.ts';
import type { SimulationInput, SimulationResult } from './simulation.ts';
import { simulate } from './simulate.ts';

/** Returns as fractions of the initial balance; a sensitivity, not a bound (semantics §3.5). */
export interface Band {
  /** The least and the greatest of the result's, the pessimistic and the optimistic return. */
  readonly low: number;
  readonly high: number;
  readonly pessimistic: number;
  readonly optimistic: number;
}

const returnOf = (input: SimulationInput, result: SimulationResult): number =>
  result.finalBalance / input.config.initialBalance - 1;

/**
 * Runs again with the fallback replaced by each extreme, drilling kept, and only if some outcome came from the
 * fallback; else both are the result's own return. null when a run was cancelled.
 */
export function simulateBand(input: SimulationInput, result: SimulationResult): Band | null {
  const own = returnOf(input, result);
  if (result.cancelled) return null;
  if (result.ambiguity.fallbackBars === 0) return { low: own, high: own, pessimistic: own, optimistic: own };
  const under = (policy: AmbiguityFallback): number | null => {
    const { config } = input;
    if (policyInForce(config) === policy) return own;
    const isDrilling = config.ambiguityResolution === 'multi_resolution';
    const replaced = isDrilling ? { ambiguityFallback: policy } : { ambiguityResolution: policy };
    const again = { ...input, config: { ...config, ...replaced }, keepOrders: false };
    const outcome = simulate(again);
    return outcome.cancelled ? null : returnOf(again, outcome);
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
