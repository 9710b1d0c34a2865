// The verdict of a robustness check: which bound decides what, in words with numbers.
import { describe, expect, it } from 'vitest';
import type { Bound } from '../../../src/engine/robustness/bound.ts';
import type { Finding } from '../../../src/engine/robustness/finding.ts';
import { findingsOf } from '../../../src/engine/robustness/findings.ts';
import type { RobustnessAnalyses } from '../../../src/engine/robustness/findings.ts';
import { boundsOf } from '../../../src/engine/robustness/robustnessResult.ts';
import { verdictOf } from '../../../src/engine/robustness/robustnessResult.ts';

const numbers = { returnPct: 0.5, excessReturnPct: 0.1, sharpeRatio: 1.2, maxDrawdown: 0.1, totalPositions: 60 };
const distribution = (p50: number) => ({ p5: p50 / 2, p25: p50, p50, p75: p50, p95: 2 * p50, count: 64 });
const runs = {
  original: numbers,
  runs: 64,
  failed: 0,
  returnPct: distribution(0.45),
  excessReturnPct: distribution(0.1),
  sharpeRatio: distribution(1.1),
  maxDrawdown: distribution(0.1),
  lossProbability: 0.02,
};
const levels = [0, 1.5, 2, 3, 5].map((multiplier) => ({ multiplier, ...numbers, returnPct: 0.5 - 0.05 * multiplier }));
const sweep = { name: 'S', verdict: 'not_luck', text: 'Not luck.', rank: 1, plateau: 0.8, isCliff: false };

/** Everything holds. */
const ROBUST: RobustnessAnalyses = {
  seed: 1,
  baseline: numbers,
  evidence: { closedPositions: 60, independentTrades: 60, openProfitShare: 0.02 },
  luck: {
    trials: 12,
    expectedMaximum: 0.03,
    probabilisticSharpe: 0.999,
    deflatedSharpe: 0.98,
    days: 1_000,
    sweeps: [sweep],
  },
  lookAheadAudit: {
    passed: true, cuts: 16, signalsCompared: 9, signalsDiffering: 0, tradesCompared: 9, tradesDiffering: 0,
    equityDiffering: 0, first: null,
  },
  warmUpAudit: {
    passed: true,
    warmupBars: 20,
    enoughBars: 20,
    byMultiple: [{ multiple: 1, starts: 3, signalsCompared: 9, signalsDiffering: 0, tradesDiffering: 0, returnGap: 0 }],
  },
  monteCarlo: {
    positions: 60,
    samples: 2_000,
    basis: 'exits',
    actual: { returnPct: 0.5, maxDrawdown: 0.08 },
    shuffled: { maxDrawdown: distribution(0.09) },
    resampled: { returnPct: distribution(0.5), maxDrawdown: distribution(0.09), lossProbability: 0.001 },
  },
  blockBootstrap: { ...runs, blockBars: 30 },
  feeStress: { levels, breakEven: null },
  slippageStress: { levels, breakEven: null },
  startShift: { shifts: [{ bars: 40, ...numbers, returnPct: 0.45 }] },
  parameterJitter: { ...runs, numbers: [] },
  counterfactuals: [],
}; // prettier-ignore

const judged = (changed: Partial<RobustnessAnalyses>) => {
  const found = { ...ROBUST, ...changed };
  const bounds = boundsOf(found);
  const findings = findingsOf(found, bounds);
  return { bounds, findings, verdict: verdictOf(found, findings, bounds) };
};
const luck = (changed: Partial<RobustnessAnalyses['luck']>) => ({ luck: { ...ROBUST.luck, ...changed } });
const evidence = (changed: Partial<RobustnessAnalyses['evidence']>) => ({
  evidence: { ...ROBUST.evidence, ...changed },
});
const jitter = (changed: Partial<typeof runs>) => ({ parameterJitter: { ...runs, numbers: [], ...changed } });

