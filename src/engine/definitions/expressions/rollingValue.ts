// The value `rolling`: an aggregate of the last present values of its source.
import { z } from 'zod';
import { MAX_SCANNED_LENGTH } from '../../indicators/arguments.ts';
import { Ring } from '../../kernels/ring.ts';
import { bars0, bars1, named, ParamRef } from '../expressionMembers.ts';
import { issueCodes } from '../issueCodes.ts';
import { isTooLongSlope, ROLLING_OPS, rollingReach } from '../words.ts';
import type { KnownRanges, RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, NOT_NEGATIVE, range, type Range } from './intervals.ts';
import { onShared } from './lookbacks.ts';
import { valuePlace } from './places.ts';
import { rollingKernel } from './rollingKernel.ts';
import type { ReadValue, StatefulParts } from './stateParts.ts';
import type { SharedValueOperation } from './planSteps.ts';
import { placeText } from './texts.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('rolling'),
  op: z.enum(ROLLING_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  period: bars1,
  /** For `quantile`: the fraction in [0, 1]. */
  quantile: z.union([z.number().min(0).max(1), ParamRef]).optional(),
  offset: bars0.default(0),
  source: valuePlace,
});
type Node = RunnableOf<typeof schema>;

export const rollingValue: ValueDefinition<typeof schema> = {
  type: 'value',
  schema,
  description: 'An aggregate of the last `period` present values of its source.',
  nsPerBar: 3,
  requiredWhen: { quantile: { op: ['quantile'] } },
  offsetCountsOwnBars: true,
  check: ({ op, period, quantile }, check) => {
    if (typeof period === 'number' && isTooLongSlope(op, period))
      return check.report('OUT_OF_RANGE', ['period'], {
        message: tooLongSlope(period),
        suggestion: 'Use a shorter period, or a coarser timeframe.',
      });
    const message = 'The op quantile requires `quantile`, a fraction from 0 to 1.';
    return op !== 'quantile' || quantile !== undefined || check.report('MISSING_FIELD', ['quantile'], { message });
  },
  rewrite: (node, isPlaced, rewriter) => {
    const made = rewriter.plain(node, isPlaced);
    const { op, period } = made;
    if (typeof period === 'number' && isTooLongSlope(op, period))
      rewriter.report(node, ['period'], 'OUT_OF_RANGE', tooLongSlope(period));
    return made;
  },
  /** A slope's period has a bound of its own. */
  isForming: ({ op }, member) => op === 'slope' && member === 'period',
  range: rangeOf,
  isDiscrete: ({ op }) => op === 'argmax' || op === 'argmin',
  isBarPrice: ({ op, source }, facts) => (op === 'max' || op === 'min') && facts.isBarPrice(source),
  extreme: ({ op, offset, source }, facts) => {
    if (op !== 'max' && op !== 'min') return undefined;
    const of = (offset ?? 0) === 0 ? facts.barField(source) : undefined;
    return of && { kind: op, of };
  },
  text: (node, write) => `${node.op}(${write.text(node.source)}, ${node.period} bars)${placeText(node)}`,
  lookback: ({ source, op, period, offset }, place) => onShared(place, [source], rollingReach(op, period) - 1 + offset),
  step: (node, steps, ambient) => {
    const { builder } = steps;
    const source = steps.value(node.source, ambient);
    const frame = builder.commonFrame([source]) ?? ambient;
    return builder.shift(builder.value(operationOf(node), [source], frame), node.offset);
  },
  operation: null,
  overState: {
    read: (node, parts) => parts.delayed(node, readOf(node, parts), node.offset),
    keeps: ({ op, period, offset }) => rollingReach(op, period) + offset,
  },
};

const tooLongSlope = (period: number): string =>
  `The op slope takes a period of at most ${MAX_SCANNED_LENGTH}, not ${period}.`;

/** `quantile` matters for the op of that name, which always has one. */
const operationOf = ({ op, period, quantile = 0.5 }: Node): SharedValueOperation & { op: 'rolling' } => ({
  op: 'rolling',
  rolling: op,
  period,
  quantile,
});

function rangeOf({ op, period, source }: z.input<typeof schema>, known: KnownRanges): Range {
  const { lo, hi } = known.of(source);
  const most = known.ofNumber(period).hi;
  switch (op) {
    case 'max':
    case 'min':
    case 'avg':
    case 'median':
    case 'quantile':
      return range(lo, hi);
    case 'sum':
      return range(lo >= 0 ? lo : lo * most, hi <= 0 ? hi : hi * most);
    case 'std':
    case 'var':
      return NOT_NEGATIVE;
    case 'percentile_rank':
      return range(0, 100);
    case 'argmax':
    case 'argmin':
      return range(0, most);
    case 'zscore':
    case 'slope':
      return EVERYTHING;
  }
}

function readOf(node: Node, parts: StatefulParts): ReadValue {
  const source = parts.value(node.source);
  const operation = operationOf(node);
  const size = rollingReach(node.op, node.period);
  const slotOf = parts.remember(
    node,
    () => new Ring(size),
    (ring, row, state, all) => {
      const value = source(row, state, all);
      if (value === value) ring.push(value);
    },
  );
  const out = new Float64Array(size);
  return (row, state, memory) => {
    const ring = slotOf(memory);
    const current = source(row, state, memory);
    if (current !== current || !ring.isFull) return NaN;
    out.fill(NaN);
    rollingKernel(operation, ring.toArray(), out);
    return out[size - 1];
  };
}
