// The volume column: which of several columns is the traded quantity, in units of the base asset if possible.
import { normalizeName } from './columnNames.ts';
import { isAveragePrice } from './layouts.ts';
import type { ColumnChoices } from './readOptions.ts';
import type { Cells, Table } from './table.ts';

/** A column that may be the volume. */
export interface VolumeCandidate {
  readonly index: number;
  readonly name: string;
  /**
   * chosen: named by the owner of the file; exact: "volume" and its synonyms; named: "Volume BTC"; ticks: a count of
   * price changes, which forex brokers give in its place; amount: units in the files of HTX, money in others.
   */
  readonly kind: 'chosen' | 'exact' | 'named' | 'ticks' | 'amount';
  readonly cells: Cells;
}
interface VolumeChoice {
  /** null: the file has none. */
  readonly index: number | null;
  readonly notes: readonly string[];
}

/** In fewer bars, a small volume may lie between low and high by chance. */
const ENOUGH_BARS = 20;

interface Prices {
  readonly high: Cells;
  readonly low: Cells;
}

/**
 * The table with a column more, if its volume is the sum of two: TradeStation's Up and Down, or the choice
 * `volume=A+B`.
 */
export function withSummedVolume(table: Table, choices: ColumnChoices = {}): Table {
  const names = table.names ?? [];
  const choice = choices.volume ?? 'Up+Down';
  if (names.includes(choice)) return table;
  const plain = names.map(normalizeName);
  const parts = choice.split('+').map((part) => plain.indexOf(normalizeName(part)));
  const cells = parts.map((index) => table.columns[index] as Cells | undefined);
  const [first, second] = cells;
  if (cells.length !== 2 || !first || !second || first.texts !== null || second.texts !== null) return table;
  const numbers = first.numbers.map((value, row) => value + second.numbers[row]);
  const { raw } = table;
  return {
    ...table,
    names: [...names, choice],
    columns: [...table.columns, { numbers, texts: null }],
    owners: table.owners && [...table.owners, null],
    raw:
      raw &&
      ((indexes) => indexes.map((index) => (index === names.length ? Array.from(numbers, String) : raw([index])[0]))),
  };
}

/** The first column that holds volume at all: by its exact name, by a name such as "Volume BTC", or counted ticks. */
export function chooseVolume(all: readonly VolumeCandidate[], prices: Prices): VolumeChoice {
  const candidates = all.filter(({ kind }) => kind !== 'amount');
  if (candidates.length === 0)
    return { index: null, notes: ['The file has no volume column: volume is 0 in every bar.'] };
  const [first] = candidates;
  if (first.kind === 'chosen') return { index: first.index, notes: [] };
  const traded = candidates.filter(({ cells }) => cells.numbers.some((value) => value > 0));
  if (traded.length === 0) {
    const [{ name, index }] = candidates;
    return { index, notes: [`Column "${name}" holds no volume: volume is 0 in every bar.`] };
  }
  const exact = traded.find(({ kind }) => kind === 'exact');
  const units = exact && all.find(({ kind, cells }) => kind === 'amount' && isTimesPrice(exact.cells, cells, prices));
  if (units !== undefined) return namedVolume([units, exact!], prices);
  if (exact) return { index: exact.index, notes: averagePriceNotes(exact, prices) };
  const named = traded.filter(({ kind }) => kind === 'named');
  if (named.length > 0) return namedVolume(named, prices);
  const [ticks] = traded;
  return { index: ticks.index, notes: [`Volume is taken from "${ticks.name}", a count of price changes.`] };
}

function averagePriceNotes({ name, cells }: VolumeCandidate, { high, low }: Prices): string[] {
  if (cells.numbers.length < ENOUGH_BARS || !isAveragePrice(cells, high, low)) return [];
  return [
    `Warning: "${name}" lies between low and high in every bar, like an average price. If it is not the ` +
      `volume, name the columns in a first line.`,
  ];
}

/** Chooses between "Volume BTC" and "Volume USDT", of which the second is the first times the price. */
function namedVolume(candidates: readonly VolumeCandidate[], prices: Prices): VolumeChoice {
  const base = candidates.find((candidate) =>
    candidates.some((other) => other !== candidate && isTimesPrice(other.cells, candidate.cells, prices)),
  );
  const { index, name } = base ?? candidates[0];
  const others = candidates.filter((candidate) => candidate.index !== index).map((other) => `"${other.name}"`);
  const rest = others.length > 0 ? `, not from ${others.join(' or ')}` : '; check that it counts units, not money';
  return { index, notes: [`Volume is taken from "${name}"${rest}.`] };
}

/** Whether `product` is `units` times the price: in most rows, since a vendor's rounding spoils some. */
function isTimesPrice(product: Cells, units: Cells, { high, low }: Prices): boolean {
  let [fitting, compared] = [0, 0];
  for (let row = 0; row < units.numbers.length; row++) {
    if (!(units.numbers[row] > 0)) continue;
    const price = product.numbers[row] / units.numbers[row];
    compared++;
    if (price >= low.numbers[row] * 0.99 && price <= high.numbers[row] * 1.01) fitting++;
  }
  return fitting * 2 > compared;
}
