// Filters of results: most are applied by the service; conditions on numbers are checked by the console itself.
import { useState } from 'preact/hooks';
import type { Query } from './api.ts';
import { STATISTICS, statisticOf, valueText } from './formats.ts';
import { html, type Children } from './markup.ts';
import { GROUPINGS } from './resultGroups.ts';
import type { ResultRow } from './resultRows.ts';
import { linkTo, remember, route } from './route.ts';
import { strategies } from './strategyNames.ts';

export interface Filters {
  readonly search: string;
  readonly tag: string;
  readonly symbol: string;
  readonly strategyId: string;
  readonly timeframe: string;
  readonly status: string;
  /** Such as `sharpeRatio>=1`. */
  readonly where: readonly Condition[];
}
interface Condition {
  readonly key: string;
  readonly op: '>=' | '<=';
  readonly value: number;
}

/** The service gives up to forty columns of a row. */
const MOST_COLUMNS = 25;
const STATUSES = ['completed', 'running', 'queued', 'failed', 'cancelled'];
const TIMEFRAMES = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '1w', '1M'];
/** Columns that the service sorts by; by the others, the console sorts what it has. */
const SERVER_SORTS = new Set(['createdAt', 'finishedAt', 'status', ...STATISTICS.map(({ key }) => key)]);

export function filtersOf(query: URLSearchParams): Filters {
  const text = (name: string): string => query.get(name) ?? '';
  const where = text('where')
    .split(',')
    .flatMap((each) => conditionOf(each) ?? []);
  return {
    search: text('search'),
    tag: text('tag'),
    symbol: text('symbol'),
    strategyId: text('strategy'),
    timeframe: text('timeframe'),
    status: text('status'),
    where,
  };
}

function conditionOf(text: string): Condition | null {
  const [, key, op, value] = /^(\w+)(>=|<=)(-?[\d.]+(?:e-?\d+)?)$/.exec(text) ?? [];
  if (key === undefined || statisticOf(key) === undefined) return null;
  return { key, op: op as Condition['op'], value: Number(value) };
}

const MEMBERS = [
  'status', 'strategyId', 'strategyVersionId', 'symbol', 'instruments', 'timeframe', 'name', 'tags', 'createdAt',
  'finishedAt', 'params', 'diagnosis',
]; // prettier-ignore

const conditionText = ({ key, op, value }: Condition): string => `${key}${op}${value}`;

/** The query of the list. `columns` are statistics that every row must have. */
export function serverQueryOf(filters: Filters, sort: string, columns: readonly string[]): Query {
  const { search, tag, symbol, strategyId, timeframe, status, where } = filters;
  return {
    search,
    tag,
    symbol,
    strategyId,
    timeframe,
    status,
    where: where.map(conditionText).join(','),
    columns: [...MEMBERS, ...columns].join(','),
    sort: SERVER_SORTS.has(sort.replace(/^-/, '')) ? sort : undefined,
  };
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly rows: readonly ResultRow[];
  readonly group: string;
  readonly columns: readonly string[];
}

export function FilterBar({ filters, rows, group, columns }: FilterBarProps): Children {
  const symbols = [...new Set(rows.slice(0, 2_000).map(({ symbol }) => symbol))].toSorted();
  const tags = [...new Set(rows.slice(0, 2_000).flatMap(({ tags: own = [] }) => own))].toSorted();
  const named = [...strategies.value.values()].map(({ id, name }) => [id, name] as const);
  const isFiltered = route.value.query.size > 0;
  return html`<div class="filters" role="search" aria-label="Filters">
    <label
      >Search
      <input type="search" value=${filters.search} placeholder="name, tag, note" onChange=${rememberAs('search')} />
    </label>
    <label>Symbol
      <input list="symbols" value=${filters.symbol} placeholder="all" onChange=${rememberAs('symbol')} />
      <datalist id="symbols">${symbols.map((symbol) => html`<option value=${symbol} />`)}</datalist>
    </label>
    <${Choice} label="Strategy" value=${filters.strategyId} name="strategy" options=${named} />
    <label
      >Tag
      <input list="tags" value=${filters.tag} placeholder="all" onChange=${rememberAs('tag')} />
      <datalist id="tags">${tags.map((tag) => html`<option value=${tag} />`)}</datalist>
    </label>
    <${Choice} label="Bars" value=${filters.timeframe} name="timeframe" options=${TIMEFRAMES.map(asOption)} />
    <${Choice} label="Status" value=${filters.status} name="status" options=${STATUSES.map(asOption)} />
    <${Choice} label="Group by" none="nothing" value=${group} name="group" options=${GROUP_OPTIONS} />
    <${ConditionEntry} where=${filters.where} columns=${columns} />
    <${ColumnChoice} columns=${columns} />
    ${isFiltered && html`<a class="reset" href=${linkTo('results')}>Reset</a>`}
    ${
      filters.where.length > 0 &&
      html`<ul class="conditions" aria-label="Conditions">
        ${filters.where.map(
          (condition) => html`<li class="tag">
            ${shownCondition(condition)}
            <button
              class="plain"
              aria-label="Remove the condition"
              onClick=${() => rememberWhere(filters.where.filter((each) => each !== condition))}
            >×</button>
          </li>`,
        )}
      </ul>`
    }
  </div>`; // prettier-ignore
}

