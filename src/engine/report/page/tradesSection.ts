// The trades as a table: one row per closing fill, each a link to its place in the chart.
import { exitReasonOf } from '../../definitions/exitReasons/exitReasons.ts';
import type { NamedTradeRow } from '../tradeTable.ts';
import { html, NOTHING, section, signedCell, table, trusted, type Html } from '../kit/html.ts';
import { count, fixed, percent, type Precision } from '../kit/numberText.ts';

interface TradeUnits {
  readonly base: string;
  readonly quote: string;
}

/** @param shown the rows of the table, oldest first; `total` also counts those that are left out. */
export function tradesSection(
  shown: readonly NamedTradeRow[],
  total: number,
  units: TradeUnits,
  precision: Precision,
): Html {
  const title = 'Trades';
  if (total === 0) return section({ id: 'trades', title, note: 'No position was closed.' }, NOTHING);
  const left = total - shown.length;
  const which =
    left === 0
      ? `All ${count(total)} closing fills, newest first.`
      : `The last ${count(shown.length)} of ${count(total)} closing fills, newest first; the trades artifact has all.`;
  const use = 'Click a row to see it in the chart, or a heading to sort; by keyboard, use Tab, the arrows and Enter.';
  const note = `${which} Times are UTC. ${use}`;
  const isNamed = shown.some(({ symbol }) => symbol !== undefined);
  const rows = shown.map((trade, index) => rowOf(trade, index, precision)).toReversed();
  const body = html`<p class="tools"><button type="button" id="save-trades">Save as CSV</button></p>
    ${table(headingsOf(units, isNamed), rows, trusted(' class="trades sortable choosable"'))}`;
  return section({ id: 'trades', title, note }, body);
}

/** The first columns are those that a phone shows without scrolling. */
const headingsOf = ({ base, quote }: TradeUnits, isNamed: boolean) => [
  { text: 'Position' },
  ...(isNamed ? [{ text: 'Instrument', isText: true }] : []),
  { text: 'Side', isText: true },
  { text: 'Return', unit: '%' },
  { text: 'Profit', unit: quote },
  { text: 'Entry' },
  { text: 'Exit' },
  { text: 'Entry price', unit: quote },
  { text: 'Exit price', unit: quote },
  { text: 'Quantity', unit: base },
  { text: 'Fees', unit: quote },
  { text: 'MAE', unit: '%' },
  { text: 'MFE', unit: '%' },
  { text: 'Held', unit: 'bars' },
  { text: 'Exit by', isText: true },
];

function rowOf(trade: NamedTradeRow, index: number, { price, money, quantity, time }: Precision): Html {
  const cells = [
    trade.symbol === undefined ? NOTHING : html`<td class="text">${trade.symbol}</td>`,
    html`<td class="text ${trade.side}">${trade.side === 'long' ? 'Long' : 'Short'}</td>`,
    signedCell(percent(trade.returnPct)),
    signedCell(fixed(trade.pnl, money)),
    ...[
      time(trade.entryTime),
      time(trade.exitTime),
      fixed(trade.entryPrice, price),
      fixed(trade.exitPrice, price),
      fixed(trade.quantity, quantity),
      fixed(trade.entryFee + trade.exitFee, money),
      percent(trade.maePct),
      percent(trade.mfePct),
      count(trade.barsHeld),
    ].map((text) => html`<td>${text}</td>`),
    html`<td class="text">${exitReasonOf(trade.exitReason).shown}</td>`,
  ];
  return html`<tr data-trade="${index}">
    <td>${trade.positionId}</td>
    ${cells}
  </tr>`;
}
