// JSON shapes: the ways in which libraries and exchanges put bars into objects, each as lists of bars.
import { NAMES, normalizeName } from './columnNames.ts';

/** A list of bars: its cells by row and column, with the names of the columns where the file has them. */
export interface BarList {
  /** Whose bars they are, if the file says so beside the list. */
  readonly symbol: string | null;
  /** The name of the member that the list is, which may be a symbol. */
  readonly key?: string;
  readonly names: readonly string[] | null;
  readonly width: number;
  readonly rowCount: number;
  /** undefined in a row that is not a bar like the first. */
  readonly rowAt: (row: number) => readonly unknown[] | undefined;
  /** What the owner of the file should know. */
  readonly notes?: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

/** Wrappers of Kraken, Polygon and Alpaca: {"bars": {"AAPL": [{…}, …]}}. */
const MAX_WRAPPERS = 3;
const PRICES: ReadonlySet<string> = new Set([...NAMES.open, ...NAMES.high, ...NAMES.low, ...NAMES.close]);

/** The lists of bars in a value; empty: it has none. */
export function barListsIn(value: unknown, symbol: string | null = null, depth: number = MAX_WRAPPERS): BarList[] {
  if (Array.isArray(value)) {
    if (!isBars(value)) return [];
    // Tiingo's crypto: [{"ticker": "btcusd", "priceData": [{…}, …]}].
    const isWrapped = depth > 0 && listsBeside(value[0], symbol, depth - 1).length > 0;
    return isWrapped
      ? value.flatMap((each: unknown) => listsBeside(each, symbol, depth - 1))
      : [listOfRows(value, symbol)];
  }
  if (!isMembers(value)) return [];
  const named = symbolIn(value) ?? symbol;
  for (const shape of SHAPES) {
    const lists = shape(value, named);
    if (lists !== null) return lists;
  }
  if (depth === 0) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    barListsIn(member, named, depth - 1).map((list) => ({ key, ...list })),
  );
}

/** The lists in an object that is not a bar itself. */
function listsBeside(value: unknown, symbol: string | null, depth: number): BarList[] {
  if (!isMembers(value) || !Object.values(value).some((member) => Array.isArray(member) && isBars(member))) return [];
  return barListsIn(value, symbol, depth);
}

/** {"symbol": "AAPL"}, {"ticker": "AAPL"} and {"meta": {"symbol": "AAPL"}}. */
function symbolIn({ symbol, ticker, meta }: Members): string | null {
  const found = [symbol, ticker, isMembers(meta) ? meta.symbol : null].find((each) => typeof each === 'string');
  return typeof found === 'string' ? found : null;
}

/** In this order: a member that one shape explains is not looked at by the next. */
const SHAPES: readonly ((value: Members, symbol: string | null) => BarList[] | null)[] = [
  yahooChart,
  kraken,
  okx,
  pandasTable,
  pandasSplit,
  columnsOfValues,
  pandasColumns,
  pandasIndex,
];

/** {"chart": {"result": [{"meta": {"symbol": …}, "timestamp": […], "indicators": {"quote": [{"open": […], …}]}}]}} */
function yahooChart({ chart }: Members): BarList[] | null {
  if (!isMembers(chart) || !Array.isArray(chart.result)) return null;
  return chart.result.filter(isMembers).flatMap(({ meta, timestamp, indicators }) => {
    if (!isMembers(indicators) || !Array.isArray(timestamp)) return [];
    const blocks = Object.values(indicators).flatMap((block: unknown) =>
      Array.isArray(block) ? block.slice(0, 1) : [],
    );
    const columns = { timestamp, ...Object.assign({}, ...blocks.filter(isMembers)) } as Record<string, unknown>;
    return [listOfColumns(columns, isMembers(meta) ? symbolIn(meta) : null)];
  });
}

const OPEN_BAR = 'The last bar is not complete, by the file, and is left out.';

