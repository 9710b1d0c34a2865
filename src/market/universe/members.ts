// The members of the synthetic universe: which instruments there are, when they trade, and what moves them.
import { makeInstrument, SYNTHETIC_PREFIX } from '../instrument.ts';
import type { Instrument } from '../../engine/bars/bars.ts';

/** A random return that several members share. Deviation and drifts are per year, as fractions. */
export interface Factor {
  readonly name: string;
  readonly deviation: number;
  /** Drifts of the regimes, which change every few months, and the chance of the first one. */
  readonly drifts: readonly [number, number];
  readonly chance: number;
}

export interface Member {
  readonly symbol: string;
  readonly description: string;
  /** Whether it has bars on all seven days; otherwise Monday to Friday, without holidays. */
  readonly tradesAllDay: boolean;
  readonly firstPrice: number;
  readonly decimals: number;
  /** Whole shares, or a fraction of a coin. */
  readonly qtyStep: number;
  /** Per year, on top of the drifts of its factors. */
  readonly drift: number;
  /** What it takes of the return of the market and of its group. */
  readonly marketBeta: number;
  readonly group: Factor;
  readonly groupBeta: number;
  /** Deviation per year of its own noise. */
  readonly deviation: number;
  /** First and last day with a bar, and days between which there is none. */
  readonly first: string;
  readonly last: string;
  readonly absent?: { readonly from: string; readonly to: string };
  /** The member whose price it follows; the ratio of the two returns to its mean. */
  readonly follows?: string;
}

export const MARKET: Factor = { name: 'MARKET', deviation: 0.14, drifts: [0.17, -0.16], chance: 0.75 };

const FIRST_DAY = '2012-01-03';
const LAST_DAY = '2023-12-29';

/** Name in symbols, name in words, market beta, deviation of the sector, price of the first company. */
const SECTORS = [
  ['CONSUMER', 'consumer goods', 0.8, 0.07, 42],
  ['ENERGY', 'energy', 1.1, 0.16, 71],
  ['FINANCE', 'finance', 1.2, 0.11, 35],
  ['HEALTH', 'health care', 0.8, 0.09, 54],
  ['INDUSTRY', 'industry', 1, 0.08, 63],
  ['MATERIAL', 'materials', 1.1, 0.12, 28],
  ['TECH', 'technology', 1.25, 0.13, 30],
  ['UTILITY', 'utilities', 0.5, 0.09, 47],
] as const;

/** What is special about a company: its dates, a gap, or the company that it follows. */
const SPECIAL: Readonly<Record<string, Partial<Pick<Member, 'first' | 'last' | 'absent' | 'follows'>>>> = {
  'SYN-TECH-04': { first: '2016-05-16' },
  'SYN-HEALTH-04': { first: '2014-03-03' },
  'SYN-ENERGY-04': { last: '2019-08-30' },
  'SYN-FINANCE-04': { last: '2020-03-20' },
  'SYN-MATERIAL-04': { absent: { from: '2017-02-06', to: '2017-05-12' } },
  'SYN-CONSUMER-02': { follows: 'SYN-CONSUMER-01' },
  'SYN-UTILITY-02': { follows: 'SYN-UTILITY-01' },
};

const SHARE = { tradesAllDay: false, decimals: 2, qtyStep: 1, first: FIRST_DAY, last: LAST_DAY } as const;
const COMPANIES_PER_SECTOR = 4;

function sectorMembers([name, words, beta, deviation, price]: (typeof SECTORS)[number]): Member[] {
  const group = sectorFactor(name, deviation);
  const fund: Member = {
    ...SHARE,
    symbol: `${SYNTHETIC_PREFIX}${name}-FUND`,
    description: `Synthetic fund of the sector ${words}.`,
    firstPrice: 100,
    drift: 0.01,
    marketBeta: beta,
    group,
    groupBeta: 1,
    deviation: 0.01,
  };
  return [fund, ...Array.from({ length: COMPANIES_PER_SECTOR }, (_, index) => company(index + 1))];

  function company(number: number): Member {
    const symbol = `${SYNTHETIC_PREFIX}${name}-0${number}`;
    const special = SPECIAL[symbol] ?? {};
    return {
      ...SHARE,
      ...special,
      symbol,
      description: `Synthetic company of the sector ${words}${specialWords(special)}.`,
      firstPrice: Math.round(price * (0.7 + 0.4 * number)),
      drift: 0.05 + 0.005 * number,
      marketBeta: beta * (0.7 + 0.15 * number),
      group,
      groupBeta: 0.8 + 0.1 * number,
      // The spread of a pair must be smaller than the companies' own noise, or it would not be one.
      deviation: special.follows === undefined ? 0.12 + 0.05 * number : 0.14,
    };
  }
}

