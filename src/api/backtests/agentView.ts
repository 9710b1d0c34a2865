// The agent view: a backtest's detail cut to a number of bytes, ranked by use, with a list of what was left out.
import { z } from 'zod';
import { jsonBytes, MEMBER_BYTES } from '../http/jsonBytes.ts';
import { SIGNIFICANT_DIGITS, toSignificant } from '../http/significant.ts';
import { readFirstOf } from './backtestBodies.ts';
import { BacktestDetail } from './backtestSchemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** Statistics an agent decides by; the others come later if there is room. */
const HEADLINES = [
  'returnPct', 'buyHoldReturnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions', 'winRate', 'profitFactor',
  'expectancy', 'exposurePct', 'totalFees', 'finalEquity', 'probabilisticSharpe',
] as const; // prettier-ignore
const FUNNEL_COUNTS = [
  'barsTotal', 'barsWarmup', 'barsUnknown', 'setupTrue', 'triggerTrue', 'setupAndTrigger', 'entrySignals',
  'blockedInPosition', 'rankedOut', 'ordersRejected', 'ordersExpired', 'ordersReplaced', 'entriesFilled', 'exits',
] as const; // prettier-ignore
/** An allocation has no signals. */
const ALLOCATION_COUNTS = [
  'barsTotal', 'barsWarmup', 'allocation', 'ordersRejected', 'entriesFilled', 'exits',
] as const; // prettier-ignore
/** Room for the list of what is left out, which must itself be small. */
const LIST_BYTES = 300;
const NEAR_MISSES = 3;
/** Those of a portfolio that contributed most; the last ones of its list lost most. */
const INSTRUMENTS = 10;
/** The longest text in the tightest view. */
const SHORT_TEXT = 160;

/** What `view=agent` answers. */
export const AgentView = z
  .looseObject({
    id: BacktestDetail.shape.id,
    status: BacktestDetail.shape.status,
    error: BacktestDetail.shape.error,
    readFirst: z.array(z.string()).meta({ description: 'JSON pointers into this answer, in the order to read them.' }),
    diagnosis: z.array(z.record(z.string(), z.unknown())).optional().meta({ description: 'Why it did what it did.' }),
    funnel: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'From bars to entries; of a rotation, from `when` to rebalances, orders and fills.' }),
    rules: z
      .array(z.record(z.string(), z.unknown()))
      .optional()
      .meta({ description: 'The condition that alone held entries back most often comes first.' }),
    headline: z.record(z.string(), z.number().nullable()).optional(),
    omitted: z
      .array(z.string())
      .meta({ description: 'What did not fit; `name[3…]`: the items from index 3 on. `view=full` has all of it.' }),
  })
  .meta({
    id: 'BacktestAgentView',
    description: `Numbers have ${SIGNIFICANT_DIGITS} significant digits. Parts that do not fit are absent.`,
  });

/** A part of the view: lists are shortened, objects are whole or absent. */
interface Part {
  readonly name: string;
  readonly value: unknown;
  /** The most items that are shown of a list; absent: as many as fit. */
  readonly maxItems?: number;
}

/** At most `maxBytes` of JSON in UTF-8. Without a result it is the detail without its config. */
export function agentView(detail: BacktestDetail, maxBytes: number): Json {
  const { id, status, error, progress, result } = detail;
  const summary = toSignificant(result?.summaryJson ?? {}) as Json;
  const head = { id, status, error };
  const core = result ? fittingCore(summary, maxBytes - jsonBytes(head) - LIST_BYTES - READ_FIRST_BYTES) : {};
  // The progress of what has ended says nothing.
  const rest = result ? core : error ? {} : { progress };
  const readFirst = result ? Object.keys(core).map((name) => `/${name}`) : [...readFirstOf(detail)];
  const view: Record<string, unknown> = { ...head, readFirst, ...rest };
  const omitted = omittedOfCore(core, summary);
  let left = maxBytes - jsonBytes(view) - LIST_BYTES;
  for (const { name, value, maxItems } of partsByUse(detail, summary)) {
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    const wanted: unknown = Array.isArray(value) ? value.slice(0, maxItems) : value;
    const fitting = fittingPart(wanted, left - name.length - MEMBER_BYTES);
    if (fitting === undefined) {
      omitted.push(name);
      continue;
    }
    view[name] = fitting;
    left -= jsonBytes(fitting) + name.length + MEMBER_BYTES;
    // Of a portfolio they are read next; the pointer needs little more room than the name.
    if ((name === 'portfolio' || name === 'instruments') && left > name.length + MEMBER_BYTES) {
      readFirst.push(`/${name}`);
      left -= name.length + MEMBER_BYTES;
    }
    const unshown = Array.isArray(value) ? unshownItems(name, fitting as unknown[], value) : undefined;
    if (unshown !== undefined) omitted.push(unshown);
  }
  view.omitted = shortenedNames(omitted);
  return view;
}

