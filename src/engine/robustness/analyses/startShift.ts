// The start shift: the backtest from later starts, each of which leaves out the first trade.
import { bound, KEPT } from '../bound.ts';
import type { RunNumbers } from '../checkRuns.ts';
import { firstSignalBars } from '../evidence.ts';
import { counted, percent, warning } from '../finding.ts';
import { startingAt } from '../stress.ts';
import type { Analysis } from './analysis.ts';
import { runOf, runRow } from './partOutcomes.ts';

/** Bars by which the start is moved; results that depend on the first trade differ by them. */
const SHIFTS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89] as const;

/** Counted from the start; each leaves out the first trade, because an earlier one could change nothing. */
interface StartShift {
  readonly shifts: readonly ({ readonly bars: number } & RunNumbers)[];
}

export const startShiftAnalysis = {
  name: 'startShift',
  about: 'later starts',
  partsOf: () => SHIFTS.length,
  runsPerPart: 1,
  // Starts that many bars after the first signal that was traded: an earlier start changes nothing.
  runPart: (check, part) =>
    check.withBaseline((baseline) => {
      const { start, end, bars: base } = baseline.input;
      const first = firstSignalBars(baseline) ?? 0;
      const shift = SHIFTS[part];
      // A shift that leaves out a fifth of the bars is another backtest.
      if (shift * 5 > end - start - first) return { kind: 'skipped' };
      const bars = first + shift;
      return { ...check.runTask(startingAt(check.context.task, base.time[start + bars])), bars };
    }),
  resultOf: ({ outcomes }) => ({
    shifts: outcomes.flatMap((outcome) => {
      const run = runOf(outcome);
      return run === null || outcome.kind !== 'run' ? [] : [{ bars: outcome.bars!, ...run }];
    }),
  }),
  boundsOf: (result, baseline) => [
    bound('startShiftKeptReturn', 'startShift', keptByShifts(result, baseline), '>=', KEPT),
  ],
  findingsOf({ shifts }, baseline, failed) {
    const broken = failed.get('startShiftKeptReturn');
    if (broken === undefined) return {};
    const worst = shifts.reduce((a, b) => ((b.returnPct ?? 0) < (a.returnPct ?? 0) ? b : a));
    const message =
      `Started ${counted(worst.bars, 'bar')} later it returns ${percent(worst.returnPct)} instead of ` +
      `${percent(baseline.returnPct)} (at least ${percent(broken.limit)} of that is needed).`;
    return { weaknesses: [warning('START_DECIDES', message)] };
  },
  reportOf: ({ shifts }) => ({
    runs: shifts.map((shift) => runRow(`start ${counted(shift.bars, 'bar')} later`, shift)),
  }),
} as const satisfies Analysis<StartShift>;

/** The share of the return that the worst later start keeps. */
function keptByShifts(result: StartShift | undefined, { returnPct }: RunNumbers): number | null {
  const shifts = result?.shifts ?? [];
  if (shifts.length === 0 || returnPct === null || !(returnPct > 0)) return null;
  return shifts.reduce((worst, shift) => Math.min(worst, shift.returnPct ?? 0), Infinity) / returnPct;
}