/** {"error": [], "result": {"XXBTZUSD": [[time, …], …], "last": time}}: `last` is the time of the last complete bar. */
function kraken({ error, result }: Members, symbol: string | null): BarList[] | null {
  if (!Array.isArray(error) || !isMembers(result) || typeof result.last !== 'number') return null;
  const { last, ...lists } = result;
  return Object.entries(lists).flatMap(([key, rows]) => {
    if (!Array.isArray(rows) || !isBars(rows)) return [];
    const list = { key, ...listOfRows(rows, symbol) };
    const latest: unknown = list.rowAt(list.rowCount - 1)?.[0];
    return typeof latest === 'number' && latest > last && latest < last + YEAR_S
      ? [{ ...list, rowCount: list.rowCount - 1, notes: [OPEN_BAR] }]
      : [list];
  });
}
/** `last` of another answer says nothing about the bars of this one. */
const YEAR_S = 366 * 86_400;

const OKX = ['time', 'open', 'high', 'low', 'close', 'volume', 'volCcy', 'volCcyQuote', 'confirm'];

/** {"code": "0", "data": [[time, …, "0"], …]}: newest first, and "0" marks a bar that is open. */
function okx({ code, data }: Members, symbol: string | null): BarList[] | null {
  if (code !== '0' || !Array.isArray(data) || data.length < 2) return null;
  if (!data.every((row: unknown) => Array.isArray(row) && row.length === OKX.length)) return null;
  const isOpen = (data[0] as unknown[])[OKX.length - 1] === '0';
  const list = { ...listOfRows(isOpen ? data.slice(1) : data, symbol), names: OKX };
  return [isOpen ? { ...list, notes: [OPEN_BAR] } : list];
}

/** pandas, orient="table": {"schema": {"fields": [{"name": …}, …]}, "data": [{…}, …]}. */
function pandasTable({ schema, data }: Members, symbol: string | null): BarList[] | null {
  return isMembers(schema) && Array.isArray(schema.fields) && Array.isArray(data) ? [listOfRows(data, symbol)] : null;
}

/** pandas, orient="split": {"columns": ["time", "open", …], "index": […], "data": [[…], …]}. */
function pandasSplit({ columns, index, data }: Members, symbol: string | null): BarList[] | null {
  const first: unknown = Array.isArray(data) ? data[0] : undefined;
  if (!isNames(columns) || !Array.isArray(data) || !Array.isArray(first) || first.length !== columns.length)
    return null;
  if (!Array.isArray(index) || index.length !== data.length) return [{ ...listOfRows(data, symbol), names: columns }];
  const rowAt = (row: number): readonly unknown[] | undefined =>
    Array.isArray(data[row]) ? [index[row], ...(data[row] as unknown[])] : undefined;
  return [{ symbol, names: ['index', ...columns], width: columns.length + 1, rowCount: data.length, rowAt }];
}

/** Finnhub's {"t": […], "o": […], …} and to_dict("list") of pandas. */
function columnsOfValues(value: Members, symbol: string | null): BarList[] | null {
  const columns = Object.entries(value).filter(([, cells]) => Array.isArray(cells) && cells.every(isScalar));
  const [longest = 0] = columns.map(([, cells]) => (cells as unknown[]).length).toSorted((a, b) => b - a);
  const whole = columns.filter(([, cells]) => (cells as unknown[]).length === longest);
  return longest > 0 && whole.some(([name]) => isPrice(name))
    ? [listOfColumns(Object.fromEntries(whole), symbol)]
    : null;
}

/** to_json() of pandas: {"open": {"1577923200000": 100, …}, "close": {…}}. */
function pandasColumns(value: Members, symbol: string | null): BarList[] | null {
  const columns = Object.entries(value);
  const areColumns = columns.every(([, cells]) => isMembers(cells) && Object.values(cells).every(isScalar));
  if (!areColumns || !columns.some(([name]) => isPrice(name))) return null;
  const keys = Object.keys(columns[0][1] as Members);
  const names = ['index', ...columns.map(([name]) => name)];
  const rowAt = (row: number): readonly unknown[] => [
    keys[row],
    ...columns.map(([, cells]) => (cells as Members)[keys[row]]),
  ];
  return [{ symbol, names, width: names.length, rowCount: keys.length, rowAt }];
}

