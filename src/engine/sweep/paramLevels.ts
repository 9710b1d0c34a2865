// Whether a dimension takes only values that the param it varies can have, so that a sweep is refused before its
// variants fail one by one.
import { MAX_SLOTS } from '../config.ts';
import type { Param } from '../language/grammar/ast.ts';
import { paramIssue } from '../language/canonical/params.ts';
import { pointerTo } from '../language/pointer.ts';
import type { SpaceFault, StrategyPayload } from './resolveSpace.ts';
import { levelCount, valueAt, type Dimension, type Space } from './space.ts';
import type { SweepSpec } from './sweepRequest.ts';

/**
 * Steps that are whole for so many levels stay whole: with a fractional ratio p/q, every level divides the first by
 * another q.
 */
const CHECKED_STEPS = 64;

/** What a config takes as the slots of a portfolio. */
const SLOTS: Param = { name: 'slots', type: 'int', default: 1, min: 1, max: MAX_SLOTS };

/** One fault for each dimension with a value that its param cannot have. */
export function paramFaults(
  { dimensions }: Space,
  given: SweepSpec['space'],
  { strategyAst }: StrategyPayload,
): SpaceFault[] {
  return dimensions.flatMap((dimension) => {
    const declared = strategyAst.strategy.params?.find(({ name }) => name === dimension.name);
    const param = dimension.target === 'slots' ? SLOTS : dimension.target === 'param' ? declared : undefined;
    return param === undefined ? [] : (faultOf(dimension, param, given[dimension.name]) ?? []);
  });
}

function faultOf(dimension: Dimension, param: Param, given: SweepSpec['space'][string]): SpaceFault | undefined {
  const { name } = dimension;
  if (dimension.kind === 'continuous' && (param.type === 'int' || param.values !== undefined))
    return {
      path: pointerTo('/space', name),
      message:
        param.values === undefined
          ? `${name} must be a whole number, and the range from ${dimension.min} to ${dimension.max} is continuous.`
          : `${name} must be one of its declared values, and the range is continuous.`,
      suggestion: param.values === undefined ? 'Begin and end at whole numbers, or give a step.' : 'Give {values}.',
    };
  // Of a value that is declared, only the rest is checked: 10,000 levels would each be looked up in 10,000 values.
  const declared = new Set(param.values);
  const { values: _, ...undeclared } = param;
  for (const coordinate of checkedCoordinates(dimension, param)) {
    const value = dimension.kind === 'continuous' ? coordinate : valueAt(dimension, coordinate);
    const issue = paramIssue(declared.has(value) ? undeclared : param, value);
    if (issue === undefined) continue;
    const inList = 'values' in given ? ['values', given.values.indexOf(value)] : [];
    return {
      path: pointerTo('/space', name, ...inList),
      message: `${name} ${issue.message}.`,
      suggestion: adviceFor(dimension, param, issue.code === 'TYPE_MISMATCH'),
    };
  }
  return undefined;
}

/** The coordinates that stand for all of a dimension. */
function checkedCoordinates(dimension: Dimension, { values }: Param): number[] {
  if (dimension.kind === 'continuous') return [dimension.min, dimension.max];
  const count = levelCount(dimension);
  if (dimension.kind === 'levels') return Array.from({ length: count }, (_, level) => level);
  // More levels than declared values cannot all be among them.
  const checked = Math.min(count, Math.max(CHECKED_STEPS, (values?.length ?? 0) + 1));
  // The ends first: of a range that leaves the bounds, they say the most.
  return [0, count - 1, ...Array.from({ length: checked }, (_, level) => level)];
}

function adviceFor(dimension: Dimension, { type, values }: Param, isWrongType: boolean): string {
  if (!isWrongType && dimension.target === 'slots') return 'Stay within these bounds.';
  if (!isWrongType)
    return values === undefined ? 'Stay within the bounds that the strategy declares.' : 'Give {values}.';
  if (dimension.kind === 'steps') return dimension.log ? 'Give {values}.' : 'Give a whole min and a whole step.';
  return type === 'bool' ? 'Give true, false, or both.' : `Give ${type === 'int' ? 'whole numbers' : 'numbers'}.`;
}
