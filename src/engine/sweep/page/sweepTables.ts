// The tables of a sweep's report: the best variants, walk-forward, and how much of the best is luck.
import { html, NOTHING, section, table, type Html } from '../../report/kit/html.ts';
import { day, roundedPercent, significant } from '../../report/kit/numberText.ts';
import { isFraction, type FlatKey } from '../../definitions/statistics/statistics.ts';
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

const metricText = (key: FlatKey, value: number | null | undefined): string =>
  isFraction(key) ? roundedPercent(value) : significant(value);

/** @param metrics the metrics that are shown, in the order of the columns */
export function topTable({ top }: SweepResult, metrics: readonly FlatKey[], names: Names): Html {
  if (top.length === 0) return NOTHING;
  const params = Object.keys(top[0].params);
  return textTable(
    ['rank', ...params.map((name) => names[name]), ...metrics, 'deflated Sharpe', 'plateau'],
    top.map((row) => [
      String(row.rank),
      ...params.map((name) => significant(row.params[name])),
      ...metrics.map((key) => metricText(key, row.metrics[key])),
      roundedPercent(row.deflatedSharpe),
      `${roundedPercent(row.plateau.score)}${row.plateau.score !== null && row.plateau.isCliff ? ' cliff' : ''}`,
    ]),
  );
}

export function walkForwardSection({ walkForward, objective: { key } }: SweepResult, names: Names): Html {
  if (walkForward === null) return NOTHING;
  const { folds, outOfSample, efficiency } = walkForward;
  const ofSample = efficiency === null ? '' : `, ${roundedPercent(efficiency)} of ${key} in sample`;
  const rows = folds.map((fold) => [
    day(fold.test.start),
    day(fold.test.end),
    Object.entries(fold.params)
      .map(([name, value]) => `${names[name]} ${significant(value)}`)
      .join(', '),
    metricText(key, fold.inSample),
    metricText(key, fold.outOfSample),
    roundedPercent(fold.returnPct),
    fold.status === 'traded' ? '' : fold.status.replace('_', ' '),
  ]);
  return section(
    { id: 'walkForward', title: 'Walk-forward' },
    html`<p>
        Out of sample: return ${roundedPercent(outOfSample.returnPct)}, Sharpe ratio
        ${significant(outOfSample.sharpeRatio)}, drawdown ${roundedPercent(outOfSample.maxDrawdown)}, in
        ${outOfSample.foldsTraded} of ${folds.length} folds that cover ${roundedPercent(outOfSample.coveredShare)} of
        the test period${ofSample}.
      </p>
      ${textTable(['test from', 'to', 'chosen', 'in sample', 'out of sample', 'return', ''], rows, [2, 6])}`,
  );
}

export function overfittingTable({ overfitting, trials, workspaceDeflatedSharpe }: SweepResult): Html {
  const earlier = trials.workspace !== null && trials.workspace !== trials.sweep;
  return textTable(
    ['', ''],
    [
      ['variants tried', significant(overfitting.trials)],
      ['probabilistic Sharpe', roundedPercent(overfitting.probabilisticSharpe)],
      ['deflated Sharpe', roundedPercent(overfitting.deflatedSharpe)],
      // What the workspace had tried before counts too, where it is known.
      ...(earlier
        ? [
            ['tried in the workspace', significant(trials.workspace)],
            ['deflated Sharpe by these', roundedPercent(workspaceDeflatedSharpe)],
          ]
        : []),
      ['daily Sharpe of the best', significant(overfitting.dailySharpe)],
      ['expected by luck alone', significant(overfitting.expectedMaximum)],
      ['probability of over-fitting', roundedPercent(overfitting.overfittingProbability)],
      ['days', significant(overfitting.days)],
      ['days needed', significant(overfitting.minTrackRecordDays)],
    ],
    [0],
  );
}
