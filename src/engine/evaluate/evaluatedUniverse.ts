// An evaluated universe: one plan over the columns of several instruments, whose cross sections read all of them.
import { hash } from 'node:crypto';
import type { Market, Universe } from '../bars/bars.ts';
import { calendarOfUniverse } from '../bars/runCalendar.ts';
import { timeAxisOf } from '../bars/timeAxis.ts';
import { inspect, type ValueColumn } from '../kernels/column.ts';
import type { Plan, Slot, ValueStep } from '../plan/plan.ts';
import type { RunControl } from '../task.ts';
import type { ColumnStore } from './columnStore.ts';
import { compareInstruments, readsInstruments } from './crossSections.ts';
import { EvaluatedPlan } from './evaluatePlan.ts';
import { barsOf, textOfBars } from './frames.ts';
import { operandsOf } from './stepInputs.ts';

/**
 * The plan on each instrument, in the order of the list. The columns of a cross section are computed for all of them
 * when the first of them is read.
 * @param control is asked before every step; null: the run cannot be stopped
 * @param owner only its own runs share columns
 * @throws Error when a frame of the plan has no bars; callers check `missingSeries` first.
 */
export function evaluateUniverse(
  plan: Plan,
  universe: Universe,
  store: ColumnStore,
  control: Pick<RunControl, 'isCancelled'> | null,
  owner: string | undefined,
): readonly EvaluatedPlan[] {
  const { instruments } = universe;
  const hasCrossSections = plan.steps.some(readsInstruments);
  const text = hasCrossSections ? textOf(plan, instruments) : '';
  const calendar = calendarOfUniverse(universe);
  const sections = new Map<Slot, readonly ValueColumn[]>();
  const sectionOf = (slot: Slot): readonly ValueColumn[] => {
    let columns = sections.get(slot);
    if (columns === undefined) sections.set(slot, (columns = sectionColumns(plan.steps[slot] as ValueStep, plans)));
    return columns;
  };
  const plans: readonly EvaluatedPlan[] = instruments.map(
    (market, index) =>
      new EvaluatedPlan(plan, market, store, control, owner, {
        text,
        section: (slot) => sectionOf(slot)[index],
        calendar,
      }),
  );
  return plans;
}

/**
 * Names all bars that the plan reads of the universe, in the order of the list. A column of a cross section depends on
 * all of them, and so does every column that reads one: a plan with cross sections shares columns with runs of the same
 * universe only.
 */
const textOf = (plan: Plan, instruments: readonly Market[]): string =>
  hash(
    'sha256',
    instruments.map((market) => [plan.base, ...plan.frames].map((frame) => textOfBars(barsOf(market, frame)))).join(),
  );

/** The column of a step of a cross section on each instrument. */
function sectionColumns(step: ValueStep, plans: readonly EvaluatedPlan[]): ValueColumn[] {
  const bars = plans.map((plan) => plan.barsOf(step));
  const axis = timeAxisOf(bars);
  const members = plans.map((plan, index) => ({
    symbol: plan.market.base.symbol,
    operands: operandsOf(step, plan),
    instants: axis.instants[index],
    out: plan.store.allocate(bars[index].length),
  }));
  compareInstruments(step, members, axis.time.length, plans[0].poll);
  return members.map(({ out }) => inspect(out));
}
