// The condition `pattern`: a candlestick pattern.
import { z } from 'zod';
import type { Args } from '../../indicators/definition.ts';
import { findPattern } from '../../patterns/patternRegistry.ts';
import { bars0, bars1, InstrumentRef, named, Num, timeframe, WITHIN_BARS } from '../expressionMembers.ts';
import { PATTERN_SIDES } from '../words.ts';
import type { Completed, ConditionDefinition } from './expressionDefinition.ts';
import { inBars } from './lookbacks.ts';
import {
  withinBars,
  type Frame,
  type SharedConditionOperation,
  type SharedValueOperation,
  type Slot,
} from './planSteps.ts';
import type { StepCompiler } from './planSteps.ts';
import { placeText, withinText } from './texts.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('pattern'),
  name: z.string(),
  side: z.enum(PATTERN_SIDES).default('any'),
  args: z.record(z.string(), Num).optional(),
  timeframe: timeframe.optional(),
  offset: bars0.default(0),
  within: bars1.default(1).meta({ description: WITHIN_BARS }),
  instrument: InstrumentRef.optional(),
});
type Node = Completed<typeof schema, { args: Record<string, number> }>;

export const patternCondition: ConditionDefinition<typeof schema, Node> = {
  type: 'condition',
  schema,
  description:
    'A candlestick pattern of the given side on any of the last `within` base bars, this one included (default 1: on ' +
    'this bar).',
  nsPerBar: 6,
  check: (_node, check) => check.checkCall('pattern'),
  readsOwnBars: () => true,
  rewrite: (node, _isPlaced, rewriter) => {
    const definition = findPattern(node.name as string)!;
    const made = rewriter.plain(node, false);
    return {
      ...rewriter.names(node),
      kind: made.kind,
      name: definition.id,
      side: made.side,
      args: rewriter.args(node, definition.args),
      ...(made.timeframe === undefined ? {} : { timeframe: made.timeframe }),
      offset: made.offset,
      within: made.within,
      ...(made.instrument === undefined ? {} : { instrument: made.instrument }),
    };
  },
  role: 'leaf',
  sides: null,
  infers: {
    assume: ({ name, side = 'any' }, isNegated) =>
      isNegated || side === 'any' || findPattern(name)!.sides.includes(side),
    isAlways: () => false,
    bounds: () => undefined,
  },
  laterBy: 'give it "within"',
  text: (node) =>
    `${node.side === 'any' ? '' : `${node.side} `}${node.name}${placeText(node)}${withinText(node.within)}`,
  lookback: (node, { context }) => {
    const bars = findPattern(node.name)!.lookback(node.args) + node.offset + node.within - 1;
    return { timeframe: context, bars: inBars({ timeframe: node.timeframe ?? context, bars }, context) };
  },
  step: (node, steps, ambient) => withinBars(steps, sideStep(node, steps, ambient), node.within, ambient),
  operation: null,
  overState: null,
};

function sideStep(node: Node, steps: StepCompiler, ambient: Frame): Slot {
  const definition = findPattern(node.name);
  if (!definition) throw new Error(`Unknown pattern ${node.name} reached the compiler.`);
  const { builder } = steps;
  const frame = steps.placed(node, ambient);
  const args: Args = Object.fromEntries(definition.args.map((arg) => [arg.name, node.args[arg.name]]));
  const inputs = (['open', 'high', 'low', 'close'] as const).map((field) => {
    const column: SharedValueOperation = { op: 'field', field };
    return builder.value(column, [], frame);
  });
  const operation: SharedValueOperation = { op: 'pattern', definition, args };
  const values = builder.shift(builder.value(operation, inputs, frame), node.offset);
  const side: SharedConditionOperation = { op: 'pattern_side', side: node.side };
  return builder.condition(side, [builder.align(values, ambient)], ambient);
}
