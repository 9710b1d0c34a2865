// The agent view: a backtest's detail cut to a number of bytes, the most telling parts first, with a list of what was left out.
import type { BacktestDetail } from './schemas/backtests.ts';

type Json = Readonly<Record<string, unknown>>;

/** Statistics an agent decides by; the others come later if there is room. */
const HEADLINES = [
  'returnPct', 'buyHoldReturnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions', 'winRate', 'profitFactor', 'expectancy', 'exposurePct',
  'totalFees', 'finalEquity', 'probabilisticSharpe',
] as const; // prettier-ignore
/** Left out of the list of what is missing: it must itself be small. */
const LIST_BYTES = 400;

/** A part of the view, and where in it: lists are shortened, objects are whole or absent. */
interface Part {
  readonly name: string;
  readonly value: unknown;
}

/** At most `maxBytes` of JSON in UTF-8. Without a result it is the detail without its config. */
export function agentView(detail: BacktestDetail, maxBytes: number): Json {
  const { id, status, error, progress, warnings, links, result, resolvedConfig, reproducibility } = detail;
  const view: Record<string, unknown> = { id, status, error, headline: null };
  const summary: Json = result?.summaryJson ?? {};
  if (result) view.headline = Object.fromEntries(HEADLINES.map((name) => [name, summary[name] ?? null]));
  const trace = (summary.strategyTrace ?? {}) as Json;
  const rules = (summary.ruleStatsSummary ?? {}) as Json;
  const known = new Set<string>([...HEADLINES, 'strategyTrace', 'ruleStatsSummary', 'equityPreview']);
  const parts: Part[] = [
    { name: 'diagnosis', value: trace.diagnosis },
    { name: 'funnel', value: trace.funnel },
    { name: 'warnings', value: warnings },
    { name: 'rules', value: ranked(rules.rules) },
    { name: 'neverTogether', value: rules.pairwiseNeverTogether },
    { name: 'nearMisses', value: trace.nearMisses },
    { name: 'progress', value: progress },
    { name: 'links', value: links },
    { name: 'artifactUrls', value: result?.artifactUrls },
    ...Object.entries(summary).flatMap(([name, value]) => (known.has(name) ? [] : [{ name, value }])),
    { name: 'samples', value: trace.samples },
    { name: 'resolvedConfig', value: resolvedConfig },
    { name: 'reproducibility', value: reproducibility },
    { name: 'equityPreview', value: summary.equityPreview },
  ];
  const omitted: string[] = [];
  let left = maxBytes - bytesOf(view) - LIST_BYTES;
  for (const { name, value } of parts) {
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    const fitting = cut(value, left - name.length - 4);
    if (fitting === undefined) omitted.push(name);
    else {
      view[name] = fitting;
      left -= bytesOf(fitting) + name.length + 4;
      if (Array.isArray(value) && (fitting as unknown[]).length < value.length)
        omitted.push(`${name}[${(fitting as unknown[]).length}…]`);
    }
  }
  view.omitted = shortened(omitted);
  return view;
}

/** The rule that alone stood in the way most often comes first. */
function ranked(rules: unknown): unknown {
  if (!Array.isArray(rules)) return rules;
  const blocked = (rule: Json): number => Number(rule.soleBlockerCount ?? 0);
  return (rules as Json[]).toSorted((a, b) => blocked(b) - blocked(a));
}

/** The whole of it, as many of its items as fit, or undefined. */
function cut(value: unknown, bytes: number): unknown {
  if (bytesOf(value) <= bytes) return value;
  if (!Array.isArray(value)) return undefined;
  const items: unknown[] = [];
  let used = 2;
  for (const item of value) {
    used += bytesOf(item) + 1;
    if (used > bytes) break;
    items.push(item);
  }
  return items.length > 0 ? items : undefined;
}

function shortened(names: readonly string[]): string[] {
  const kept: string[] = [];
  let used = 20;
  for (const name of names) {
    used += name.length + 4;
    if (used > LIST_BYTES - 20) return [...kept, '…'];
    kept.push(name);
  }
  return kept;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
