// Whether the instruments and slots that a sweep varies fit its config: a sweep of portfolios varies lists and slots,
// one of single runs varies symbols.
import { pointerTo } from '../language/pointer.ts';
import type { SpaceFault, StrategyPayload } from './resolveSpace.ts';
import type { Dimension, Space } from './space.ts';
import type { SweepSpec } from './sweepRequest.ts';

/** One fault for each dimension that the config or the strategy does not allow, and for each list that is none. */
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