type Option = readonly [value: string, text: string];
const asOption = (text: string): Option => [text, text];
const GROUP_OPTIONS = GROUPINGS.map(({ key, title }): Option => [key, title]);

const shownCondition = ({ key, op, value }: Condition): string =>
  `${statisticOf(key)!.name} ${op === '>=' ? '≥' : '≤'} ${valueText(key, value)}`;

const rememberAs =
  (name: string) =>
  (event: Event): void =>
    remember({ [name]: (event.target as HTMLInputElement | HTMLSelectElement).value.trim() || null });

const rememberWhere = (where: readonly Condition[]): void =>
  remember({ where: where.map(conditionText).join(',') || null });

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly none?: string;
}

function Choice({ label, name, value, options, none = 'all' }: ChoiceProps): Children {
  return html`<label>${label}
    <select value=${value} onChange=${rememberAs(name)}>
      <option value="">${none}</option>
      ${options.map(([each, text]) => html`<option value=${each} selected=${each === value}>${text}</option>`)}
    </select>
  </label>`; // prettier-ignore
}

/** A condition on a statistic that the table shows; a percentage is entered as one. */
function ConditionEntry({
  where,
  columns,
}: {
  readonly where: readonly Condition[];
  readonly columns: readonly string[];
}): Children {
  const [key, setKey] = useState(columns[0]);
  const [op, setOp] = useState<Condition['op']>('>=');
  const statistic = statisticOf(columns.includes(key) ? key : columns[0])!;
  const isPercent = statistic.written === 'percent';
  const add = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const value = Number((form.elements.namedItem('value') as HTMLInputElement).value);
    rememberWhere([...where, { key: statistic.key, op, value: isPercent ? value / 100 : value }]);
    form.reset();
  };
  const selected = (event: Event): string => (event.target as HTMLSelectElement).value;
  return html`<form class="condition" onSubmit=${add}>
    <label>Where
      <select value=${statistic.key} onChange=${(event: Event) => setKey(selected(event))}>
        ${columns.map((each) => html`<option value=${each}>${statisticOf(each)!.name}</option>`)}
      </select>
    </label>
    <select aria-label="Comparison" value=${op} onChange=${(event: Event) => setOp(selected(event) as Condition['op'])}>
      <option value=">=">≥</option>
      <option value="<=">≤</option>
    </select>
    <input
      name="value"
      type="number"
      step="any"
      required
      aria-label=${isPercent ? 'Value in percent' : 'Value'}
      placeholder=${isPercent ? '%' : ''}
    />
    <button>Add</button>
  </form>`; // prettier-ignore
}

/** Which statistics the table shows. */
function ColumnChoice({ columns }: { readonly columns: readonly string[] }): Children {
  const toggle = (key: string): void => {
    const next = columns.includes(key) ? columns.filter((each) => each !== key) : [...columns, key];
    if (next.length > 0 && next.length <= MOST_COLUMNS) remember({ columns: next.join(',') });
  };
  return html`<details class="menu">
    <summary>Columns</summary>
    <div class="menu-body" role="group" aria-label="Columns">
      ${STATISTICS.map(
        ({ key, name, about }) =>
          html`<label title=${about}>
            <input type="checkbox" checked=${columns.includes(key)} onChange=${() => toggle(key)} /> ${name}
          </label>`,
      )}
    </div>
  </details>`;
}