describe('a verdict', () => {
  it('is robust where every bound holds', () => {
    const { verdict, findings } = judged({});
    expect(verdict).toEqual({ code: 'robust', text: 'All 16 bounds hold.' });
    expect(findings).toEqual([]);
  });

  /** The case, what is changed, the verdict, the bound that fails, the finding, and a part of its message. */
  it.each<[string, Partial<RobustnessAnalyses>, string, Bound['name'], string, string]>([
    ['seven trades', evidence({ closedPositions: 7, independentTrades: 7 }), 'inconclusive', 'independentTrades',
      'TOO_FEW_TRADES', '7 independent trades of 7 positions that a rule closed: at least 30'],
    ['trades that overlap', evidence({ independentTrades: 29 }), 'inconclusive', 'independentTrades',
      'TOO_FEW_TRADES', '29 independent trades of 60 positions'],
    ['a position that nothing closed', evidence({ openProfitShare: 0.9 }), 'fragile', 'openProfitShare',
      'OPEN_POSITION_DECIDES', 'make 90.0 % of the profit (at most 50.0 % is allowed)'],
    ['many trials', luck({ trials: 500, deflatedSharpe: 0.7 }), 'luck', 'deflatedSharpe',
      'TRIALS_EXPLAIN_IT', '500 variants of this strategy were tried on this data, and the Sharpe ratio of 1.20'],
    ['a short record', luck({ trials: 1, deflatedSharpe: 0.9, probabilisticSharpe: 0.9 }), 'inconclusive',
      'deflatedSharpe', 'RECORD_TOO_SHORT', 'Over 1000 days the Sharpe ratio is above 0 with a probability of 90.0 %'],
    ['a sweep that calls it luck', luck({ sweeps: [{ ...sweep, verdict: 'luck', text: 'Treat it as luck.' }] }),
      'luck', 'sweepsCallingItLuck', 'SWEEP_IS_LUCK',
      'The backtest is row 1 of the best of sweep S, whose verdict is luck: Treat it as luck.'],
    ['a cliff', luck({ sweeps: [{ ...sweep, plateau: 0.1, isCliff: true }] }), 'fragile', 'sweepPlateau',
      'BEST_ON_CLIFF', 'its nearest rows keep 10.0 % of its lead over the median row (at least 50 % is needed)'],
    ['losing draws of the positions', { monteCarlo: { ...ROBUST.monteCarlo!,
      resampled: { ...ROBUST.monteCarlo!.resampled, lossProbability: 0.06 } } }, 'fragile', 'tradeLossProbability',
      'TRADES_LUCKY', 'lose money in 6.0 % of 2000 draws (at most 5.0 % is allowed)'],
    ['a lucky order', { monteCarlo: { ...ROBUST.monteCarlo!, actual: { returnPct: 0.5, maxDrawdown: 0.01 } } },
      'fragile', 'drawdownAtExits', 'DRAWDOWN_LUCKY', 'measured at exits, the drawdown was 1.0 %'],
    ['losing histories', { blockBootstrap: { ...runs, blockBars: 30, lossProbability: 0.3 } }, 'fragile',
      'bootstrapLossProbability', 'BARS_LUCKY', 'it loses money in 30.0 % (at most 25.0 % is allowed)'],
    ['fees', { feeStress: { levels: levels.map((level) => ({ ...level, returnPct: 0.5 - 0.3 * level.multiplier })),
      breakEven: 1.67 } }, 'fragile', 'returnAtStressedFees', 'FEES_DECIDE', 'The gain is gone at 1.7 times the fees.'],
    ['a later start', { startShift: { shifts: [{ bars: 40, ...numbers, returnPct: 0.2 }] } }, 'fragile',
      'startShiftKeptReturn', 'START_DECIDES', 'Started 40 bars later it returns 20.0 % instead of 50.0 %'],
    ['the Sharpe ratio under its jitter', jitter({ sharpeRatio: distribution(0.6) }), 'fragile', 'jitterKeptSharpe',
      'PARAMETERS_DECIDE', 'the median Sharpe ratio is 0.60 instead of 1.20 (at least 70.7 % of that is needed)'],
    ['the return under its jitter', jitter({ returnPct: distribution(0.2) }), 'fragile', 'jitterKeptReturn',
      'PARAMETERS_DECIDE', 'the median return is 20.0 % instead of 50.0 %'],
    ['losses under its jitter', jitter({ lossProbability: 0.4 }), 'fragile', 'jitterLossProbability',
      'PARAMETERS_DECIDE', '40.0 % of the runs lose money'],
  ])('names the bound that %s breaks, with numbers', (_, changed, code, name, finding, part) => {
    const { verdict, bounds, findings } = judged(changed);
    expect(verdict.code).toBe(code);
    expect(bounds.filter(({ passed }) => passed !== true).map((bound) => bound.name)).toEqual([name]);
    expect(findings.map((each) => each.code)).toEqual([finding]);
    expect(verdict.text).toContain(part);
  }); // prettier-ignore

  it('is not robust for a Sharpe ratio of 0.87 that its own jitter halves to 0.44', () => {
    const found = { baseline: { ...numbers, sharpeRatio: 0.87 }, ...jitter({ sharpeRatio: distribution(0.44) }) };
    expect(judged(found).verdict).toEqual({
      code: 'fragile',
      text:
        'One weakness found. With its numbers moved a little, the median Sharpe ratio is 0.44 instead of 0.87 (at ' +
        'least 70.7 % of that is needed).',
    });
  });

  it('is inconclusive where an analysis was not requested, had too few runs, or found nothing to vary', () => {
    const { parameterJitter: _, ...withoutJitter } = ROBUST;
    const cases: RobustnessAnalyses[] = [
      withoutJitter,
      { ...ROBUST, ...jitter({ runs: 29 }) },
      { ...ROBUST, blockBootstrap: { ...runs, blockBars: 30, runs: 12 } },
      { ...ROBUST, startShift: { shifts: [] } },
      { ...ROBUST, feeStress: { levels: [], breakEven: null } },
      { ...ROBUST, monteCarlo: null },
    ];
    for (const found of cases) {
      const bounds = boundsOf(found);
      const findings = findingsOf(found, bounds);
      expect(verdictOf(found, findings, bounds)).toMatchObject({
        code: 'inconclusive',
        text: expect.stringMatching(/^Not enough to tell\. Not measured: /) as string,
      });
    }
  });

  it('is inconclusive where nobody knows how many variants were tried', () => {
    const { verdict } = judged(luck({ trials: null, deflatedSharpe: null, sweeps: [] }));
    expect(verdict.code).toBe('inconclusive');
    expect(verdict.text).toContain('How many variants were tried before this one is not known');
  });

  it('asks for no jitter of a strategy without numbers, and for no warm-up audit without a bar to leave out', () => {
    const { verdict } = judged({ parameterJitter: null, warmUpAudit: { ...ROBUST.warmUpAudit!, passed: null } });
    expect(verdict).toEqual({
      code: 'robust',
      text: 'All 12 bounds hold. One finding of severity info should be read.',
    });
  });

  it('is luck before it is fragile, and fragile before it is inconclusive', () => {
    const few = evidence({ independentTrades: 3 });
    const weak = jitter({ lossProbability: 0.4 });
    expect(judged({ ...few, ...weak }).verdict.code).toBe('fragile');
    expect(judged({ ...few, ...weak, ...luck({ trials: 9, deflatedSharpe: 0.5 }) }).verdict.code).toBe('luck');
  });

  it.each([
    [-0.123, 'The backtest loses 12.3 %: there is no gain whose robustness could be tested.'],
    [-0.0001, 'The backtest loses less than 0.1 %: there is no gain whose robustness could be tested.'],
    [0, 'The backtest earns nothing: there is no gain whose robustness could be tested.'],
    [null, 'The backtest earns nothing: there is no gain whose robustness could be tested.'],
  ])('calls a return of %s no gain', (returnPct, text) => {
    const { verdict } = judged({ baseline: { ...numbers, returnPct }, ...luck({ trials: 500, deflatedSharpe: 0.1 }) });
    expect(verdict).toEqual({ code: 'unprofitable', text });
  });

  it('begins with what decides, in a sentence of its own', () => {
    const of = (...findings: Finding[]) => verdictOf({ baseline: numbers }, findings, []);
    const finding = (severity: Finding['severity'], message: string): Finding => ({ code: 'X', severity, message });
    expect(of(finding('error', 'The run looks ahead: two signals differ.'))).toEqual({
      code: 'broken',
      text: 'Do not use this result. The run looks ahead: two signals differ.',
    });
    const two = [finding('warning', 'The gain is gone.'), finding('warning', 'Another.'), finding('info', 'A remark.')];
    expect(of(...two)).toEqual({
      code: 'fragile',
      text: '2 weaknesses found; this is the first. The gain is gone.',
    });
  });

  it('is never robust beside a bound that does not hold, whatever the findings say', () => {
    for (const passed of [false, null]) {
      const bounds = [{ ...judged({}).bounds[0], passed }];
      expect(verdictOf({ baseline: numbers }, [], bounds)).toEqual({
        code: 'inconclusive',
        text: 'Not enough to tell. Bounds that do not hold: independentTrades.',
      });
    }
  });
});

