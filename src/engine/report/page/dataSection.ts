// What to know about the bars behind a result: prices that their neighbors contradict.
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, section, table, type Html } from '../kit/html.ts';
import { fixed, percentWithSign, type Precision } from '../kit/numberText.ts';

export function dataSection({ summary }: CompletedRun, precision: Precision): Html {
  const { outlierCount, outliers } = summary.dataQuality;
  if (outlierCount === 0) return NOTHING;
  const rows = outliers.map(
    ({ symbol, time, kind, column, price, neighbor }) =>
      html`<tr>
        <th scope="row">${symbol === undefined ? NOTHING : `${symbol} `}${precision.time(time)}</th>
        <td class="text">${column}</td>
        <td>${fixed(price, precision.price)}</td>
        <td>${fixed(neighbor, precision.price)}</td>
        <td>${percentWithSign(price / neighbor - 1)}</td>
        <td class="text">${kind === 'spike' ? 'the bars beside it' : 'the close before it'}</td>
      </tr>`,
  );
  const headings = [
    { text: 'Bar', isText: true },
    { text: 'Price', isText: true },
    { text: 'Value' },
    { text: 'Neighbor' },
    { text: 'Difference' },
    { text: 'Compared with', isText: true },
  ];
  const shown = outliers.length < outlierCount ? ` The first ${outliers.length} of ${outlierCount} are shown.` : '';
  const note =
    `Prices that the bars around them contradict: bad ticks, unadjusted splits or crashes.${shown} Trades ` +
    `near them deserve a closer look.`;
  return section({ id: 'data-quality', title: 'Outliers in the bars', note }, table(headings, rows));
}
