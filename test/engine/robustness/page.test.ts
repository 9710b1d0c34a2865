// The report of a robustness check: every number of it against the result that it is made of.
import { beforeAll, describe, expect, it } from 'vitest';
import { robustnessReport } from '../../../src/engine/pool/pageAssets.ts';
import { resolveConfig } from '../../../src/engine/config.ts';
import { percent } from '../../../src/engine/report/kit/numberText.ts';
import type { RobustnessResult } from '../../../src/engine/robustness/robustnessResult.ts';
import { checked, robustnessContext } from '../../support/robustness.ts';
import { compiled, CONFIG, CROSSING, marketOf } from '../../support/sweeps.ts';

const TITLE = '<img src=x onerror=alert(1)>';
let result: RobustnessResult;
let page: string;
let text: string;
beforeAll(() => {
  const market = marketOf(600, 5, (row, noise) => 0.004 * Math.sin(row / 9) + 0.006 * noise);
  const { strategyAst } = compiled(CROSSING);
  result = checked(robustnessContext(strategyAst, market, { spec: { samples: 12 } }));
  const heading = { title: TITLE, version: 3, backtestId: 'B-1', config: resolveConfig(CONFIG) };
  page = robustnessReport(result, heading);
  text = page
    .replaceAll(/<(script|style)\b.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
});

const plotOf = (name: string): string =>
  new RegExp(`<h3>${name}</h3>\\s*<svg.*?</svg>`, 's').exec(page)![0].replaceAll(/\s+/g, ' ');

describe('the report of a robustness check', () => {
  it('begins with the run and the verdict, and writes no name as markup', () => {
    expect(page).not.toContain(TITLE);
    for (const part of ['version 3', 'B-1', result.verdict.text.replaceAll('"', '&quot;')])
      expect(page).toContain(part);
    for (const { message } of result.findings) expect(page).toContain(message.replaceAll('"', '&quot;'));
  });

  it('draws each distribution with its percentiles and the original', () => {
    const plot = plotOf('Total return');
    const { returnPct, original } = result.blockBootstrap!;
    const [low, middle, high] = [returnPct.p5, returnPct.p50, returnPct.p95].map((value) => `${percent(value, 1)} %`);
    expect(plot).toContain(`Block bootstrap: 5 % are below ${low}, half below ${middle}, 95 % below ${high}`);
    expect(plot).toContain(`Block bootstrap: the original, ${percent(original!.returnPct, 1)} %`);
    expect(plot.match(/class="run"/g)!.length).toBe(
      result.feeStress!.levels.length +
        result.slippageStress!.levels.length +
        result.startShift!.shifts.length +
        result.counterfactuals!.length,
    );
  });

  it('shows drawdowns below zero, the deepest first among the percentiles', () => {
    const plot = plotOf('Deepest drawdown');
    const { p5, p95 } = result.monteCarlo!.shuffled.maxDrawdown;
    const [least, most] = [p5!, p95!].map((value) => `${percent(-value, 1)} %`);
    expect(plot).toContain(`Monte carlo, in another order: 5 % are below ${most}`);
    expect(plot).toContain(`95 % below ${least}`);
    expect(page).not.toMatch(/>\s*[-−]0(\.0+)?\s*</);
  });

  it('lists every bound with its value, and every run', () => {
    const held = result.bounds.filter(({ passed }) => passed === true).length;
    expect(text.match(/ holds /g)!.length).toBe(held);
    const kept = result.bounds.find(({ name }) => name === 'startShiftKeptReturn')!;
    expect(text).toContain(`Start shift kept return ${percent(kept.value)} % at least 50.00 %`);
    const rows = /<section[^>]* id="runs".*?<\/section>/s.exec(page)![0].match(/<tr>/g)!;
    expect(rows.length).toBeGreaterThan(result.startShift!.shifts.length + result.counterfactuals!.length + 10);
  });
});
