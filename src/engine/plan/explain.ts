// Explain: a plan as text, the way a database explains a query.
import { textOf } from '../language/grammar/nodeTexts.ts';
import { frameText, operationKey, sameFrame, seriesOf } from './builder.ts';
import { estimatePlan, estimateText, patternsAsBits } from './estimate.ts';
import type { Frame, Plan, PlannedAllocation, PlannedCondition, PlannedLeg, PlannedValue, Slot, Step } from './plan.ts';
import type { RunnableAllocation, RunnableStrategy } from '../language/grammar/ast.ts';

/**
 * One line per step: its slot, its operation and operands, the bars it runs on, and how many steps read it. Then one
 * line per rule with the slots it reads, the buffers, and what they take at the peak of a run.
 * @param symbol of the run's own instrument; null: each instrument of a portfolio
 */
export function explainPlan(plan: Plan, symbol: string | null, maxConcurrentPositions = 1): string {
  const readers = new Array<number>(plan.steps.length).fill(0);
  for (const step of plan.steps) for (const input of step.inputs) readers[input]++;
  const nameOf = (frame: Frame): string =>
    symbol === null && frame.symbol === null
      ? `${frame.timeframe} bars of each instrument`
      : frameText(seriesOf(frame, symbol ?? ''));
  const width = String(plan.steps.length).length + 1;
  const lines = [`Plan on ${nameOf(plan.base)}: ${plan.steps.length} steps`];
  for (const step of plan.steps) {
    const where = sameFrame(step.frame, plan.base) ? '' : ` on ${nameOf(step.frame)}`;
    const shared = readers[step.slot] > 1 ? `, read ${readers[step.slot]} times` : '';
    const slot = slotText(step.slot).padStart(width);
    lines.push(`  ${slot} ${step.type.padEnd('condition'.length)} ${operationText(step, nameOf)}${where}${shared}`);
  }
  for (const [index, entry] of plan.entries.entries())
    lines.push(`entry ${index} ${entry.id}: ${conditionText(entry.condition)}${rankText(entry.rank)}`);
  for (const [index, exit] of plan.exits.entries())
    lines.push(`exit ${index} ${exit.id}: ${conditionText(exit.condition)}`);
  if (plan.allocation !== null) lines.push(allocationText(plan.allocation));
  lines.push(bufferText(plan), estimateText(estimatePlan(plan, maxConcurrentPositions), nameOf));
  return `${lines.join('\n')}\n`;
}

/**
 * The buffers of a run: one per step, except for raw fields, which are views of the bars, constants, and patterns of
 * which only the sides are read.
 */
function bufferText({ steps }: Plan): string {
  const asBits = patternsAsBits(steps);
  const isMade = (step: Step): boolean =>
    step.op !== 'const' && step.op !== 'field' && step.op !== 'series' && !asBits.has(step);
  const values = steps.filter((step) => step.type === 'value' && isMade(step)).length;
  const conditions = steps.filter((step) => step.type === 'condition').length;
  return `buffers: ${values} of 8 bytes per bar, ${conditions} of 2 bits per bar`;
}

const slotText = (slot: Slot): string => `#${slot}`;

function operationText(step: Step, nameOf: (frame: Frame) => string): string {
  const operands = step.inputs.map(slotText).join(', ');
  let operation = operationKey(step);
  if (step.op === 'within') operation = `on any of the last ${step.window} base bars, this one included`;
  if (step.op === 'align' || step.op === 'align_condition') operation = `${step.op} from=${nameOf(step.from)}`;
  return operands === '' ? operation : `${operation} ← ${operands}`;
}

/** Which of a portfolio's signals come first. */
const rankText = (rank: PlannedValue | null): string =>
  rank === null ? '' : `, ranked ${rank.kind === 'stateful' ? 'in the loop ' : ''}by ${valueText(rank)}`;

function allocationText({ id, when, long, short, weightBy, gross }: PlannedAllocation): string {
  const legText = (side: string, leg: PlannedLeg | null): string[] => {
    if (leg === null) return [];
    const read = [
      ...(leg.by === null ? [] : [`by ${valueText(leg.by)}`]),
      ...(leg.where === null ? [] : [`where ${slotText(leg.where)}`]),
      ...(leg.require === null ? [] : [`require ${slotText(leg.require)}`]),
    ];
    return [`${side} ${read.length === 0 ? 'all' : read.join(', ')}`];
  };
  const parts = [
    `when ${slotText(when)}`,
    ...legText('long', long),
    ...legText('short', short),
    ...(weightBy === null ? [] : [`weights by ${valueText(weightBy)}`]),
    `gross ${valueText(gross)} %`,
  ];
  return `allocation ${id}: ${parts.join('; ')}`;
}

