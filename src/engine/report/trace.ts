// The strategy trace: diagnosis, funnel, near misses and samples, small enough for an agent's context.
import { diagnose, type DiagnosisInput } from './diagnosis.ts';
import type { Diagnosis } from './diagnosisFindings.ts';
import type { Funnel } from './funnel.ts';
import { constantJson, JsonWriter } from './jsonWriter.ts';
import { writeNearMisses, type NearMiss } from './nearMisses.ts';
import type { Sample, Samples } from './samples.ts';
import { writeRuleStats, type RuleStatsSummary } from './ruleStatsSummary.ts';

export interface StrategyTrace {
  readonly diagnosis: readonly Diagnosis[];
  readonly funnel: Funnel;
  readonly nearMisses: readonly NearMiss[];
  readonly samples: readonly Sample[];
  readonly truncated: boolean;
}

/** A trace whose samples are still columns, not objects. */
interface SampledTrace extends Omit<StrategyTrace, 'samples'> {
  readonly samples: Samples;
  /** How many of them are kept. */
  readonly sampleCount: number;
}

/** The limit on the JSON of trace and rule statistics together. */
const MAX_TRACE_BYTES = 32 * 1024;
/** How much of long lists is left when a trace is cut: more than a reader acts on at a time. */
const LISTED_CONDITIONS = 32;
const LISTED_FINDINGS = 16;

/** Builds the trace of a run, before it is cut to its limit of bytes (`fitTrace`). */
export const traceOf = (input: DiagnosisInput, nearMisses: readonly NearMiss[], samples: Samples): SampledTrace => ({
  diagnosis: diagnose(input),
  funnel: input.funnel,
  nearMisses,
  samples,
  sampleCount: samples.length,
  truncated: false,
});

/** The trace with its samples as objects. */
export const shownTrace = ({ samples, sampleCount, ...trace }: SampledTrace): StrategyTrace => ({
  diagnosis: trace.diagnosis,
  funnel: trace.funnel,
  nearMisses: trace.nearMisses,
  samples: samples.list(sampleCount),
  truncated: trace.truncated,
});

export interface FittedTrace {
  readonly trace: SampledTrace;
  readonly rules: RuleStatsSummary;
  /** Both as members of an object: what JSON.stringify writes after its other members. */
  readonly json: Uint8Array;
}

const TRACE_NAME = ',"strategyTrace":';
const RULES_NAME = ',"ruleStatsSummary":';

const TEXTS = {
  diagnosis: constantJson(`${TRACE_NAME}{"diagnosis":`),
  funnel: constantJson(',"funnel":'),
  nearMisses: constantJson(',"nearMisses":'),
  samples: constantJson(',"samples":'),
  truncated: constantJson(',"truncated":true}'),
  whole: constantJson(',"truncated":false}'),
  rules: constantJson(RULES_NAME),
} as const;

const json = new JsonWriter();

function written(trace: SampledTrace, rules: RuleStatsSummary): Uint8Array {
  const { diagnosis, funnel, nearMisses, samples, sampleCount, truncated } = trace;
  json.begin().add(TEXTS.diagnosis).addText(JSON.stringify(diagnosis));
  json.add(TEXTS.funnel).value(funnel);
  writeNearMisses(json.add(TEXTS.nearMisses), nearMisses);
  samples.write(json.add(TEXTS.samples), sampleCount);
  json.add(truncated ? TEXTS.truncated : TEXTS.whole);
  writeRuleStats(json.add(TEXTS.rules), rules);
  return json.bytes();
}

/**
 * Cuts both to MAX_TRACE_BYTES: first samples, then near misses, then rule statistics from the end, and last the funnel
 * and the diagnosis.
 */
export function fitTrace(trace: SampledTrace, rules: RuleStatsSummary): FittedTrace {
  let fitted = { trace, rules, json: written(trace, rules) };
  while (fitted.json.length - TRACE_NAME.length - RULES_NAME.length > MAX_TRACE_BYTES) {
    const { trace, rules, isLast } = shorter(fitted);
    fitted = { trace, rules, json: written(trace, rules) };
    if (isLast) break;
  }
  return fitted;
}

/** @returns `isLast` when nothing more can be left out */
function shorter({ trace, rules }: FittedTrace): Pick<FittedTrace, 'trace' | 'rules'> & { readonly isLast: boolean } {
  const { sampleCount, nearMisses } = trace;
  if (sampleCount > 0)
    return { trace: { ...trace, sampleCount: sampleCount >> 1, truncated: true }, rules, isLast: false };
  if (nearMisses.length > 0) {
    const nearest = nearMisses.slice(0, nearMisses.length >> 1);
    return { trace: { ...trace, nearMisses: nearest, truncated: true }, rules, isLast: false };
  }
  if (rules.rules.length > 0) {
    const first = rules.rules.slice(0, Math.floor(rules.rules.length * 0.75));
    const alwaysFalse = rules.alwaysFalse.slice(0, LISTED_CONDITIONS);
    const alwaysTrue = rules.alwaysTrue.slice(0, LISTED_CONDITIONS);
    return { trace, rules: { ...rules, rules: first, alwaysFalse, alwaysTrue, truncated: true }, isLast: false };
  }
  const { entries, afterFilter } = trace.funnel;
  const funnel = {
    ...trace.funnel,
    entries: entries.slice(0, entries.length >> 1),
    afterFilter: afterFilter.slice(0, afterFilter.length >> 1),
  };
  const isLast = entries.length <= 1 && afterFilter.length <= 1;
  return {
    trace: { ...trace, funnel, diagnosis: trace.diagnosis.slice(0, LISTED_FINDINGS), truncated: true },
    rules,
    isLast,
  };
}
