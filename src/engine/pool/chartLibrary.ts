// The chart library's text, for reports: the one file that an engine thread reads, once, and hands to the pure report.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

let text: string | undefined;

/** lightweight-charts' standalone build, which defines `LightweightCharts` on the window. */
export function chartLibrary(): string {
  const entry = import.meta.resolve('lightweight-charts');
  text ??= readFileSync(fileURLToPath(new URL('lightweight-charts.standalone.production.js', entry)), 'utf8');
  return text;
}
