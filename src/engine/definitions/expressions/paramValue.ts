// The value `param`: a declared parameter, which a run reads as a `const`.
import { z } from 'zod';
import { named } from '../expressionMembers.ts';
import type { ReplacedValue } from './expressionDefinition.ts';

const schema = z.strictObject({ ...named, kind: z.literal('param'), name: z.string().min(1) });

export const paramValue: ReplacedValue<typeof schema> = {
  type: 'replaced value',
  schema,
  description: 'A declared parameter, used as a value.',
  nsPerBar: 0,
  check: ({ name }, check) => typeof name === 'string' && check.isParam(name, 'name'),
  rewrite: (node, _isPlaced, rewriter) => {
    const value = rewriter.paramNumber(node.name as string, node, 'name');
    if (value === undefined) return { ...rewriter.names(node), kind: 'param', name: node.name };
    return { ...rewriter.names(node), kind: 'const', value };
  },
  range: ({ name }, ranges) => ranges.ofNumber({ param: name }),
  isDiscrete: () => false,
};