describe('a finding', () => {
  const messagesOf = (changed: Partial<RobustnessAnalyses>): string[] =>
    judged(changed).findings.map(({ message }) => message);

  it.each([
    [1, 'The run looks ahead: on bars that end earlier, 1 signal and 1 trade before the end are different.'],
    [2, 'The run looks ahead: on bars that end earlier, 2 signals and 2 trades before the end are different.'],
  ])('counts signals and trades: %i', (count, message) => {
    const differing = { passed: false, signalsDiffering: count, tradesDiffering: count };
    expect(messagesOf({ lookAheadAudit: { ...ROBUST.lookAheadAudit!, ...differing } })).toEqual([message]);
  });

  it.each([
    [1, 'With only the 1 bar of the warm-up before the start, 1 signal and 1 trade are different. No tested length'],
    [3, 'With only the 3 bars of the warm-up before the start, 3 signals and 3 trades are different. No tested length'],
  ])('counts what the warm-up changes: %i', (count, message) => {
    const [shortest] = ROBUST.warmUpAudit!.byMultiple;
    const byMultiple = [{ ...shortest, signalsDiffering: count, tradesDiffering: count }];
    const warmUpAudit = { passed: false, warmupBars: count, byMultiple, enoughBars: null };
    expect(messagesOf({ warmUpAudit })).toEqual([expect.stringContaining(message)]);
  });
});
