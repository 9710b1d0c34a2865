// The instruments of a portfolio: what each contributed, and how much of the account it held.
import { count, percent, toneOf } from './formats.ts';
import { html, type Children } from './markup.ts';

export interface InstrumentRow {
  readonly symbol: string;
  readonly [key: string]: unknown;
}
const INSTRUMENT_COLUMNS: readonly (readonly [key: string, title: string, text: (value: unknown) => string])[] = [
  ['contribution', 'Contribution', percent],
  ['averageWeightPct', 'Average weight', percent],
  ['maxWeightPct', 'Largest weight', percent],
  ['trades', 'Trades', count],
  ['winRate', 'Won', percent],
  ['rankedOut', 'Ranked out', count],
];

/** The instruments of a portfolio, the largest contribution first. */
export function Instruments({ rows }: { readonly rows: readonly InstrumentRow[] }): Children {
  const most = rows.reduce((largest, { contribution }) => Math.max(largest, Math.abs(Number(contribution ?? 0))), 1e-9);
  return html`<section class="card" aria-labelledby="instruments">
    <h2 id="instruments">Instruments</h2>
    <p class="lead">Contributions add up to the total return. Ranked out: signals for which no slot was left.</p>
    <div class="scroll limited" tabindex="0" role="region" aria-label="Instruments">
      <table>
        <thead>
          <tr>
            <th scope="col" class="text">Symbol</th>
            <th scope="col" class="text"><span class="unseen">Contribution as a bar</span></th>
            ${INSTRUMENT_COLUMNS.map(([, title]) => html`<th scope="col">${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                <th scope="row">${row.symbol}</th>
                <td class="text"><${ContributionBar} share=${Number(row.contribution ?? 0) / most} /></td>
                ${INSTRUMENT_COLUMNS.map(
                  ([key, , text]) =>
                    html`<td class=${key === 'contribution' ? toneOf('returnPct', row[key]) : ''}>
                      ${text(row[key])}
                    </td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function ContributionBar({ share: part }: { readonly share: number }): Children {
  return html`<svg class="bar-cell" viewBox="-50 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class=${part < 0 ? 'down' : 'up'} x=${Math.min(0, 50 * part)} y="1" width=${Math.abs(50 * part)} height="8" />
  </svg>`;
}
