// The fee stress: the backtest at several levels of fees.
import { feeLevels, withFees } from '../stress.ts';
import type { Analysis } from './analysis.ts';
import { costBound, costFindings, costRows, costStress, type CostStress } from './costStress.ts';

export const feeStressAnalysis = {
  name: 'feeStress',
  about: 'costs at several levels',
  partsOf: ({ task }) => feeLevels(task).length,
  runsPerPart: 1,
  runPart(check, part) {
    const { task } = check.context;
    return check.runTask(withFees(task, feeLevels(task)[part]));
  },
  resultOf: (ended) => costStress(feeLevels(ended.task), ended),
  boundsOf: (result) => [costBound('returnAtStressedFees', 'feeStress', result)],
  findingsOf: (result) => costFindings('FEES_DECIDE', 'fees', result),
  reportOf: (result) => ({ runs: costRows('fees', result) }),
} as const satisfies Analysis<CostStress>;
