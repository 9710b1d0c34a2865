// Groups of results: rows with something in common under one heading, with their number and their best.
import { counted, statisticOf, valueText } from './formats.ts';
import { html, type Children } from './markup.ts';
import type { ResultRow } from './resultRows.ts';
import { strategyName, versionText } from './strategyNames.ts';
import type { Item } from './virtualTable.ts';

interface Grouping {
  readonly key: string;
  readonly title: string;
  /** A row with several tags is in the group of each. */
  readonly of: (row: ResultRow) => readonly string[];
}

export const GROUPINGS: readonly Grouping[] = [
  { key: 'symbol', title: 'Symbol', of: (row) => [(row.instruments ?? 1) > 1 ? 'portfolios' : row.symbol] },
  { key: 'strategy', title: 'Strategy', of: (row) => [strategyName(row.strategyId)] },
  {
    key: 'version',
    title: 'Version',
    of: (row) => [`${strategyName(row.strategyId)} ${versionText(row.strategyVersionId)}`],
  },
  { key: 'tag', title: 'Tag', of: ({ tags = [] }) => (tags.length === 0 ? ['without a tag'] : tags) },
  { key: 'timeframe', title: 'Bars', of: (row) => [row.timeframe] },
  { key: 'status', title: 'Status', of: (row) => [row.status] },
  { key: 'diagnosis', title: 'Diagnosis', of: (row) => [row.diagnosis ?? 'none'] },
];

/** Groups in the order of their first rows, so that sorting by a number sorts the groups by their best. */
export function groupedItems(
  rows: readonly ResultRow[],
  grouping: Grouping,
  sort: string,
  open: ReadonlySet<string>,
): Item<ResultRow>[] {
  const groups = new Map<string, ResultRow[]>();
  for (const row of rows)
    for (const name of grouping.of(row)) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [row]);
      else group.push(row);
    }
  const items: Item<ResultRow>[] = [];
  for (const [name, members] of groups) {
    const id = `group ${grouping.key} ${name}`;
    const isOpen = open.has(id);
    items.push({ id, isOpen, heading: headingOf(name, members, sort) });
    if (isOpen) for (const row of members) items.push({ id: row.id, row });
  }
  return items;
}

function headingOf(name: string, rows: readonly ResultRow[], sort: string): Children {
  const sortKey = sort.replace(/^-/, '');
  const key = statisticOf(sortKey) === undefined ? 'sharpeRatio' : sortKey;
  const statistic = statisticOf(key)!;
  const values = rows.map((row) => row[key]).filter((value): value is number => typeof value === 'number');
  const ascending = values.toSorted((a, b) => a - b);
  const best = statistic.better === 'higher' ? ascending.at(-1) : ascending[0];
  const median = ascending[ascending.length >> 1];
  return html`<b>${name}</b>
    <span class="faint"
      >${counted(rows.length, 'backtest')}${
        values.length > 0 && ` · ${statistic.name}: best ${valueText(key, best)}, median ${valueText(key, median)}`
      }</span
    >`;
}
