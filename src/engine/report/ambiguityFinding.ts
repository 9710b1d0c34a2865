// The finding that a result depends on how undecided bars are read.
import { policyInForce } from '../config.ts';
import type { Band } from '../simulate/band.ts';
import { percent, warning, type Diagnosis } from './diagnosisFindings.ts';
import type { ReportInput } from './reportInput.ts';

export function ambiguityWarning({ band, input: { config } }: ReportInput): Diagnosis | undefined {
  if (!isSensitive(band)) return undefined;
  const { pessimistic, optimistic } = band;
  const readings =
    `The return is ${percent(pessimistic)} under the pessimistic policy and ${percent(optimistic)} under the ` +
    'optimistic one: bars in which several levels were touched decide the result.';
  const finer = 'Import finer bars for this instrument, or move stops and targets further apart.';
  if (pessimistic <= optimistic) return warning('AMBIGUITY_SENSITIVE', null, readings, finer);
  const reversed = `${readings} For this strategy the pessimistic policy is not the conservative one.`;
  if (policyInForce(config) === 'worst') return warning('AMBIGUITY_SENSITIVE', null, reversed, finer);
  // The fallback is read only under multi_resolution.
  const change =
    config.ambiguityResolution === 'multi_resolution'
      ? 'Set config.ambiguityFallback to "worst"'
      : 'Set config.ambiguityResolution to "multi_resolution" and config.ambiguityFallback to "worst"';
  return warning('AMBIGUITY_SENSITIVE', null, reversed, `${change} for the lower of the two. ${finer}`);
}

/** The two readings differ in sign, or by more than a fifth of the larger. */
function isSensitive({ low, high }: Band): boolean {
  const width = high - low;
  return width > 0 && (low < 0 !== high < 0 || width > 0.2 * Math.max(Math.abs(low), Math.abs(high)));
}
