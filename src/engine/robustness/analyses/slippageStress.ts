// The slippage stress: the backtest at several levels of slippage.
import { slippageLevels, withSlippage } from '../stress.ts';
import type { Analysis } from './analysis.ts';
import { costBound, costFindings, costRows, costStress, type CostStress } from './costStress.ts';

export const slippageStressAnalysis = {
  name: 'slippageStress',
  about: 'costs at several levels',
  partsOf: ({ task }) => slippageLevels(task).length,
  runsPerPart: 1,
  runPart(check, part) {
    const { task } = check.context;
    return check.runTask(withSlippage(task, slippageLevels(task)[part]));
  },
  resultOf: (ended) => costStress(slippageLevels(ended.task), ended),
  boundsOf: (result) => [costBound('returnAtStressedSlippage', 'slippageStress', result)],
  findingsOf: (result) => costFindings('SLIPPAGE_DECIDES', 'slippage', result),
  reportOf: (result) => ({ runs: costRows('slippage', result) }),
} as const satisfies Analysis<CostStress>;
