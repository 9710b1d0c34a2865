// The registry of statistics: every number of a summary outside its blocks. Keys, stored positions, descriptions,
// report rows and the list of the database follow from it.
import { POSITION_STATISTICS } from './closedPositionStatistics.ts';
import { COST_STATISTICS } from './costStatistics.ts';
import { DRAWDOWN_STATISTICS } from './drawdownStatistics.ts';
import { MONEY_STATISTICS } from './moneyStatistics.ts';
import { RETURN_STATISTICS } from './returnStatistics.ts';
import { UNITS, type Statistic } from './statistic.ts';
import { USE_STATISTICS } from './moneyStatistics.ts';

/** By the function that computes them. */
const BLOCKS = {
  money: MONEY_STATISTICS,
  drawdown: DRAWDOWN_STATISTICS,
  returns: RETURN_STATISTICS,
  use: USE_STATISTICS,
  positions: POSITION_STATISTICS,
  costs: COST_STATISTICS,
} as const;
type Blocks = typeof BLOCKS;
export type Block = keyof Blocks;
export const BLOCK_NAMES = Object.keys(BLOCKS) as readonly Block[];
export type FlatKey = { [Name in Block]: keyof Blocks[Name] }[Block];

type Values<Defined> = {
  readonly [Key in keyof Defined]: Defined[Key] extends { readonly canBeNull: false } ? number : number | null;
};
/** The values of a block of statistics. Percents are fractions, money is in quote units; null means undefined. */
export type BlockValues<Name extends Block> = Values<Blocks[Name]>;
/** The values of all statistics. */
export type FlatSummary = Values<
  typeof MONEY_STATISTICS &
    typeof DRAWDOWN_STATISTICS &
    typeof RETURN_STATISTICS &
    typeof USE_STATISTICS &
    typeof POSITION_STATISTICS &
    typeof COST_STATISTICS
>;

interface NamedStatistic extends Statistic {
  readonly key: FlatKey;
  readonly block: Block;
}

/** All statistics in the order of their positions. */
export const STATISTICS: readonly NamedStatistic[] = BLOCK_NAMES.flatMap((block) =>
  Object.entries<Statistic>(BLOCKS[block]).map(([key, statistic]) => ({ ...statistic, key: key as FlatKey, block })),
).toSorted((a, b) => a.position - b.position);

/** All keys in the order of their positions. */
export const FLAT_KEYS: readonly FlatKey[] = STATISTICS.map(({ key }) => key);

/** The positions by key, in their order. */
export const STATISTIC_POSITIONS: ReadonlyMap<string, number> = new Map(
  STATISTICS.map(({ key, position }) => [key, position]),
);

/** What each key says, with its unit, its sign and its range, for schemas (formulas: semantics §5). */
export const FLAT_DESCRIPTIONS = Object.fromEntries(
  STATISTICS.map(({ key, about, unit, range }) => [
    key,
    [about, UNITS[unit].sentence, range].filter((part) => part).join(' '),
  ]),
) as Readonly<Record<FlatKey, string>>;

const BY_KEY: ReadonlyMap<FlatKey, NamedStatistic> = new Map(STATISTICS.map((statistic) => [statistic.key, statistic]));
export const statisticOf = (key: FlatKey): NamedStatistic => BY_KEY.get(key)!;

/** Whether people read the statistic in percent. */
export const isFraction = (key: FlatKey): boolean => UNITS[statisticOf(key).unit].isFraction;
