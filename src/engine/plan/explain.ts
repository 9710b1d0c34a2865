// Explain: a plan printed the way a database prints one.
import { frameText, operationKey, sameFrame } from './builder.ts';
import type { Plan, PlannedCondition, Slot, Step } from './plan.ts';
import { describe } from './text.ts';

/** One line a step: its slot, what it does over which slots, the bars it runs on, how many steps read it; then what the rules read, and the buffers. */
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
  return `${[...lines, bufferText(plan)].join('\n')}\n`;
}

/** What a run keeps: raw fields are views on the bars and constants are numbers, the rest is a column each. */
function bufferText({ steps }: Plan): string {
  const isMade = (step: Step): boolean => step.op !== 'const' && step.op !== 'field' && step.op !== 'series';
  const values = steps.filter((step) => step.type === 'value' && isMade(step)).length;
  const conditions = steps.filter((step) => step.type === 'condition').length;
  return `buffers: ${values} of 8 bytes a bar, ${conditions} of 2 bits a bar`;
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