/** pandas, orient="index", and Alpha Vantage: {"2024-01-02": {"open": 100, …}, …}. */
function pandasIndex(value: Members, symbol: string | null): BarList[] | null {
  const keys = Object.keys(value);
  const first = value[keys[0]];
  const isRow = (row: unknown): row is Members => isMembers(row) && Object.values(row).every(isScalar);
  if (!isRow(first) || !Object.keys(first).some(isPrice)) return null;
  const names = Object.keys(first);
  const rowAt = (row: number): readonly unknown[] | undefined => {
    const bar = value[keys[row]];
    return isRow(bar) ? [keys[row], ...names.map((name) => bar[name])] : undefined;
  };
  return [{ symbol, names: ['index', ...names], width: names.length + 1, rowCount: keys.length, rowAt }];
}

/** [[time, open, …], …] or [{"time": …, …}, …]. */
function listOfRows(rows: readonly unknown[], symbol: string | null): BarList {
  const [first] = rows;
  if (isMembers(first)) return listOfObjects(rows, first, symbol);
  const rowAt = (row: number): readonly unknown[] | undefined =>
    Array.isArray(rows[row]) ? (rows[row] as unknown[]) : undefined;
  return { symbol, names: null, width: Array.isArray(first) ? first.length : 0, rowCount: rows.length, rowAt };
}

/** OANDA's prices, {"mid": {"o": …, "h": …}}: of several sides the first of these is read. */
const SIDES = ['mid', 'bid', 'ask'];

/** Objects, whose members may be objects: Databento's {"hd": {"ts_event": …}}. */
function listOfObjects(rows: readonly unknown[], first: Members, symbol: string | null): BarList {
  const sides = SIDES.filter((side) => isMembers(first[side]));
  const places: { readonly name: string; readonly outer: string; readonly inner?: string }[] = [];
  for (const [outer, member] of Object.entries(first)) {
    if (sides.includes(outer) && outer !== sides[0]) continue;
    if (!isMembers(member)) places.push({ name: outer, outer });
    else
      for (const inner of Object.keys(member))
        places.push({ name: Object.hasOwn(first, inner) ? `${outer}.${inner}` : inner, outer, inner });
  }
  const rowAt = (row: number): readonly unknown[] | undefined => {
    const bar = rows[row];
    if (!isMembers(bar)) return undefined;
    return places.map(({ outer, inner }) => {
      const member = bar[outer];
      return inner === undefined ? member : isMembers(member) ? member[inner] : undefined;
    });
  };
  const notes: string[] = [];
  const last = rows.at(-1);
  const isOpen = isMembers(last) && last.complete === false;
  if (isOpen) notes.push(OPEN_BAR);
  if (sides.length > 1)
    notes.push(`Prices are those of "${sides[0]}"; those of "${sides.slice(1).join('" and "')}" are not read.`);
  return {
    symbol,
    names: places.map(({ name }) => name),
    width: places.length,
    rowCount: rows.length - (isOpen ? 1 : 0),
    rowAt,
    notes,
  };
}

function listOfColumns(columns: Record<string, unknown>, symbol: string | null): BarList {
  const names = Object.keys(columns).filter((name) => Array.isArray(columns[name]));
  const cells = names.map((name) => columns[name] as readonly unknown[]);
  const rowAt = (row: number): readonly unknown[] => cells.map((column) => column[row]);
  return { symbol, names, width: names.length, rowCount: cells[0]?.length ?? 0, rowAt };
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;
/** "('Close', 'AAPL')" is a name of pandas for a column under two headers. */
const isPrice = (name: string): boolean => PRICES.has(normalizeName(name)) || /\b(?:open|close)\b/i.test(name);
const isBars = (rows: readonly unknown[]): boolean => typeof rows[0] === 'object' && rows[0] !== null;
const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');
