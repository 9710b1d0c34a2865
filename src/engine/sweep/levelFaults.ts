// Whether each dimension of a sweep takes only values that its param, or the instruments and slots of its config, can
// have, so that a sweep is refused before its variants fail one by one.
import { MAX_SLOTS } from '../config.ts';
import type { Param } from '../language/grammar/ast.ts';
import { paramIssue } from '../language/canonical/params.ts';
import { pointerTo } from '../language/pointer.ts';
import type { SpaceFault, StrategyPayload } from './resolveSpace.ts';
import { levelCount, valueAt } from './space.ts';
import type { Dimension, Space } from './space.ts';
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

/**
 * A sweep of portfolios varies lists and slots, one of single runs varies symbols.
 * @returns one fault for each dimension that the config or the strategy does not allow, and for each list that is none
 */
export function universeFaults(
  { dimensions }: Space,
  { config, space }: SweepSpec,
  { strategyAst }: StrategyPayload,
): SpaceFault[] {
  const isList = config.instruments !== undefined;
  return dimensions.flatMap((dimension): SpaceFault[] => {
    const { name, target } = dimension;
    const path = pointerTo('/space', name);
    if (target === 'symbol' && isList)
      return [{ path, message: 'symbol varies the instrument of a single run, and the config has a list.', ...LISTS }];
    if ((target === 'instruments' || target === 'slots') && !isList)
      return [{ path, message: `${name} belongs to a portfolio, and the config has one instrument.`, ...PORTFOLIO }];
    if (target === 'slots' && strategyAst.strategy.allocation !== undefined)
      return [{ path, message: 'Slots bound the entries of rules, and the strategy has an allocation.', ...TOP }];
    return target === 'instruments' ? listFaults(dimension, config, space[name]) : [];
  });
}

const LISTS = {
  suggestion:
    'Vary "instruments", whose values are lists of symbols, or give signalInstrument in place of instruments.',
};
const PORTFOLIO = {
  suggestion: 'Give "instruments": [{"symbol": …}, …] in place of signalInstrument, or vary "symbol".',
};
const TOP = {
  suggestion:
    'Vary the numbers of its legs instead, by a JSON pointer such as /strategyAst/strategy/allocation/long/top, or ' +
    'by a param that stands for "top".',
};

/** @param given the dimension as it was sent, whose equal values are one level */
function listFaults(
  dimension: Dimension,
  { portfolio }: SweepSpec['config'],
  given: SweepSpec['space'][string],
): SpaceFault[] {
  if (dimension.kind !== 'levels' || dimension.lists === undefined || !('values' in given)) return [];
  const linked = (portfolio?.linked ?? []).flat();
  const places = new Map(given.values.map((value, at) => [JSON.stringify(value), at]));
  return dimension.lists.flatMap((symbols): SpaceFault[] => {
    const path = pointerTo('/space', dimension.name, 'values', places.get(JSON.stringify(symbols))!);
    const known = new Set(symbols);
    if (known.size < symbols.length) {
      const twice = symbols.find((symbol, at) => symbols.indexOf(symbol) !== at)!;
      return [{ path, message: `${twice} is in the list twice.`, suggestion: 'Remove it in one place.' }];
    }
    const missing = linked.find((symbol) => !known.has(symbol));
    if (missing === undefined) return [];
    const suggestion = 'Add it to the list, or sweep without linked instruments.';
    return [{ path, message: `${missing} is linked in config.portfolio, and not in this list.`, suggestion }];
  });
}
