// Universes and slots as dimensions of a sweep: the forms they take, what is refused, and how results speak of them.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { issuesOfZod } from '../../../src/api/http/envelopeIssues.ts';
import { sweepPageAssets } from '../../../src/engine/pool/pageAssets.ts';
import { sweepPage } from '../../../src/engine/sweep/page/sweepPage.ts';
import { rankingRows } from '../../../src/engine/sweep/rankingRows.ts';
import { runShard, type SweepContext } from '../../../src/engine/sweep/shard.ts';
import { planSweep } from '../../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';
import { encodeSweepRows } from '../../../src/engine/sweep/sweepTable.ts';
import {
  listOf,
  PORTFOLIO_CONFIG,
  portfolioContext,
  ROTATION,
  SLOTTED,
  SYMBOLS,
  UNNAMED_ROTATION,
} from '../../support/portfolioSweeps.ts';
import { compiled, CONFIG, CROSSING, finished, rowsOf } from '../../support/sweeps.ts';

function faultsOf(strategyAst: object, given: object, config: object = PORTFOLIO_CONFIG): string[] {
  const planned = planSweep(compiled(strategyAst), SweepSpec.parse({ config, method: 'grid', ...given }));
  return planned.ok ? [] : planned.faults.map(({ path, message }) => `${path}: ${message}`);
}
const universes = (...values: unknown[]) => ({ space: { instruments: { values } } });

describe('a dimension of a portfolio', () => {
  it('is refused with its place when the config is that of a single run', () => {
    expect(faultsOf(CROSSING, universes(['A', 'B']), CONFIG)).toEqual([
      '/space/instruments: instruments belongs to a portfolio, and the config has one instrument.',
    ]);
    expect(faultsOf(CROSSING, { space: { slots: { min: 1, max: 3 } } }, CONFIG)).toEqual([
      '/space/slots: slots belongs to a portfolio, and the config has one instrument.',
    ]);
    expect(faultsOf(CROSSING, { space: { symbol: { values: ['MID'] } } })).toEqual([
      '/space/symbol: symbol varies the instrument of a single run, and the config has a list.',
    ]);
  });

  it('takes lists that name no symbol twice and every linked one', () => {
    expect(faultsOf(CROSSING, universes(['A', 'B'], ['A', 'B', 'A']))).toEqual([
      '/space/instruments/values/1: A is in the list twice.',
    ]);
    const config = { ...PORTFOLIO_CONFIG, portfolio: { linked: [['MID', 'ADD']] } };
    expect(faultsOf(CROSSING, universes(['MID', 'ADD'], ['MID', 'ADD'], ['MID', 'ZIP']), config)).toEqual([
      '/space/instruments/values/2: ADD is linked in config.portfolio, and not in this list.',
    ]);
    expect(faultsOf(CROSSING, universes('A'))).toEqual([
      '/space/instruments: "A" is not a list of symbols, as each value of instruments is.',
    ]);
    expect(faultsOf(CROSSING, { space: { instruments: { min: 1, max: 2 } } })).toEqual([
      '/space/instruments: instruments needs a list of lists of symbols.',
    ]);
    expect(faultsOf(CROSSING, { space: { fast: { values: [['A', 'B']] } } })).toEqual([
      '/space/fast: fast has numbers, texts, or true and false as values; only "instruments" has lists.',
    ]);
  });

  it('takes whole slots from 1 on, and none for an allocation', () => {
    expect(faultsOf(SLOTTED, { space: { slots: { min: 0, max: 3 } } })).toEqual([
      '/space/slots: slots must be between 1 and 100000, not 0.',
    ]);
    const none = { config: PORTFOLIO_CONFIG, method: 'grid', space: { slots: { values: [0, 2] } } };
    const planned = planSweep(compiled(SLOTTED), SweepSpec.parse(none));
    expect(planned.ok || planned.faults[0].suggestion).toBe('Stay within these bounds.');
    expect(faultsOf(SLOTTED, { space: { slots: { values: [2, 2.5] } } })).toEqual([
      '/space/slots/values/1: slots must be a whole number, not 2.5.',
    ]);
    expect(faultsOf(SLOTTED, { space: { slots: { min: 1, max: 3, step: 0.5 } } })).toHaveLength(1);
    expect(faultsOf(SLOTTED, { space: { slots: { min: 1 } } })).toHaveLength(1);
    expect(faultsOf(SLOTTED, { space: { slots: { min: 1, max: 5 } } })).toEqual([]);
    expect(faultsOf(ROTATION, { space: { slots: { min: 1, max: 5 } } })).toEqual([
      '/space/slots: Slots bound the entries of rules, and the strategy has an allocation.',
    ]);
  });

  it('names both ways to vary an allocation in place of slots', () => {
    const space = { slots: { min: 1, max: 2 } };
    const asked = SweepSpec.parse({ config: PORTFOLIO_CONFIG, method: 'grid', space });
    const planned = planSweep(compiled(UNNAMED_ROTATION), asked);
    const suggestion = planned.ok ? undefined : planned.faults[0].suggestion;
    expect(suggestion).toContain('a param that stands for "top"');
    // The pointer can be swept as it is written.
    const pointer = /JSON pointer such as (\/[\w/]+)/.exec(suggestion ?? '')?.[1];
    expect(faultsOf(UNNAMED_ROTATION, { space: { [String(pointer)]: { values: [1, 2] } } })).toEqual([]);
  });

  it('leaves its name to a param that the strategy declares', () => {
    const strategy = structuredClone(CROSSING) as { strategy: { params: { name: string }[] } };
    const renamed = JSON.parse(JSON.stringify(strategy).replaceAll('"fast"', '"slots"')) as object;
    expect(faultsOf(renamed, { space: { slots: { min: 2, max: 5 } } }, CONFIG)).toEqual([]);
  });

  it('is a number or a text in constraints', () => {
    const space = { slots: { min: 1, max: 3 }, fast: { values: [1, 2, 3] } };
    const constraints = [{ left: 'slots', op: 'lt', right: 'fast' }];
    const planned = planSweep(
      compiled(SLOTTED),
      SweepSpec.parse({ config: PORTFOLIO_CONFIG, method: 'grid', space, constraints }),
    );
    expect(planned.ok && planned.job.variants).toBe(3);
    expect(
      faultsOf(CROSSING, { ...universes(['A']), constraints: [{ left: 'instruments', op: 'lt', right: 3 }] }),
    ).toHaveLength(1);
  });

  it.each([[[['A', 'B'], ['C']]], [[listOf(['A', 'B']), ['C']]], [{ values: [listOf(['A', 'B']), ['C']] }]])(
    'gets patches from other forms: %j',
    (given) => {
      const request = (instruments: unknown) => ({ space: { instruments }, method: 'grid' });
      const answersTo = (form: unknown) => {
        const parsed = SweepSpec.omit({ config: true }).safeParse(request(form));
        return parsed.success ? [] : issuesOfZod(parsed.error.issues, '', request(form));
      };
      const patches = answersTo(given).flatMap(({ patch }) => patch ?? []) as Operation[];
      const expected = { values: [['A', 'B'], ['C']] };
      expect(jsonPatch.applyPatch(request(given), patches).newDocument).toEqual(request(expected));
      expect(answersTo(expected)).toEqual([]);
    },
  );
});

