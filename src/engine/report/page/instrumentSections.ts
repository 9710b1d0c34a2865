// The instruments of a portfolio: what each contributed, all of their numbers in a table, and what the rank left out.
import type { InstrumentRow } from '../portfolio/instrumentRows.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, section, signedCell, table, trusted, type Html } from '../kit/html.ts';
import { count, day, fixed, percent, trimmed, type Precision } from '../kit/numberText.ts';

/** Bars at either end of the list; those between them are small. */
const MOST_BARS = 12;

/** The contributions as bars, the largest first. */
export function contributionSection({ summary }: CompletedRun): Html {
  const rows = (summary.instruments ?? []).filter(({ trades }) => trades > 0);
  if (rows.length === 0) return NOTHING;
  const shown = rows.length <= 2 * MOST_BARS ? rows : [...rows.slice(0, MOST_BARS), ...rows.slice(-MOST_BARS)];
  const widest = shown.reduce((most, { contribution }) => Math.max(most, Math.abs(contribution)), 1e-12);
  const items = shown.map(({ symbol, contribution }) => {
    const width = ((50 * Math.abs(contribution)) / widest).toFixed(1);
    const side = contribution < 0 ? 'loss' : 'gain';
    const value = `${percent(contribution)}\u00a0%`;
    return html`<li><span>${symbol}</span><i class="${side}" style="--w:${width}%"></i><b>${value}</b></li>`;
  });
  const left = rows.length - shown.length;
  const more = left === 0 ? '' : ` The ${count(left)} between the largest and the smallest are left out.`;
  const note = `Net profit of each instrument in percent of the initial balance; together they are the return.${more}`;
  return section(
    { id: 'contribution', title: 'Contribution', note },
    html`<ol class="shares">
      ${items}
    </ol>`,
  );
}

/** @param quote the currency of money */
export function instrumentsSection({ summary }: CompletedRun, quote: string, precision: Precision): Html {
  const rows = summary.instruments ?? [];
  const all = summary.portfolio?.instruments ?? 0;
  if (rows.length === 0) return NOTHING;
  const headings = [
    { text: 'Instrument', isText: true },
    { text: 'Contribution', unit: '%' },
    { text: 'Profit', unit: quote },
    { text: 'Before costs', unit: quote },
    { text: 'Trades' },
    { text: 'Won', unit: '%' },
    { text: 'Mean weight', unit: '%' },
    { text: 'Largest', unit: '%' },
    { text: 'Held', unit: '%' },
    { text: 'Fees', unit: quote },
    { text: 'Slippage', unit: quote },
    { text: 'Bars' },
    { text: 'First' },
    { text: 'Last' },
  ];
  const left = all - rows.length;
  const more = left > 0 ? ` The artifact instruments has the other ${count(left)}.` : '';
  const note = `Weights are shares of equity. Held: the share of instants at whose end there was a position.${more}`;
  return section(
    { id: 'instruments', title: 'Instruments', note },
    table(
      headings,
      rows.map((row) => rowOf(row, precision)),
    ),
  );
}

function rowOf(row: InstrumentRow, { money }: Precision): Html {
  const dayOf = (ms: number | null): string => (ms === null ? '–' : day(ms));
  const cells = [
    count(row.trades),
    percent(row.winRate, 1),
    percent(row.averageWeightPct, 1),
    percent(row.maxWeightPct, 1),
    percent(row.timeHeldPct, 1),
    fixed(row.fees, money),
    fixed(row.slippage, money),
    count(row.bars),
    dayOf(row.firstBarTime),
    dayOf(row.lastBarTime),
  ];
  return html`<tr>
    <th scope="row">${row.symbol}</th>
    ${signedCell(percent(row.contribution))}${signedCell(fixed(row.netPnl, money))}
    ${signedCell(fixed(row.grossPnl, money))}${cells.map((text) => html`<td>${text}</td>`)}
  </tr>`;
}

/** The signals that no slot was left for, by instrument. */
export function rankedOutSection({ summary, report }: CompletedRun): Html {
  const rankedOut = summary.strategyTrace?.funnel.rankedOut;
  const { portfolio } = report;
  if (rankedOut === undefined || rankedOut.count === 0 || portfolio === undefined) return NOTHING;
  const { byInstrument } = portfolio.simulation;
  const rows = portfolio.bySymbol
    .filter((index) => byInstrument[index].rankedOut > 0)
    .sort((a, b) => byInstrument[b].rankedOut - byInstrument[a].rankedOut)
    .map((index) => {
      const { rankedOut: lost, counts } = byInstrument[index];
      return html`<tr>
        <th scope="row">${portfolio.instruments[index].symbol}</th>
        <td>${count(counts.entrySignals)}</td>
        <td>${count(lost)}</td>
        <td>${count(counts.entriesFilled)}</td>
      </tr>`;
    });
  const { largestLost, smallestTaken, mostAtOnce, atFill } = rankedOut;
  const ranks =
    largestLost === null || smallestTaken === null
      ? ''
      : ` The largest rank that lost was ${trimmed(largestLost, 4)}, ` +
        `the smallest that got in ${trimmed(smallestTaken, 4)}.`;
  const unranked = rankedOut.isUnranked ? ' Without a rank, the order of the list decided.' : '';
  const later = atFill === 0 ? '' : `, ${count(atFill)} of them when their order would have filled`;
  const close = `at most ${count(mostAtOnce)} at one close`;
  const lost = `${count(rankedOut.count)} signals found no free slot${later}, ${close}.`;
  const note = `${lost}${ranks}${unranked}`;
  const headings = [
    { text: 'Instrument', isText: true },
    { text: 'Signals' },
    { text: 'Ranked out' },
    { text: 'Entries' },
  ];
  return section({ id: 'ranked-out', title: 'Ranked out', note }, table(headings, rows, trusted('')));
}
