// The value `if`: one of two values, by a condition.
import { z } from 'zod';
import { choose } from '../../kernels/history.ts';
import { named } from '../expressionMembers.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { hull } from './intervals.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace, valuePlace } from './places.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('if'),
  cond: conditionPlace,
  // oxlint-disable-next-line unicorn/no-thenable -- the language's word for it; no expression is awaited.
  then: valuePlace,
  else: valuePlace,
});

interface IfOperation {
  readonly op: 'if';
}

export const ifValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, IfOperation> = {
  type: 'value',
  schema,
  description: '`then` where `cond` is true, `else` where it is false, missing where it is unknown.',
  nsPerBar: 1.5,
  check: null,
  rewrite: null,
  range: (node, ranges) => hull([ranges.of(node.then), ranges.of(node.else)]),
  isDiscrete: (node, facts) => facts.isWhole(node.then) && facts.isWhole(node.else),
  text: (node, write) => `if ${write.text(node.cond)} then ${write.text(node.then)} else ${write.text(node.else)}`,
  lookback: (node, place) => onContext(place, [node.cond, node.then, node.else]),
  step: (node, steps, ambient) => {
    const inputs = [
      steps.condition(node.cond, ambient),
      steps.valueOn(node.then, ambient),
      steps.valueOn(node.else, ambient),
    ];
    return steps.builder.value({ op: 'if' } satisfies IfOperation, inputs, ambient);
  },
  operation: {
    op: 'if',
    column: (_operation, operands, out) => choose(operands.truths(0), operands.values(1), operands.values(2), out),
  },
  overState: {
    read: (node, parts) => {
      const [condition, yes, no] = [parts.truth(node.cond), parts.value(node.then), parts.value(node.else)];
      return (row, state, memory) => {
        const truth = condition(row, state, memory);
        return truth === 2 ? NaN : truth === 1 ? yes(row, state, memory) : no(row, state, memory);
      };
    },
    keeps: () => 1,
  },
};
