// The request of a robustness check: which analyses to run on a backtest, and how much of each. The zod schema is the
// type.
import { z } from 'zod';
import type { BacktestTask } from '../task.ts';
import { ANALYSES, ROBUSTNESS_ANALYSES } from './analyses/registeredAnalyses.ts';
import { CheckOptions } from './checkOptions.ts';

/** "feeStress and slippageStress: costs at several levels; startShift: …": neighbors with one text share it. */
function describeAnalyses(): string {
  const texts = [...new Set(ANALYSES.map(({ about }) => about))];
  const namesOf = (text: string): string =>
    ANALYSES.filter(({ about }) => about === text)
      .map(({ name }) => name)
      .join(' and ');
  return texts.map((text) => `${namesOf(text)}: ${text}`).join('; ');
}

export const RobustnessSpec = z.strictObject({
  analyses: z
    .array(z.enum(ROBUSTNESS_ANALYSES))
    .min(1)
    .max(ROBUSTNESS_ANALYSES.length)
    .default([...ROBUSTNESS_ANALYSES])
    .meta({ description: `${describeAnalyses()}. Default: all.` }),
  ...CheckOptions.shape,
});
/** The request with every default filled in. */
export type RobustnessSpec = z.infer<typeof RobustnessSpec>;

/** What is checked. Plain data, so that it crosses threads and is stored. */
export interface RobustnessJob {
  readonly task: BacktestTask;
  readonly spec: RobustnessSpec;
}
