// What a trace tells of the conditions of a run: how often each was true, near misses, and samples.
import { conditionBits, soleBlockers, type ConditionBits } from './conditionBits.ts';
import { conditionStatistics, type ConditionStats } from './conditionStatistics.ts';
import { searchesOf, type Searches } from './diagnosis.ts';
import { funnelOf, type Funnel } from './funnel.ts';
import { nearMissesOf, type NearMiss } from './nearMisses.ts';
import type { ReportInput } from './reportInput.ts';
import { samplesOf, type Samples } from './samples.ts';

export interface TracedConditions {
  /** In runs of several instruments those of the first, whose nodes are the nodes of all. */
  readonly bits: readonly ConditionBits[];
  readonly stats: readonly ConditionStats[];
  readonly funnel: Funnel;
  readonly nearMisses: readonly NearMiss[];
  readonly samples: Samples;
  readonly searches: Searches;
}

/** @param exits trades by reason, in the order in which the reasons first occur */
export function tracedConditions(report: ReportInput, exits: Funnel['exits']): TracedConditions {
  const { input, evaluated, boundRules } = report;
  const window = { start: input.start, end: Math.max(input.start, input.end) };
  const bits = conditionBits(evaluated.plan.conditions, evaluated, boundRules.recorded);
  const blockers = soleBlockers(bits, window);
  const stats = conditionStatistics(bits, blockers, evaluated, window);
  const nearMisses = nearMissesOf(report, bits, blockers);
  const samples = samplesOf(report, bits, nearMisses);
  return {
    bits,
    stats,
    funnel: funnelOf(report, bits, exits),
    nearMisses,
    samples,
    searches: searchesOf(report, bits, window),
  };
}
