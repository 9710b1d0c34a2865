// The value `math`: arithmetic.
import { z } from 'zod';
import { MATH_FUNCTIONS, mathOf } from '../../kernels/arithmetic.ts';
import { named } from '../expressionMembers.ts';
import { issueCodes } from '../issueCodes.ts';
import { MATH_OPS } from '../words.ts';
import type { KnownRanges, ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, NOT_NEGATIVE, range, type Range } from './intervals.ts';
import { onShared } from './lookbacks.ts';
import { valuePlace } from './places.ts';

const MAX_INPUTS = 64;

const schema = z.strictObject({
  ...named,
  kind: z.literal('math'),
  op: z.enum(MATH_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  args: z.array(valuePlace).min(1).max(MAX_INPUTS),
});

const SIGNS: Readonly<Record<string, string>> = { add: ' + ', sub: ' - ', mul: ' × ', div: ' / ' };

export const mathValue: ValueDefinition<typeof schema> = {
  type: 'value',
  schema,
  description: 'Arithmetic. A result that is not finite is missing.',
  nsPerBar: 1.2,
  check: ({ op, args }, check) => {
    if (check.isMalformed) return true;
    if (typeof op !== 'string' || !Object.hasOwn(MATH_FUNCTIONS, op) || !Array.isArray(args)) return true;
    const { minArgs, maxArgs } = MATH_FUNCTIONS[op as keyof typeof MATH_FUNCTIONS];
    if (args.length >= minArgs && args.length <= maxArgs) return true;
    const wanted = minArgs === maxArgs ? `${minArgs}` : `${minArgs} to ${maxArgs}`;
    return check.report('OUT_OF_RANGE', ['args'], { message: `${op} takes ${wanted} args, not ${args.length}.` });
  },
  rewrite: null,
  range: rangeOf,
  isDiscrete: ({ op, args }, facts) =>
    ['sign', 'round', 'floor', 'ceil'].includes(op) || args.every((arg) => facts.isWhole(arg)),
  text: ({ op, args }, write) =>
    op in SIGNS && args.length > 1
      ? args.map((arg) => write.operand(arg)).join(SIGNS[op])
      : `${op}(${args.map((arg) => write.text(arg)).join(', ')})`,
  isInfix: ({ op }) => op in SIGNS,
  lookback: ({ args }, place) => onShared(place, args, 0),
  step: (node, steps, ambient) => {
    const { builder } = steps;
    const operands = node.args.map((arg) => steps.value(arg, ambient));
    const frame = builder.commonFrame(operands) ?? ambient;
    const aligned = operands.map((slot) => builder.align(slot, frame));
    return builder.math(node.op, aligned, frame);
  },
  operation: null,
  overState: {
    read: ({ op, args }, parts) => {
      const operands = args.map((arg) => parts.value(arg));
      return (row, state, memory) =>
        mathOf(
          op,
          operands.map((operand) => operand(row, state, memory)),
        );
    },
    keeps: () => 1,
  },
};

function rangeOf({ op, args }: z.input<typeof schema>, known: KnownRanges): Range {
  const ranges = args.map((arg) => known.of(arg));
  const [a, b = EVERYTHING, c = EVERYTHING] = ranges;
  const lows = ranges.map(({ lo }) => lo);
  const highs = ranges.map(({ hi }) => hi);
  switch (op) {
    case 'add':
      return range(sum(lows, -Infinity), sum(highs, Infinity));
    case 'sub':
      return range(
        sum([a.lo, ...highs.slice(1).map((hi) => -hi)], -Infinity),
        sum([a.hi, ...lows.slice(1).map((lo) => -lo)], Infinity),
      );
    case 'mul':
      return ranges.reduce((left, right) => product(left, right));
    case 'min':
      return range(Math.min(...lows), Math.min(...highs));
    case 'max':
      return range(Math.max(...lows), Math.max(...highs));
    case 'neg':
      return range(-a.hi, -a.lo);
    case 'abs':
      return a.lo >= 0 ? a : range(a.hi <= 0 ? -a.hi : 0, Math.max(-a.lo, a.hi));
    case 'sign':
      return range(-1, 1);
    case 'exp':
    case 'sqrt':
      return NOT_NEGATIVE;
    case 'clamp':
      return range(Math.max(b.lo, Math.min(c.lo, a.lo)), Math.max(b.hi, Math.min(c.hi, a.hi)));
    case 'floor':
    case 'ceil':
    case 'round':
      return range(Math.floor(a.lo), Math.ceil(a.hi));
    case 'div':
    case 'pow':
    case 'log':
    case 'mod':
      return EVERYTHING;
  }
}

/** A sum; `unknown` where opposite infinities meet. */
function sum(terms: readonly number[], unknown: number): number {
  const total = terms.reduce((left, right) => left + right, 0);
  return Number.isNaN(total) ? unknown : total;
}

function product(a: Range, b: Range): Range {
  const corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi].map((corner) =>
    Number.isNaN(corner) ? 0 : corner,
  );
  return range(Math.min(...corners), Math.max(...corners));
}