/** Nothing in an allocation is stateful. */
function valueText(planned: PlannedValue): string {
  if (planned.kind === 'constant') return String(planned.value);
  return planned.kind === 'column' ? slotText(planned.slot) : textOf(planned.expression.expression);
}

function conditionText(planned: PlannedCondition): string {
  if (planned.kind === 'column') return slotText(planned.slot);
  const inLoop = planned.conjuncts.map(({ expression }) => textOf(expression)).join(' and ');
  return `in the loop: ${inLoop}${planned.gate === null ? '' : `, gated by ${slotText(planned.gate)}`}`;
}

/** More symbols would hide what follows them. */
const SHOWN_SYMBOLS = 20;

/** @param symbols in the order of the list; null: only the config of a run names them */
export function explainPortfolio(strategy: RunnableStrategy, symbols: readonly string[] | null): string {
  const { allocation } = strategy;
  const head = [instrumentsText(symbols), 'At each instant, for the instruments that have a bar there:'];
  const steps = allocation === null ? rulesLines(strategy) : allocationLines(allocation);
  return `${[...head, ...steps].join('\n')}\n`;
}

function instrumentsText(symbols: readonly string[] | null): string {
  const one = 'one account, one plan, evaluated on the bars of each';
  if (symbols === null) return `Portfolio of config.instruments: ${one}`;
  const more = symbols.length > SHOWN_SYMBOLS ? `, and ${symbols.length - SHOWN_SYMBOLS} more` : '';
  return `Portfolio of ${symbols.length} instruments: ${symbols.slice(0, SHOWN_SYMBOLS).join(', ')}${more}; ${one}`;
}

function rulesLines({ entries }: RunnableStrategy): readonly string[] {
  const ranks = entries.map(({ rank }, index) => {
    if (rank === undefined) return `  rank    entry ${index}: no rank; the order of the list decides`;
    return `  rank    entry ${index}: the largest ${textOf(rank)} first, missing last, ties in the order of the list`;
  });
  return [
    '  open    exits ordered before; entries ordered before, by instant, then rank; levels; pending orders',
    '  inside  levels and pending orders, one instrument after the other in the order of the list',
    '  close   exit rules and time stops of all; then the entries of all together, one per instrument',
    ...ranks,
    '  slots   config.portfolio.slots bounds positions plus pending orders of the account; absent: no bound',
  ];
}

function allocationLines({ when, long, short, weights, fallback, bandPercent }: RunnableAllocation): readonly string[] {
  const gross = typeof weights.grossPercent === 'number' ? weights.grossPercent : textOf(weights.grossPercent);
  const most = weights.maxPercent === undefined ? '' : `, at most ${weights.maxPercent} % each`;
  const by = 'by' in weights ? ` by ${textOf(weights.by)}` : '';
  return [
    '  open    reductions of the last rebalance; once all of them have filled, its additions; levels',
    `  close   exits of risk; then a rebalance, if this is true for any instrument: ${textOf(when)}`,
    ...(long === undefined ? [] : [legLine('long', long, long.top, long.topPercent)]),
    ...(short === undefined ? [] : [legLine('short', short, short.bottom, short.bottomPercent)]),
    `  weights ${weights.mode}${by}, gross ${gross} % of equity${most}`,
    `  empty   places that fail require or stay empty are ${fallback === undefined ? 'cash' : `held in ${fallback}`}`,
    ...(bandPercent > 0 ? [`  band    nothing is traded while every weight is within ${bandPercent} % of equity`] : []),
  ];
}

function legLine(
  side: 'long' | 'short',
  { by, where, require, keepWithin }: NonNullable<RunnableAllocation['long' | 'short']>,
  count: number | undefined,
  percent: number | undefined,
): string {
  const places = count ?? (percent === undefined ? 'all' : `${percent} %`);
  const ranked = by === undefined ? '' : ` with the ${side === 'long' ? 'largest' : 'smallest'} ${textOf(by)}`;
  const parts = [
    ...(where === undefined ? [] : [`of those where ${textOf(where)}`]),
    ...(keepWithin === undefined ? [] : [`holdings stay within rank ${keepWithin}`]),
    ...(require === undefined ? [] : [`then each must have ${textOf(require)}`]),
  ];
  return [`  ${side.padEnd(7)} ${places}${ranked}`, ...parts].join('; ');
}
