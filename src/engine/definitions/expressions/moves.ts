// Moves in one direction: what `rising` and `falling` share.
import type { z } from 'zod';
import { compareNumbers } from '../../kernels/compareNumbers.ts';
import { Ring } from '../../kernels/ring.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { inBars, onShared } from './lookbacks.ts';
import type { ValueChild } from './places.ts';
import type { Truth } from './stateParts.ts';
import type { SharedConditionOperation } from './planSteps.ts';

interface Move {
  readonly kind: string;
  readonly bars: number;
  readonly source: ValueChild;
}

/** The definition of a move, but for its schema and description. */
export function moveIn(
  direction: 'rising' | 'falling',
): Omit<ConditionDefinition<z.ZodObject, Move>, 'schema' | 'description'> {
  return {
    type: 'condition',
    nsPerBar: 0.7,
    check: null,
    rewrite: null,
    role: 'leaf',
    sides: null,
    infers: null,
    hasOwnBars: true,
    text: ({ source, bars }, write) => `${write.text(source)} ${direction} for ${bars} bars`,
    lookback: ({ source, bars }, place) => ({
      timeframe: place.context,
      bars: inBars(onShared(place, [source], bars), place.context),
    }),
    step: (node, steps, ambient) => {
      const { builder } = steps;
      const source = steps.value(node.source, ambient);
      const frame = builder.commonFrame([source]) ?? ambient;
      const operation: SharedConditionOperation = { op: 'moving', direction, bars: node.bars };
      return builder.alignCondition(builder.condition(operation, [source], frame), ambient);
    },
    operation: null,
    overState: {
      read: (node, parts) => {
        const source = parts.value(node.source);
        const op = direction === 'rising' ? 'gt' : 'lt';
        const slotOf = parts.remember(
          node,
          () => new Ring(node.bars + 1),
          (ring, row, state, all) => ring.push(source(row, state, all)),
        );
        return (_row, _state, memory) => {
          let answer: Truth = 1;
          for (let bars = 0; bars < node.bars && answer !== 0; bars++) {
            const truth = compareNumbers(op, slotOf(memory).ago(bars), slotOf(memory).ago(bars + 1), 0);
            answer = truth === 0 ? 0 : truth === 2 ? 2 : answer;
          }
          return answer;
        };
      },
      keeps: ({ bars }) => bars + 1,
    },
  };
}
