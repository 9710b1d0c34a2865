// Results: all backtests of the workspace in one table, to sort, filter and group, and to choose some to compare.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { anyText, count, counted, MISSING, moment, STATISTICS, statisticOf, toneOf, valueText } from './formats.ts';
import { html, type Children } from './markup.ts';
import { FilterBar, filtersOf, serverQueryOf } from './resultFilters.ts';
import { GROUPINGS, groupedItems } from './resultGroups.ts';
import { MOST_ROWS, useResultRows, type ResultRow } from './resultRows.ts';
import { go, linkTo, remember, route } from './route.ts';
import { complain } from './session.ts';
import { readStrategyNames, strategies, strategyName, versionText } from './strategyNames.ts';
import { VirtualTable, type Column } from './virtualTable.ts';

const DEFAULT_COLUMNS = ['returnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions'];
const DEFAULT_SORT = '-createdAt';
const MOST_COMPARED = 6;
const IS_NARROW = matchMedia('(max-width: 560px)').matches;

export function ResultsView(): Children {
  const { query } = route.value;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => readStrategyNames(), []);
  const columnKeys =
    query
      .get('columns')
      ?.split(',')
      .filter((key) => statisticOf(key)) ?? DEFAULT_COLUMNS;
  const sort = query.get('sort') ?? DEFAULT_SORT;
  const group = GROUPINGS.find(({ key }) => key === query.get('group'));
  const filters = filtersOf(query);
  const list = useResultRows(serverQueryOf(filters, sort, columnKeys));
  const names = strategies.value;
  const items = useMemo(() => {
    const kept = sorted(list.rows, sort);
    return group === undefined ? kept.map((row) => ({ id: row.id, row })) : groupedItems(kept, group, sort, open);
  }, [list.rows, names, query.toString(), open]);
  const columns = useMemo(() => columnsOf(columnKeys), [columnKeys.join()]);
  const toggle = (set: ReadonlySet<string>, id: string): Set<string> => {
    const next = new Set(set);
    if (!next.delete(id)) next.add(id);
    return next;
  };
  const choose = (id: string): void => {
    if (!chosen.has(id) && chosen.size >= MOST_COMPARED)
      return complain(`At most ${MOST_COMPARED} results can be compared. Deselect one of them first.`);
    setChosen(toggle(chosen, id));
  };
  const openItem = (id: string): void => {
    if (id.startsWith('group ')) setOpen(toggle(open, id));
    else go(linkTo(`results/${id}`));
  };
  const isFiltered = [...query.keys()].some((name) => !['sort', 'columns', 'group'].includes(name));
  return html`<div class="wide">
    <div class="heading-line">
      <h1>Results</h1>
      <p class="quiet" role="status">${countText(list, items.length, group !== undefined)}</p>
      <${ChosenBar} chosen=${chosen} onClear=${() => setChosen(new Set())} />
    </div>
    <${FilterBar} filters=${filters} rows=${list.rows} group=${group?.key ?? ''} columns=${columnKeys} />
    ${list.fault && html`<p class="fault" role="alert">${list.fault.message}</p>`}
    <${VirtualTable}
      label="Results"
      columns=${columns}
      items=${items}
      sort=${sort}
      onSort=${(key: string) => remember({ sort: nextSort(sort, key) })}
      onOpen=${openItem}
      chosen=${chosen}
      onChoose=${choose}
      nameOf=${titleOf}
      empty=${
        list.total === null
          ? 'Loading results …'
          : isFiltered
            ? html`<p>No result fits these filters.</p>
                <p><a href=${linkTo('results')}>Show all</a></p>`
            : html`<p>There are no backtests yet. A strategy's page queues one.</p>`
      }
    />
  </div>`;
}

function countText(list: ReturnType<typeof useResultRows>, shown: number, isGrouped: boolean): string {
  if (list.total === null) return '';
  const all = counted(list.total, 'backtest');
  if (!list.isComplete) return `${count(list.rows.length)} of ${all} loaded`;
  if (list.total > MOST_ROWS) return `the first ${count(MOST_ROWS)} of ${all}: filter to see others`;
  return isGrouped || shown === list.total ? all : `${count(shown)} of ${all}`;
}

function ChosenBar({
  chosen,
  onClear,
}: {
  readonly chosen: ReadonlySet<string>;
  readonly onClear: () => void;
}): Children {
  if (chosen.size === 0) return null;
  const isEnough = chosen.size >= 2;
  return html`<div class="chosen-bar">
    <span>${count(chosen.size)} chosen</span>
    <button class="main" disabled=${!isEnough} onClick=${() => go(linkTo('compare', { ids: [...chosen].join() }))}>
      ${isEnough ? 'Compare' : 'Compare: choose another'}
    </button>
    <button class="plain" onClick=${onClear}>Clear</button>
  </div>`;
}

/** What a result is called: its own name, or the name of its strategy. */
export const titleOf = (row: ResultRow): string => row.name || strategyName(row.strategyId);

function columnsOf(keys: readonly string[]): Column<ResultRow>[] {
  return [
    { key: 'title', title: 'Name', width: IS_NARROW ? 150 : 240, cell: nameCell },
    { key: 'symbol', title: 'Symbol', width: 130, cell: symbolText },
    { key: 'timeframe', title: 'Bars', width: 64, cell: (row) => row.timeframe },
    ...keys.map((key): Column<ResultRow> => ({
      key,
      title: statisticOf(key)?.name ?? key,
      about: statisticOf(key)?.about,
      width: 136,
      isNumber: true,
      cell: (row) => valueText(key, row[key]),
      tone: (row) => toneOf(key, row[key]),
    })),
    { key: 'params', title: 'Params', width: 190, tone: () => 'faint', cell: (row) => paramsText(row.params) },
    { key: 'status', title: 'Status', width: 100, tone: (row) => `state ${row.status}`, cell: (row) => row.status },
    { key: 'createdAt', title: 'Queued', width: 160, cell: (row) => moment(row.createdAt) },
  ]; // prettier-ignore
}

const nameCell = (row: ResultRow): Children =>
  html`<a href=${linkTo(`results/${row.id}`)} tabindex="-1">${titleOf(row)}</a>${' '}
    <small>${versionText(row.strategyVersionId)}</small>
    ${(row.tags ?? []).map((tag) => html`${' '}<span class="tag">${tag}</span>`)}`;

/** What a row trades, in a few characters. */
export const symbolText = ({ symbol, instruments }: ResultRow): string =>
  (instruments ?? 1) > 1 ? `${instruments} instruments` : symbol;

const paramsText = (params: ResultRow['params']): string =>
  Object.entries(params)
    .map(([name, value]) => `${name} ${valueText('', value)}`)
    .join(', ') || MISSING;

/** A heading sorts by the better end first, then by the other. */
function nextSort(sort: string, key: string): string {
  if (sort === key) return `-${key}`;
  if (sort === `-${key}`) return key;
  const statistic = STATISTICS.find((each) => each.key === key);
  const isDescending = key === 'createdAt' || (statistic !== undefined && statistic.better === 'higher');
  return isDescending ? `-${key}` : key;
}

/** By value; rows without one come last, whichever way they are sorted. */
function sorted(rows: readonly ResultRow[], sort: string): ResultRow[] {
  const sign = sort.startsWith('-') ? -1 : 1;
  const key = sort.replace(/^-/, '');
  const valueOf = (row: ResultRow): unknown =>
    key === 'title' ? titleOf(row) : key === 'params' ? paramsText(row.params) : row[key];
  const texts = new Intl.Collator(undefined, { numeric: true });
  return rows
    .map((row) => ({ row, value: valueOf(row) ?? null }))
    .sort(({ value: a }, { value: b }) => {
      if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
      return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : texts.compare(anyText(a), anyText(b)));
    })
    .map(({ row }) => row);
}