/** What is shown beside the core, as far as there is room: the most useful first. */
function partsByUse({ warnings, links, result, reproducibility, ...detail }: BacktestDetail, summary: Json): Part[] {
  const { nearMisses, samples } = traceOf(summary);
  const { pairwiseNeverTogether, tradesByRule } = rulesOf(summary);
  const shownElsewhere = new Set<string>([
    ...HEADLINES,
    'strategyTrace',
    'ruleStatsSummary',
    'equityPreview',
    'portfolio',
    'instruments',
    'carry',
  ]);
  return [
    { name: 'name', value: detail.name },
    { name: 'tags', value: detail.tags },
    { name: 'note', value: detail.note },
    { name: 'warnings', value: toSignificant(warnings) },
    { name: 'portfolio', value: summary.portfolio },
    { name: 'carry', value: summary.carry },
    { name: 'instruments', value: summary.instruments, maxItems: INSTRUMENTS },
    { name: 'nearMisses', value: nearMisses, maxItems: NEAR_MISSES },
    { name: 'neverTogether', value: pairwiseNeverTogether },
    { name: 'tradesByRule', value: tradesByRule },
    { name: 'effectiveSettings', value: toSignificant(detail.effectiveSettings) },
    { name: 'links', value: links },
    { name: 'artifactUrls', value: result?.artifactUrls },
    ...Object.entries(summary).flatMap(([name, value]) => (shownElsewhere.has(name) ? [] : [{ name, value }])),
    { name: 'samples', value: samples },
    { name: 'resolvedConfig', value: toSignificant(detail.resolvedConfig) },
    { name: 'reproducibility', value: reproducibility },
    { name: 'equityPreview', value: summary.equityPreview },
  ];
}

interface Core {
  readonly diagnosis: readonly Json[];
  readonly funnel: Json;
  readonly rules: readonly Json[];
  readonly headline: Json;
}
/** `"readFirst":["/diagnosis","/funnel","/rules","/headline"],` */
const READ_FIRST_BYTES = 64;

/** Diagnosis, funnel, rules and headline, which are always shown, in the most detail that leaves room for the rest. */
function fittingCore(summary: Json, maxBytes: number): Core {
  const trace = traceOf(summary);
  const diagnosis = listOf(trace.diagnosis);
  const whole = (trace.funnel ?? {}) as Json;
  const isAllocation = whole.allocation !== undefined;
  const funnel = isAllocation ? pick(whole, ALLOCATION_COUNTS) : whole;
  const rules = ranked(listOf(rulesOf(summary).rules));
  const headline = pick(summary, HEADLINES);
  const counts = isAllocation ? funnel : pick(funnel, FUNNEL_COUNTS);
  const brief = rules.map((rule) =>
    pick(rule, ['nodeId', 'path', 'text', 'trueCount', 'evaluated', 'soleBlockerCount']),
  );
  const fits = (core: Core): boolean => jsonBytes(core) <= maxBytes;
  const choices: (() => Core)[] = [
    () => ({ diagnosis, funnel, rules, headline }),
    () => ({ diagnosis, funnel, rules: brief, headline }),
    () => ({ diagnosis, funnel: counts, rules: brief.slice(0, 8), headline }),
    () => ({ diagnosis: diagnosis.slice(0, 3), funnel: counts, rules: brief.slice(0, 3), headline }),
    () => ({
      diagnosis: diagnosis.slice(0, 1),
      funnel: counts,
      rules: brief.slice(0, 1),
      headline: shortHeadline(headline),
    }),
  ];
  for (const choice of choices) {
    const core = choice();
    if (fits(core)) return core;
  }
  return {
    diagnosis: diagnosis.slice(0, 1).map(({ code, message }) => ({ code, message: shortText(message) })),
    funnel: pick(
      isAllocation ? (funnel.allocation as Json) : funnel,
      isAllocation
        ? ['whenTrue', 'rebalances', 'orders', 'ordersFilled']
        : ['barsTotal', 'entrySignals', 'entriesFilled'],
    ),
    rules: brief.slice(0, 1).map(({ nodeId, trueCount }) => ({ nodeId: shortText(nodeId), trueCount })),
    headline: shortHeadline(headline),
  };
}

const traceOf = (summary: Json): Json => (summary.strategyTrace ?? {}) as Json;
const rulesOf = (summary: Json): Json => (summary.ruleStatsSummary ?? {}) as Json;
const shortHeadline = (headline: Json): Json => pick(headline, HEADLINES.slice(0, 5));
const shortText = (value: unknown): string => String(value).slice(0, SHORT_TEXT);
const pick = (from: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** What the core leaves out of its lists. */
function omittedOfCore(core: Partial<Core>, summary: Json): string[] {
  const lists = [
    ['diagnosis', core.diagnosis, listOf(traceOf(summary).diagnosis)],
    ['rules', core.rules, listOf(rulesOf(summary).rules)],
  ] as const;
  return lists.flatMap(([name, shown, all]) => (shown && unshownItems(name, shown, all)) ?? []);
}

/** The items of a list after those that are shown, as `omitted` names them; undefined: there are none. */
const unshownItems = (name: string, shown: readonly unknown[], all: readonly unknown[]): string | undefined =>
  shown.length < all.length ? `${name}[${shown.length}…]` : undefined;

/** Rules by how often each alone kept an entry from signaling, most often first. */
function ranked(rules: readonly Json[]): readonly Json[] {
  const blocked = (rule: Json): number => Number(rule.soleBlockerCount ?? 0);
  return rules.toSorted((a, b) => blocked(b) - blocked(a));
}

/** The whole value if it fits into `bytes` of JSON, or as many items of a list as fit, or undefined. */
function fittingPart(value: unknown, bytes: number): unknown {
  if (jsonBytes(value) <= bytes) return value;
  if (!Array.isArray(value)) return undefined;
  const items: unknown[] = [];
  let used = 2;
  for (const item of value) {
    used += jsonBytes(item) + 1;
    if (used > bytes) break;
    items.push(item);
  }
  return items.length > 0 ? items : undefined;
}

/** As many names as fit into the room for the list, then `…`. */
function shortenedNames(names: readonly string[]): string[] {
  const kept: string[] = [];
  let used = 20;
  for (const name of names) {
    used += name.length + MEMBER_BYTES;
    if (used > LIST_BYTES - 20) return [...kept, '…'];
    kept.push(name);
  }
  return kept;
}
