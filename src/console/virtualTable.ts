// The table: rows of equal height, rendered only while in sight; sorted by its headings and operated by keys.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { html, type Children } from './markup.ts';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly about?: string;
  /** In pixels. */
  readonly width: number;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => Children;
  /** Of the cell. */
  readonly tone?: (row: Row) => string;
}
/** A row, or the heading of a group of rows. */
export type Item<Row> =
  | { readonly id: string; readonly row: Row }
  | { readonly id: string; readonly heading: Children; readonly isOpen: boolean };

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly items: readonly Item<Row>[];
  /** A key, with `-` before it for descending. */
  readonly sort?: string;
  readonly onSort?: (key: string) => void;
  readonly onOpen: (id: string) => void;
  readonly chosen?: ReadonlySet<string>;
  readonly onChoose?: (id: string) => void;
  readonly nameOf?: (row: Row) => string;
  readonly empty: Children;
}

const ROW_HEIGHT = 38;
const CHOICE_WIDTH = 36;

export function VirtualTable<Row>(props: TableProps<Row>): Children {
  const { label, columns, items, sort, onSort, chosen, onChoose, empty } = props;
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const focusWanted = useRef(false);
  const rows = useVirtualRows(box, items.length);
  const at = Math.max(0, Math.min(active, items.length - 1));
  useEffect(() => {
    if (!focusWanted.current) return;
    const row = box.current?.querySelector<HTMLElement>(`tr[data-at="${at}"]`);
    if (row === undefined || row === null) return;
    focusWanted.current = false;
    row.focus({ preventScroll: true });
  });
  useEffect(() => {
    box.current?.scrollTo(0, 0);
    setActive(0);
  }, [sort]);
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(to, items.length - 1));
    focusWanted.current = true;
    setActive(next);
    rows.scrollToIndex(next);
  };
  const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 400) / ROW_HEIGHT) - 2);
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: items.length - 1,
  }; // prettier-ignore
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!(event.target as Element).matches('tr[data-at]')) return;
    const item = items[at];
    if (event.key in moves) move(moves[event.key]);
    else if (event.key === 'Enter') props.onOpen(item.id);
    else if (event.key === ' ' && 'row' in item && onChoose) onChoose(item.id);
    else return;
    event.preventDefault();
  };
  const width = columns.reduce((sum, column) => sum + column.width, onChoose ? CHOICE_WIDTH : 0);
  const shown = rows.getVirtualItems();
  const [before, after] =
    shown.length === 0 ? [0, 0] : [shown[0].start, rows.getTotalSize() - shown[shown.length - 1].end];
  return html`<div class="table-box" ref=${box} onKeyDown=${onKeyDown}>
    <table aria-label=${label} aria-rowcount=${items.length + 1} style=${{ minWidth: `${width}px` }}>
      <colgroup>
        ${onChoose && html`<col style=${{ width: `${CHOICE_WIDTH}px` }} />`}
        ${columns.map((column) => html`<col style=${{ width: `${column.width}px` }} />`)}
      </colgroup>
      <thead>
        <tr aria-rowindex="1">
          ${onChoose && html`<th scope="col"><span class="unseen">Chosen</span></th>`}
          ${columns.map((column) => html`<${Heading} column=${column} sort=${sort} onSort=${onSort} />`)}
        </tr>
      </thead>
      <tbody>
        ${
          before > 0 &&
          html`<tr aria-hidden="true" class="space">
            <td style=${{ height: `${before}px` }} />
          </tr>`
        }
        ${shown.map(
          ({ index }) =>
            html`<${TableRow}
              key=${items[index].id}
              table=${props}
              item=${items[index]}
              at=${index}
              isActive=${index === at}
              isChosen=${chosen?.has(items[index].id) ?? false}
              onFocus=${() => setActive(index)}
            />`,
        )}
        ${
          after > 0 &&
          html`<tr aria-hidden="true" class="space">
            <td style=${{ height: `${after}px` }} />
          </tr>`
        }
      </tbody>
    </table>
    ${items.length === 0 && html`<div class="empty">${empty}</div>`}
  </div>`;
}

/** The rows in sight; renders the table again whenever they change. */
function useVirtualRows(box: { readonly current: HTMLDivElement | null }, count: number) {
  const [, setTurn] = useState(0);
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    // The heading stays over the first row.
    scrollPaddingStart: ROW_HEIGHT,
    overscan: 10,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => setTurn((turn) => turn + 1),
  };
  const kept = useRef<Virtualizer<HTMLDivElement, Element>>(null);
  const rows = (kept.current ??= new Virtualizer<HTMLDivElement, Element>(options));
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly sort: string | undefined;
  readonly onSort: ((key: string) => void) | undefined;
}

function Heading<Row>({ column, sort, onSort }: HeadingProps<Row>): Children {
  const { key, title, about, isNumber } = column;
  const direction = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : undefined;
  const arrow = direction === undefined ? '' : direction === 'ascending' ? ' ↑' : ' ↓';
  return html`<th scope="col" class=${isNumber ? '' : 'text'} aria-sort=${direction} title=${about}>
    ${onSort ? html`<button class="heading" onClick=${() => onSort(key)}>${title}${arrow}</button>` : title}
  </th>`;
}

interface TableRowProps<Row> {
  readonly table: TableProps<Row>;
  readonly item: Item<Row>;
  readonly at: number;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  readonly onFocus: () => void;
}

function TableRow<Row>({ table, item, at, isActive, isChosen, onFocus }: TableRowProps<Row>): Children {
  const { columns, onOpen, onChoose, nameOf } = table;
  const common = { 'data-at': at, tabindex: isActive ? 0 : -1, 'aria-rowindex': at + 2, onFocus };
  const open = (event: MouseEvent): void => {
    if (!(event.target as Element).closest('a, input, button, label')) onOpen(item.id);
  };
  if ('heading' in item)
    return html`<tr class="group" ...${common} onClick=${open}>
      <td colspan=${columns.length + (onChoose ? 1 : 0)}>${item.isOpen ? '▾' : '▸'} ${item.heading}</td>
    </tr>`;
  const choice =
    onChoose &&
    html`<td class="choice">
      <input
        type="checkbox"
        tabindex="-1"
        aria-label=${`Choose ${nameOf?.(item.row) ?? item.id}`}
        checked=${isChosen}
        onChange=${() => onChoose(item.id)}
      />
    </td>`;
  return html`<tr ...${common} class=${isChosen ? 'chosen' : ''} onClick=${open}>
    ${choice}
    ${columns.map(
      ({ isNumber, cell, tone }) =>
        html`<td class=${`${isNumber ? '' : 'text'} ${tone?.(item.row) ?? ''}`}>${cell(item.row)}</td>`,
    )}
  </tr>`;
}
