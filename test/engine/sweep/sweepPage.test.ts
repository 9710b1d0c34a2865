// The report of a sweep says what its drawings leave out, and where it is.
import { describe, expect, it } from 'vitest';
import { sweepPageAssets } from '../../../src/engine/pool/pageAssets.ts';
import { sweepPage } from '../../../src/engine/sweep/page/sweepPage.ts';
import { rankingRows } from '../../../src/engine/sweep/rankingRows.ts';
import { compiled, CROSSING, finished, marketOf, rowsOf, sweepContextFor } from '../../support/sweeps.ts';

const market = marketOf(200, 5, (row, noise) => 0.004 * Math.sin(row / 9) + 0.006 * noise);

function notesOf(space: object): string[] {
  const context = sweepContextFor(
    compiled(CROSSING),
    { space, method: 'grid', metrics: ['returnPct', 'maxDrawdown'] },
    market,
  );
  const rows = rowsOf(context);
  const page = sweepPage(context, rankingRows(context, rows), finished(context, rows), 'A crossing', sweepPageAssets());
  return [...page.matchAll(/<p class="lead">(.*?)<\/p>/g)].map(([, text]) => text);
}

const ROWS =
  'The rows hold every variant: --rows FILE of candlepool sweep, GET /public/v1/sweeps/{id}/results over HTTP.';

describe('the report of a sweep', () => {
  it('says which parameters are shown in bins', () => {
    expect(notesOf({ fast: { min: 1, max: 41 }, slow: { min: 50, max: 52 } })).toEqual([
      'fast has more than 40 values and is shown in 40 bins, each named by its lowest value.',
      ROWS,
    ]);
    expect(notesOf({ fast: { min: 1, max: 41 }, slow: { min: 50, max: 90 } })).toEqual([
      'fast and slow have more than 40 values and are shown in 40 bins, each named by its lowest value.',
      ROWS,
    ]);
  });

  it('says that it draws only some of many variants', () => {
    const notes = notesOf({
      fast: { min: 1, max: 40 },
      slow: { min: 61, max: 100 },
      stop: { values: [2, 5] },
    });
    expect(notes).toEqual([
      'Return against drawdown shows about 1600 of the 3200 variants, evenly spaced, and the best 20.',
      ROWS,
    ]);
  });

  it('says nothing when it leaves nothing out', () => {
    expect(notesOf({ fast: { min: 1, max: 40 }, slow: { min: 50, max: 52 } })).toEqual([]);
  });
});
