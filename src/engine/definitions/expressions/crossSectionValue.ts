// The value `cross_section`: the place of an instrument among all instruments of the run at one instant, or a number
// that summarizes them.
import { z } from 'zod';
import { crossSection, CROSS_SECTION_OPS, type CrossSectionOp } from '../../kernels/crossSection.ts';
import { hasBit } from '../../kernels/bits.ts';
import { named } from '../expressionMembers.ts';
import { issueCodes } from '../issueCodes.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, NOT_NEGATIVE, range } from './intervals.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace, expressionPlace } from './places.ts';
import type { ComparedInstrument, OperandColumns } from './planSteps.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('cross_section'),
  op: z.enum(CROSS_SECTION_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  source: expressionPlace,
  where: conditionPlace.optional(),
  /** With fewer instruments the value is missing. */
  minCount: z.int().min(2).max(1000).default(2),
});
type Node = RunnableOf<typeof schema>;

/** Operations that give each instrument a number of its own; the others give all of them the same. */
const PLACES: ReadonlySet<unknown> = new Set(['rank', 'percentile', 'zscore']);

interface CrossSectionOperation {
  readonly op: 'cross_section';
  readonly section: CrossSectionOp;
  readonly minCount: number;
  readonly isCondition: boolean;
}

export const crossSectionValue: ValueDefinition<typeof schema, Node, CrossSectionOperation> = {
  type: 'value',
  schema,
  description:
    'The place of the instrument among all instruments of the run at this instant, or a number that summarizes them.',
  // On a busy machine: ranks 85 among 50 instruments and 235 among 500, means and counts 30 to 80.
  nsPerBar: 100,
  neverOverState: 'Compare values of the bars, and read state beside the cross section.',
  check: ({ op, source }, check) => {
    const isCondition = check.isCondition(source);
    if (op === 'count' || isCondition === (op === 'share')) return true;
    const [is, takes] = isCondition ? ['a condition', 'a value'] : ['a value', 'a condition'];
    const message = `The op ${String(op)} takes ${takes}, and the source is ${is}.`;
    const suggestion = isCondition
      ? 'Use the op share or count, or turn the condition into a number with `if`.'
      : 'Compare the source with something.';
    return check.report('TYPE_MISMATCH', ['source'], { message, suggestion });
  },
  isCommon: ({ op }) => !PLACES.has(op),
  rewrite: null,
  range: ({ op }) =>
    op === 'rank' || op === 'count' ? NOT_NEGATIVE : op === 'percentile' || op === 'share' ? range(0, 100) : EVERYTHING,
  isDiscrete: ({ op }) => op === 'rank' || op === 'count',
  percentScale: ({ op }) => (op === 'percentile' || op === 'share' ? op : undefined),
  text: ({ op, source, where }, write) =>
    `cross-sectional ${op} of ${write.text(source)}${where === undefined ? '' : ` where ${write.text(where)}`}`,
  lookback: ({ source, where }, place) => onContext(place, where === undefined ? [source] : [source, where]),
  step: ({ op, source, where, minCount }, steps, ambient) => {
    const isCondition = steps.isCondition(source);
    const inputs = [isCondition ? steps.condition(source, ambient) : steps.valueOn(source, ambient)];
    if (where !== undefined) inputs.push(steps.condition(where, ambient));
    const operation: CrossSectionOperation = { op: 'cross_section', section: op, minCount, isCondition };
    return steps.builder.value(operation, inputs, ambient);
  },
  operation: {
    op: 'cross_section',
    column: (operation, operands, out) => {
      const instants = Int32Array.from(out, (_, row) => row);
      compareAll(operation, [{ symbol: '', operands, instants, out }], out.length, () => {});
    },
    acrossInstruments: compareAll,
  },
  overState: null,
};

/** Values between two polls: some 10 ms. */
const POLL_VALUES = 131_072;
/** In place of a place among the members. */
const NO_VALUE = -1;
const NO_BAR = -2;

function compareAll(
  operation: CrossSectionOperation,
  instruments: readonly ComparedInstrument[],
  instantCount: number,
  poll: () => void,
) {
  const { section, minCount } = operation;
  const isPlace = PLACES.has(section);
  const valueOf = instruments.map(({ operands }) => sourceOf(operation, operands));
  const isWhere = instruments.map(({ operands }) => filterOf(operands));
  const instants = instruments.map((each) => each.instants);
  const outs = instruments.map(({ out }) => out);
  const inOrderOfSymbols = [...instruments.keys()].sort((a, b) =>
    instruments[a].symbol < instruments[b].symbol ? -1 : 1,
  );
  const size = instruments.length;
  /** The next row of each instrument. */
  const rows = new Int32Array(size);
  /** The place of each instrument among the members, which are in the order of the list. */
  const places = new Int32Array(size);
  const bySymbol = new Int32Array(size);
  const values = new Float64Array(size);
  const answers = new Float64Array(size);
  const sorted = new Float64Array(size);
  const pollEvery = Math.ceil(POLL_VALUES / size);
  for (let instant = 0; instant < instantCount; instant++) {
    if (instant % pollEvery === 0) poll();
    let count = 0;
    for (let at = 0; at < size; at++) {
      const row = rows[at];
      places[at] = NO_BAR;
      if (instants[at][row] !== instant) continue;
      places[at] = NO_VALUE;
      const value = valueOf[at](row);
      if (value !== value || !isWhere[at](row)) continue;
      places[at] = count;
      values[count++] = value;
    }
    let next = 0;
    for (const at of inOrderOfSymbols) if (places[at] >= 0) bySymbol[next++] = places[at];
    crossSection(section, minCount, count, values, bySymbol, sorted, answers);
    const common = count === 0 ? NaN : answers[0];
    for (let at = 0; at < size; at++) {
      const place = places[at];
      if (place === NO_BAR) continue;
      const own = place === NO_VALUE ? NaN : answers[place];
      outs[at][rows[at]++] = isPlace ? own : common;
    }
  }
}

/** The value of a row, NaN where it is not known; of a condition 1 or 0. A count of values counts each as 1. */
function sourceOf({ isCondition, section }: CrossSectionOperation, operands: OperandColumns): (row: number) => number {
  if (isCondition) {
    const { isTrue, isUnknown } = operands.truths(0);
    return (row) => (hasBit(isUnknown, row) ? NaN : +hasBit(isTrue, row));
  }
  const values = operands.values(0);
  return section === 'count' ? (row) => (values[row] === values[row] ? 1 : NaN) : (row) => values[row];
}

function filterOf(operands: OperandColumns): (row: number) => boolean {
  if (operands.count === 1) return () => true;
  const { isTrue } = operands.truths(1);
  return (row) => hasBit(isTrue, row);
}
