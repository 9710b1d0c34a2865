// The texts a report page is made of: the only files an engine thread reads, once, to hand them to the pure report.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PageAssets } from '../report/page/reportPage.ts';
import { robustnessPage, type CheckedHeading } from '../robustness/page/robustnessPage.ts';
import type { RobustnessResult } from '../robustness/robustnessResult.ts';
import type { SweepPageAssets } from '../sweep/page/sweepPage.ts';

let assets: PageAssets | undefined;
/** In the order in which they run: each uses what those before it offer. */
const SWEEP_SCRIPTS = ['drawing', 'variant', 'heatmap', 'plots'];
const PAGE_SCRIPTS = ['tradeMarks', 'conditionStrip', 'charts', 'tradeTable'];

/** The report of a backtest draws its charts with lightweight-charts, whose build defines `LightweightCharts`. */
export function pageAssets(): PageAssets {
  assets ??= {
    chartLibrary: read(
      new URL('lightweight-charts.standalone.production.js', import.meta.resolve('lightweight-charts')),
    ),
    style: kit() + read('../report/page/page.css'),
    scripts: [kitScript(), ...PAGE_SCRIPTS.map((name) => read(`../report/page/${name}.js`))],
  };
  return assets;
}

/** The report of a sweep draws its charts without a library. */
export const sweepPageAssets = (): SweepPageAssets => ({
  style: kit() + read('../sweep/page/sweepPage.css'),
  scripts: [kitScript(), ...SWEEP_SCRIPTS.map((name) => read(`../sweep/page/${name}.js`))],
});

/** The report of a robustness check is made of its stored result, in whichever process is asked for it. */
export const robustnessReport = (result: RobustnessResult, heading: CheckedHeading): string =>
  robustnessPage(result, heading, {
    style: kit() + read('../robustness/page/robustnessPage.css'),
    scripts: [kitScript()],
  });

const read = (url: string | URL): string => readFileSync(fileURLToPath(new URL(url, import.meta.url)), 'utf8');
/** The style and the script of the parts that all reports are made of. */
const kit = (): string => read('../report/kit/kit.css');
const kitScript = (): string => read('../report/kit/kit.js');
