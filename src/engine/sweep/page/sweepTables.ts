// The tables of a sweep's report: the best variants, walk-forward, and how much of the best is luck.
import { html, NOTHING, section, table, trusted, type Html } from '../../report/kit/html.ts';
import { day, fixed, percentWithSign, significant } from '../../report/kit/numberText.ts';
import { isFraction, statisticOf, type FlatKey } from '../../definitions/statistics/statistics.ts';
import type { SweepResult } from '../sweepResult.ts';

type Names = Readonly<Record<string, string>>;

/** @param texts the columns that are not numbers */
function textTable(head: readonly string[], rows: readonly (readonly string[])[], texts: readonly number[] = []): Html {
  return table(
    head.map((text, at) => ({ text, isText: texts.includes(at) })),
    rows.map((cells) => {
      const shown = cells.map((text, at) =>
        texts.includes(at) ? html`<td class="text">${text}</td>` : html`<td>${text}</td>`,
      );
      return html`<tr>
        ${shown}
      </tr>`;
    }),
  );
}

/** A statistic as the report of a backtest writes it: falls are below 0. */
function metricText(key: FlatKey, value: number | null | undefined): string {
  const { row, unit } = statisticOf(key);
  const shown = row.isFall && value !== null && value !== undefined ? -value : value;
  if (isFraction(key)) return percentWithSign(shown);
  return fixed(shown, unit === 'count' ? 0 : 2);
}

/** @param metrics the metrics that are shown, in the order of the columns */
export function topTable({ top }: SweepResult, metrics: readonly FlatKey[], names: Names): Html {
  if (top.length === 0) return NOTHING;
  const params = Object.keys(top[0].params);
  const headings = [
    'Rank',
    ...params.map((name) => names[name]),
    ...metrics.map((key) => statisticOf(key).row.name),
    'Deflated Sharpe',
    'Plateau',
  ];
  const rows = top.map((row) => {
    const cells = [
      String(row.rank),
      ...params.map((name) => significant(row.params[name])),
      ...metrics.map((key) => metricText(key, row.metrics[key])),
      percentWithSign(row.deflatedSharpe),
      `${percentWithSign(row.plateau.score)}${row.plateau.score !== null && row.plateau.isCliff ? ' cliff' : ''}`,
    ];
    return html`<tr data-variant="${row.variant}">
      ${cells.map((text) => html`<td>${text}</td>`)}
    </tr>`;
  });
  const note = 'Click a heading to sort, or a row to open its variant.';
  return html`<p class="key-text">${note}</p>
    ${table(
      headings.map((text) => ({ text })),
      rows,
      trusted(' class="sortable choosable"'),
    )}`;
}

export function walkForwardSection({ walkForward, objective: { key } }: SweepResult, names: Names): Html {
  if (walkForward === null) return NOTHING;
  const { folds, outOfSample, efficiency } = walkForward;
  const ofSample =
    efficiency === null ? '' : `, ${percentWithSign(efficiency)} of the ${statisticOf(key).row.name} in sample`;
  const rows = folds.map((fold) => [
    day(fold.test.start),
    day(fold.test.end),
    Object.entries(fold.params)
      .map(([name, value]) => `${names[name]} ${significant(value)}`)
      .join(', '),
    metricText(key, fold.inSample),
    metricText(key, fold.outOfSample),
    percentWithSign(fold.returnPct),
    fold.status === 'traded' ? '' : fold.status.replace('_', ' '),
  ]);
  return section(
    { id: 'walkForward', title: 'Walk-forward' },
    html`<p>
        Out of sample: return ${percentWithSign(outOfSample.returnPct)}, Sharpe ratio
        ${fixed(outOfSample.sharpeRatio, 2)}, drawdown ${percentWithSign(-outOfSample.maxDrawdown)}, in
        ${outOfSample.foldsTraded} of ${folds.length} folds that cover ${percentWithSign(outOfSample.coveredShare)} of
        the test period${ofSample}.
      </p>
      <div id="walk"></div>
      ${textTable(['Test from', 'To', 'Chosen', 'In sample', 'Out of sample', 'Return', ''], rows, [2, 6])}`,
  );
}

export function overfittingTable({ overfitting, trials, workspaceDeflatedSharpe }: SweepResult): Html {
  const earlier = trials.workspace !== null && trials.workspace !== trials.sweep;
  return textTable(
    ['', ''],
    [
      ['variants tried', significant(overfitting.trials)],
      ['probabilistic Sharpe', percentWithSign(overfitting.probabilisticSharpe)],
      ['deflated Sharpe', percentWithSign(overfitting.deflatedSharpe)],
      // What the workspace had tried before counts too, where it is known.
      ...(earlier
        ? [
            ['tried in the workspace', significant(trials.workspace)],
            ['deflated Sharpe by these', percentWithSign(workspaceDeflatedSharpe)],
          ]
        : []),
      ['daily Sharpe of the best', significant(overfitting.dailySharpe)],
      ['expected by luck alone', significant(overfitting.expectedMaximum)],
      ['probability of over-fitting', percentWithSign(overfitting.overfittingProbability)],
      ['days', significant(overfitting.days)],
      ['days needed', significant(overfitting.minTrackRecordDays)],
    ],
    [0],
  );
}
