// The texts a report page is made of: the only files an engine thread reads, once, to hand them to the pure report.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PageAssets } from '../report/page/reportPage.ts';
import type { SweepPageAssets } from '../sweep/page/sweepPage.ts';

let assets: PageAssets | undefined;

/**
 * lightweight-charts' standalone build, which defines `LightweightCharts` on the window, and the page's own style and
 * script.
 */
export function pageAssets(): PageAssets {
  assets ??= {
    chartLibrary: read(
      new URL('lightweight-charts.standalone.production.js', import.meta.resolve('lightweight-charts')),
    ),
    style: read(new URL('../report/page/page.css', import.meta.url)),
    script: read(new URL('../report/page/page.js', import.meta.url)),
  };
  return assets;
}

/** The sweep's report has the backtest's style, and draws its charts without the library. */
export function sweepPageAssets(): SweepPageAssets {
  const own = new URL('../sweep/page/', import.meta.url);
  return {
    style: read(new URL('../report/page/page.css', import.meta.url)) + read(new URL('sweepPage.css', own)),
    script: read(new URL('sweepPage.js', own)),
  };
}

const read = (url: URL): string => readFileSync(fileURLToPath(url), 'utf8');
