// The columns of the list of backtests, and its conditions on numbers of the summary.
import { z } from 'zod';
import type { SummaryCondition } from '../../db/backtestLists.ts';
import { FLAT_KEYS, nearestName, type FlatKey } from '../../engine/index.ts';
import { wholeNumber } from '../http/csvPages.ts';

const MAX_COLUMNS = 40;
const MAX_CONDITIONS = 20;
const MAX_LENGTH = 2_000;
/** Unknown columns that an answer lists. */
const MAX_FAULTS = 5;

const isKey = (name: string): name is FlatKey => (FLAT_KEYS as readonly string[]).includes(name);
/** The keys of the summary among these names. */
export const keysAmong = (names: readonly string[]): FlatKey[] => names.filter(isKey);

/** Adds a fault that names the nearest of `names`. */
function refuseName(context: z.RefinementCtx, what: string, given: string, names: readonly string[]): void {
  const shown = JSON.stringify(given.slice(0, 100));
  const nearest = nearestName(given, names);
  const advice = nearest === undefined ? `There are ${names.join(', ')}.` : `Did you mean "${nearest.name}"?`;
  const message = `There is no ${what} ${shown}. ${advice}`;
  context.addIssue({ code: 'custom', message, params: { code: 'OUT_OF_RANGE' } });
}

/** A query parameter of names, separated by commas. @param members of a row besides the keys of the summary */
export const columnsOf = (members: readonly string[]) => {
  const names = [...members, ...FLAT_KEYS];
  return z
    .string()
    .max(MAX_LENGTH)
    .transform((given, context) => {
      const columns = [...new Set(given.split(',').map((name) => name.trim()))];
      const unknown = columns.filter((column) => !names.includes(column));
      for (const column of unknown.slice(0, MAX_FAULTS)) refuseName(context, 'column', column, names);
      if (columns.length > MAX_COLUMNS)
        context.addIssue({ code: 'custom', message: `must name at most ${MAX_COLUMNS} columns` });
      return columns;
    })
    .optional()
    .meta({
      type: 'string',
      description:
        'Members of a row and keys of the summary, separated by commas, in place of the usual members. `id` and the ' +
        'key that sorts are always there.',
    });
};

const CONDITION = /^\s*(\w+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*$/i;

/** Filters by numbers of the summary; a backtest without a result has none. */
export const SUMMARY_FILTERS = {
  minTrades: wholeNumber(0, 1_000_000_000).meta({
    type: 'integer',
    description: 'At least so many positions (`totalPositions`).',
  }),
  where: z
    .string()
    .max(MAX_LENGTH)
    .transform((given, context) => {
      const texts = given.split(',');
      if (texts.length > MAX_CONDITIONS)
        context.addIssue({ code: 'custom', message: `must have at most ${MAX_CONDITIONS} conditions` });
      return texts.slice(0, MAX_CONDITIONS).flatMap((text) => conditionOf(text, context) ?? []);
    })
    .optional()
    .meta({
      type: 'string',
      description: 'Conditions on keys of the summary, separated by commas: `sharpeRatio>=1,maxDrawdown<0.2`.',
    }),
};

function conditionOf(text: string, context: z.RefinementCtx): SummaryCondition | undefined {
  const [, key, comparison, value] = CONDITION.exec(text) ?? [];
  if (key === undefined) {
    const advice = 'Write a key, one of >= <= > < and a number: sharpeRatio>=1.';
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(text.slice(0, 100))} is not a condition. ${advice}`,
    });
    return undefined;
  }
  if (!isKey(key)) {
    refuseName(context, 'key of the summary', key, FLAT_KEYS);
    return undefined;
  }
  return { key, comparison: comparison as SummaryCondition['comparison'], value: Number(value) };
}

/** The conditions of a query, with that on the number of positions. */
export const conditionsOf = ({
  minTrades,
  where = [],
}: {
  readonly minTrades?: number | undefined;
  readonly where?: readonly SummaryCondition[] | undefined;
}): readonly SummaryCondition[] =>
  minTrades === undefined ? where : [...where, { key: 'totalPositions', comparison: '>=', value: minTrades }];
