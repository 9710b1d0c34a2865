// Several series in one file: rows that name their symbol, or columns that do, as one table for each symbol.
import { readBars } from './barsTable.ts';
import { ChosenColumns } from './chosenColumns.ts';
import { indexesOfAny, NAMES, normalizeName } from './columnNames.ts';
import { refuse } from './importError.ts';
import type { BarsTable } from './importReport.ts';
import type { ReadOptions } from './readOptions.ts';
import { takeRows } from './rows.ts';
import { symbolOfRow } from './table.ts';
import type { Cells, Table } from './table.ts';

interface NamedBars {
  /** As the file names it; null if it names none. */
  readonly symbol: string | null;
  readonly bars: BarsTable;
}

/** More symbols than this are not shown in a message. */
const SHOWN = 5;
/** `AAPL.Open`, `Close_MSFT` and "('Close', 'AAPL')": the field, and whose it is. */
const FIELD = '(open|high|low|close|last|volume|adjusted|adj[ _.]?close|vwap|count)';
/** Words beside a field that are not symbols: open_time, Close Price, Bid Open. */
const NOT_A_SYMBOL = /^(?:time|date|prices?|bid|ask|mid|adj|adjusted|interest|int|utc|local|session|raw)\W*$/i;
const OWNED = [
  { pattern: new RegExp(`^\\('${FIELD}', '(.+)'\\)$`, 'i'), field: 1, owner: 2 },
  { pattern: new RegExp(`^\\('(.+)', '${FIELD}'\\)$`, 'i'), field: 2, owner: 1 },
  { pattern: new RegExp(`^(.+)[._ ]${FIELD}$`, 'i'), field: 2, owner: 1 },
  { pattern: new RegExp(`^${FIELD}[._ ](.+)$`, 'i'), field: 1, owner: 2 },
] as const;

/**
 * The series of a file, one for each symbol that it names.
 * @param wanted the only symbol to be read
 * @throws MarketDataError SEVERAL_INSTRUMENTS when the file does not have that symbol
 */
export function readSeries(table: Table, options: ReadOptions = {}, wanted?: string): readonly NamedBars[] {
  const parts = splitBySymbol(table, options);
  if (parts.length === 1) return [{ symbol: parts[0].symbol ?? null, bars: readBars(parts[0], options) }];
  const chosen = wanted === undefined ? parts : parts.filter(({ symbol }) => symbol === wanted);
  if (chosen.length === 0) {
    const symbols = parts.map(({ symbol }) => symbol);
    const shown = symbols.slice(0, SHOWN).join(', ') + (symbols.length > SHOWN ? ', …' : '');
    refuse(
      'SEVERAL_INSTRUMENTS',
      `The file holds ${parts.length} instruments (${shown}), and none is ${wanted}. Name one of them, or leave the ` +
        'symbol out to import all.',
    );
  }
  return chosen.map((part) => ({ symbol: part.symbol!, bars: readBars(part, options) }));
}

function splitBySymbol(table: Table, { columns: choices }: ReadOptions): readonly Table[] {
  const owned = choices === undefined || table.owners ? withOwners(table) : table;
  if (owned.owners) return splitColumns(owned, owned.owners);
  const names = table.names ?? [];
  const plain = names.map(normalizeName);
  const named = new ChosenColumns(choices, names, plain).of('symbol') ?? indexesOfAny(plain, NAMES.symbol);
  const index = named.find((each) => hasSeveral(table.columns[each], table.rowCount));
  if (index !== undefined) return splitRows(table, index);
  const only = named.find((each) => table.columns[each].texts !== null);
  return [only === undefined ? table : { ...table, symbol: table.symbol ?? symbolOfRow(table.columns[only], 0) }];
}

function hasSeveral(cells: Cells, rowCount: number): boolean {
  const first = symbolOfRow(cells, 0);
  for (let row = 1; row < rowCount; row++) if (symbolOfRow(cells, row) !== first) return true;
  return false;
}

function splitRows(table: Table, index: number): readonly Table[] {
  const rowsOf = new Map<string, number[]>();
  for (let row = 0; row < table.rowCount; row++) {
    const symbol = symbolOfRow(table.columns[index], row);
    if (symbol === null) continue;
    const rows = rowsOf.get(symbol);
    if (rows === undefined) rowsOf.set(symbol, [row]);
    else rows.push(row);
  }
  return [...rowsOf].map(([symbol, numbers]) => {
    const rows = Int32Array.from(numbers);
    const { raw } = table;
    return {
      ...table,
      symbol,
      rows,
      rowCount: rows.length,
      columns: table.columns.map((cells) => takeRows(cells, rows)),
      raw: raw && ((columns) => raw(columns).map((cells) => Array.from(rows, (row) => cells[row]))),
    };
  });
}

/** The table with the symbols that its column names contain, if at least the prices of one are there. */
function withOwners(table: Table): Table {
  if (table.owners || table.names === null) return table;
  const parts = table.names.map((name) => {
    const found = OWNED.map(({ pattern, ...at }) => ({ match: pattern.exec(name.trim()), at })).find(
      ({ match }) => match !== null,
    );
    if (!found?.match) return null;
    const part = { field: found.match[found.at.field], owner: found.match[found.at.owner] };
    return NOT_A_SYMBOL.test(part.owner) ? null : part;
  });
  const closes = parts.flatMap((part) => (part && /^(?:close|last)$/i.test(part.field) ? [part.owner] : []));
  const opens = parts.flatMap((part) => (part && /^open$/i.test(part.field) ? [part.owner] : []));
  const owners = new Set(closes.filter((owner) => opens.includes(owner)));
  if (owners.size === 0) return table;
  const isOwned = (part: (typeof parts)[number]): part is NonNullable<typeof part> =>
    part !== null && owners.has(part.owner);
  return {
    ...table,
    names: table.names.map((name, at) => (isOwned(parts[at]) ? parts[at].field : name)),
    owners: parts.map((part) => (isOwned(part) ? part.owner : null)),
  };
}

function splitColumns(table: Table, owners: readonly (string | null)[]): readonly Table[] {
  const symbols = [...new Set(owners.filter((owner) => owner !== null))];
  return symbols.map((symbol) => {
    const kept = owners.flatMap((owner, at) => (owner === null || owner === symbol ? [at] : []));
    const { raw } = table;
    return {
      ...table,
      symbol,
      owners: null,
      names: table.names && kept.map((at) => table.names![at]),
      columns: kept.map((at) => table.columns[at]),
      raw: raw && ((columns) => raw(columns.map((at) => kept[at]))),
    };
  });
}
