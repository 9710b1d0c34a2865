// The value `shift`: its source some base bars ago.
import { z } from 'zod';
import { bars0, NAMES, named } from '../expressionMembers.ts';
import type { ValueDefinition, WrittenNode } from './expressionDefinition.ts';
import { earlierOf } from './lookbacks.ts';
import { valuePlace } from './places.ts';

const schema = z.strictObject({ ...named, kind: z.literal('shift'), offset: bars0, source: valuePlace });

export const shiftValue: ValueDefinition<typeof schema> = {
  type: 'value',
  schema,
  description: 'The source as it was `offset` base bars ago.',
  nsPerBar: 0.3,
  check: null,
  /**
   * A shift is added to a shift below it, or to the offset of a node that runs on base bars. A shift by 0 disappears.
   */
  rewrite: (node, isPlaced, rewriter) => {
    const made = rewriter.plain(node, isPlaced);
    let { offset, source } = made as { offset: unknown; source: WrittenNode };
    if (typeof offset !== 'number') return made;
    if (source.kind === 'shift' && typeof source.offset === 'number') {
      offset += source.offset;
      source = source.source as WrittenNode;
    }
    if (offset === 0) return source;
    if (isPlaced || typeof source.offset !== 'number' || !rewriter.canAddOffset(source))
      return { ...rewriter.names(node), kind: 'shift', offset, source };
    const folded: Record<string, unknown> = { ...rewriter.names(node) };
    for (const [name, value] of Object.entries(source)) if (!NAMES.has(name)) folded[name] = value;
    folded.offset = source.offset + offset;
    return folded;
  },
  range: ({ source }, ranges) => ranges.of(source),
  isDiscrete: ({ source }, facts) => facts.isDiscrete(source),
  isBarPrice: ({ source }, facts) => facts.isBarPrice(source),
  text: ({ source, offset }, write) => `${write.operand(source)}[${offset}]`,
  lookback: ({ source, offset }, place) => earlierOf(source, offset, place),
  step: (node, steps, ambient) => steps.builder.shift(steps.valueOn(node.source, ambient), node.offset),
  operation: null,
  overState: {
    read: (node, parts) => parts.delayed(node, parts.value(node.source), node.offset),
    keeps: ({ offset }) => offset + 1,
  },
};
