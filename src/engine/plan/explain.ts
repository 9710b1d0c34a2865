// Explain: a plan printed the way a database prints one.
import { frameText, operationKey, sameFrame } from './builder.ts';
import type { Plan, PlannedCondition, Slot, Step } from './plan.ts';
import { describe } from './text.ts';

/** One line a step: its slot, what it does over which slots, the bars it runs on, how many steps read it; then what the rules read. */
export function explainPlan(plan: Plan): string {
  const readers = new Array<number>(plan.steps.length).fill(0);
  for (const step of plan.steps) for (const input of step.inputs) readers[input]++;
  const width = String(plan.steps.length).length + 1;
  const lines = [`Plan on ${frameText(plan.base)}: ${plan.steps.length} steps`];
  for (const step of plan.steps) {
    const where = sameFrame(step.frame, plan.base) ? '' : ` on ${frameText(step.frame)}`;
    const shared = readers[step.slot] > 1 ? `, read ${readers[step.slot]} times` : '';
    lines.push(
      `  ${slotText(step.slot).padStart(width)} ${step.type === 'value' ? 'value    ' : 'condition'} ${operationText(step)}${where}${shared}`,
    );
  }
  for (const [index, entry] of plan.entries.entries())
    lines.push(`entry ${index} ${entry.id}: ${conditionText(entry.condition)}`);
  for (const [index, exit] of plan.exits.entries())
    lines.push(`exit ${index} ${exit.id}: ${conditionText(exit.condition)}`);
  return `${lines.join('\n')}\n`;
}

const slotText = (slot: Slot): string => `#${slot}`;

function operationText(step: Step): string {
  const operands = step.inputs.map(slotText).join(', ');
  const operation = operationKey(step);
  return operands === '' ? operation : `${operation} ← ${operands}`;
}

function conditionText(planned: PlannedCondition): string {
  if (planned.kind === 'column') return slotText(planned.slot);
  const inLoop = planned.conjuncts.map(({ expression }) => describe(expression)).join(' and ');
  return `in the loop: ${inLoop}${planned.gate === null ? '' : `, gated by ${slotText(planned.gate)}`}`;
}