/** Sectors have trends of some months that pay nothing in the long run. */
const sectorFactor = (name: string, deviation: number): Factor => ({
  name,
  deviation,
  drifts: [1.4 * deviation, -1.4 * deviation],
  chance: 0.5,
});

function specialWords({ first, last, absent, follows }: Partial<Member>): string {
  if (follows !== undefined) return `, whose price follows ${follows}`;
  if (absent !== undefined) return `, without bars from ${absent.from} to ${absent.to}`;
  if (last !== undefined) return `, whose data ends on ${last}`;
  return first === undefined ? '' : `, whose data begins on ${first}`;
}

const single = (name: string, deviation: number): Factor => ({ name, deviation, drifts: [0, 0], chance: 1 });

const FUNDS: readonly Member[] = [
  {
    ...SHARE,
    symbol: 'SYN-BOND-FUND',
    description: 'Synthetic fund that behaves like one of government bonds.',
    firstPrice: 80,
    drift: 0.03,
    marketBeta: -0.06,
    group: single('BOND', 0.05),
    groupBeta: 1,
    deviation: 0.005,
  },
  {
    ...SHARE,
    symbol: 'SYN-GOLD-FUND',
    description: 'Synthetic fund that behaves like one of gold.',
    firstPrice: 120,
    drift: 0.03,
    marketBeta: 0,
    group: { name: 'GOLD', deviation: 0.14, drifts: [0.12, -0.1], chance: 0.5 },
    groupBeta: 1,
    deviation: 0.01,
  },
  {
    ...SHARE,
    symbol: 'SYN-MARKET-FUND',
    description: 'Synthetic fund of the whole market.',
    firstPrice: 130,
    drift: 0.02,
    marketBeta: 1,
    group: single('BREADTH', 0.02),
    groupBeta: 1,
    deviation: 0.005,
  },
];

const COIN: Factor = { name: 'COIN', deviation: 0.5, drifts: [1.2, -0.6], chance: 0.5 };
/** First day, first price and deviation of each coin. */
const COINS = [
  ['2014-01-01', 410, 0.25],
  ['2014-01-01', 12, 0.45],
  ['2016-02-10', 3.2, 0.55],
  ['2018-03-01', 48, 0.6],
  ['2019-06-15', 0.9, 0.7],
] as const;

const coins: readonly Member[] = COINS.map(([first, firstPrice, deviation], index) => ({
  symbol: `${SYNTHETIC_PREFIX}COIN-0${index + 1}`,
  description: `Synthetic coin that trades all seven days, whose data begins on ${first}.`,
  tradesAllDay: true,
  firstPrice,
  decimals: 4,
  qtyStep: 0.0001,
  drift: 0.35,
  marketBeta: 0,
  group: COIN,
  groupBeta: 1,
  deviation,
  first,
  last: '2023-12-31',
}));

/** By symbol. */
export const MEMBERS: readonly Member[] = [...SECTORS.flatMap(sectorMembers), ...FUNDS, ...coins].toSorted((a, b) =>
  a.symbol < b.symbol ? -1 : 1,
);

/** Its calendar is stated here rather than inferred, so that the catalog knows it before any bar is made. */
export function instrumentOfMember({ symbol, tradesAllDay, decimals, qtyStep }: Member): Instrument {
  const fields = { base: symbol.slice(SYNTHETIC_PREFIX.length), quote: 'USD', tickSize: 1 / 10 ** decimals, qtyStep };
  return makeInstrument(symbol, fields, { tradesAllDay, basis: tradesAllDay ? 'traded_every_day' : 'closed_days' });
}
