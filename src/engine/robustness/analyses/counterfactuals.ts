// The counterfactuals: the backtest with each risk rule and each cost taken away.
import { info, percent, type Finding } from '../finding.ts';
import { removables, without, type Removable } from '../stress.ts';
import type { RunNumbers } from '../checkRuns.ts';
import type { Analysis } from './analysis.ts';
import { runOrError, runRow, type RunOrError } from './partOutcomes.ts';

type Counterfactual = { readonly without: Removable } & RunOrError;

export const counterfactualsAnalysis = {
  name: 'counterfactuals',
  about: 'each risk rule and each cost taken away',
  partsOf: ({ task }) => removables(task).length,
  runsPerPart: 1,
  runPart(check, part) {
    const { task } = check.context;
    const changed = without(task, removables(task)[part]);
    return 'code' in changed ? { kind: 'run', outcome: { ok: false, error: changed } } : check.runTask(changed);
  },
  resultOf({ task, outcomes }) {
    const parts = removables(task);
    return outcomes.map((outcome, at) => ({ without: parts[at], ...runOrError(outcome) }));
  },
  boundsOf: () => [],
  findingsOf: (rows, baseline) => ({ remarks: rows.flatMap((row) => findingOf(row, baseline)) }),
  reportOf: (rows) => ({ runs: rows.map((row) => runRow(`without ${row.without}`, row)) }),
} as const satisfies Analysis<readonly Counterfactual[]>;

const COSTS: readonly string[] = ['fees', 'slippage', 'funding', 'borrowing', 'dividends'];

function findingOf(row: Counterfactual, baseline: RunNumbers): Finding[] {
  if ('error' in row || COSTS.includes(row.without)) return [];
  const isBetter =
    (row.returnPct ?? 0) > (baseline.returnPct ?? 0) && (row.maxDrawdown ?? 0) <= (baseline.maxDrawdown ?? 0);
  if (!isBetter) return [];
  const message =
    `Without ${row.without} it returns ${percent(row.returnPct)} instead of ${percent(baseline.returnPct)}, with a ` +
    'drawdown that is no larger: on these bars the rule only costs.';
  return [info('RULE_ONLY_COSTS', message)];
}