const SWEPT = {
  space: { instruments: { values: [SYMBOLS, ['MID', 'ADD', 'ZIP']] }, top: { values: [1, 2] } },
  method: 'grid',
};

describe('the result of a sweep of portfolios', () => {
  it('names universes in rows, marginals, the heatmap and the table', async () => {
    const context = portfolioContext(ROTATION, SWEPT);
    const rows = rowsOf(context);
    const names = [`1: MID, ADD, … (${SYMBOLS.length})`, '2: MID, ADD, ZIP'];
    const result = finished(context, rows);
    expect(names).toContain(result.top[0].params.instruments);
    expect(result.marginals[0].points.map(({ value }) => value)).toEqual(names);
    expect(result.heatmap!.x.values).toEqual(names);
    const pieces: Uint8Array[] = [];
    for await (const piece of encodeSweepRows(context.space, [rows], 'csv')) pieces.push(piece);
    const [head, first] = Buffer.concat(pieces).toString().split('\n');
    expect(head.startsWith('variant,instruments,top,')).toBe(true);
    expect(first.startsWith(`0,"${names[0]}",1,`)).toBe(true);
  });

  it('names the universe in the head of its report', () => {
    const pageOf = (context: SweepContext): string => {
      const rows = rowsOf(context);
      return sweepPage(context, rankingRows(context, rows), finished(context, rows), 'A rotation', sweepPageAssets());
    };
    const headOf = (page: string) => /<p class="lead" id="universe">(.*?)<\/p>/.exec(page)?.[1];
    expect(headOf(pageOf(portfolioContext(ROTATION, SWEPT)))).toBe(
      'Portfolios of 3 to 6 instruments: MID, ADD, ZIP, END, YET and WAX',
    );
    expect(pageOf(portfolioContext(ROTATION, SWEPT))).toContain('Equity of the best against equal money in each');
    const { instruments: _, ...one } = { ...PORTFOLIO_CONFIG, signalInstrument: { symbol: 'MID' } };
    const single = portfolioContext(CROSSING, { space: { fast: { values: [3, 5] } }, method: 'grid', config: one }, {});
    expect(headOf(pageOf(single))).toBeUndefined();
    expect(pageOf(single)).toContain('Equity of the best against buy and hold');
  });

  it('warns of what the backtest of its best row warns of', () => {
    const context = portfolioContext(ROTATION, {
      space: { instruments: { values: [['END', 'MID']] }, top: { values: [1, 2] } },
      method: 'grid',
    });
    const { warnings } = finished(context, rowsOf(context));
    const early = warnings.find(({ code }) => code === 'DATA_ENDS_EARLY');
    expect(early?.message).toContain('The data of END (2025-02-03) ends before the run does');
  });

  it('warns of a best row with more places than its universe has instruments', () => {
    const placesOf = (top: number): string | undefined => {
      const space = { instruments: { values: [['END', 'MID', 'ADD']] }, top: { values: [top] }, keep: { values: [9] } };
      const context = portfolioContext(ROTATION, { space, method: 'grid' });
      const { warnings } = finished(context, rowsOf(context));
      return warnings.find(({ code }) => code === 'PLACES_WITHOUT_INSTRUMENTS')?.message;
    };
    expect(placesOf(9)).toMatch(/^The allocation has 9 places for 3 instruments: 66\.67 %/);
    expect(placesOf(1)).toBeUndefined();
  });
});

it('a sweep of portfolios stops inside a variant', () => {
  const context = portfolioContext(SLOTTED, {
    config: { portfolio: { slots: 3 } },
    space: { stop: { values: [1, 2, 3] } },
    method: 'grid',
  });
  let asked = 0;
  const control = { isCancelled: () => ++asked > 12, report: () => {} };
  expect(runShard(context, { first: 0, last: 3 }, control)).toBeNull();
  expect(asked).toBe(13);
});
