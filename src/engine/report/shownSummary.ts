// The summary as answers show it: a key that ends in `At` is an ISO 8601 string everywhere in the API. The hash covers
// the summary as it is computed and stored, with these times in ms.
import { FLAT_KEYS, STATISTICS } from '../definitions/statistics/statistics.ts';
import type { RuleStatsSummary } from './ruleStatsSummary.ts';

type Json = Readonly<Record<string, unknown>>;

const FIRST = ['strategyTrace', 'ruleStatsSummary'];

const INSTANT_KEYS = STATISTICS.filter(({ unit }) => unit === 'instant').map(({ key }) => key);

/** @param summary all of it or a part, as computed or as read back from storage */
export function shownSummary(summary: Json): Record<string, unknown> {
  const { equityPreview, ...others } = summary;
  const shown: Record<string, unknown> = {};
  // The most important keys come first, because a reader may see no more than the beginning.
  for (const key of [...FIRST, ...FLAT_KEYS, ...Object.keys(others)]) if (key in others) shown[key] = others[key];
  if (equityPreview !== undefined) shown.equityPreview = equityPreview;
  for (const key of INSTANT_KEYS) if (key in shown) shown[key] = isoText(shown[key]);
  const rules = shown.ruleStatsSummary as RuleStatsSummary | undefined;
  if (rules?.rules !== undefined) shown.ruleStatsSummary = { ...rules, rules: rules.rules.map(shownRule) };
  return shown;
}

const shownRule = <Rule extends { readonly firstTrueAt: unknown; readonly lastTrueAt: unknown }>(rule: Rule) => ({
  ...rule,
  firstTrueAt: isoText(rule.firstTrueAt),
  lastTrueAt: isoText(rule.lastTrueAt),
});

/** @param ms since 1970; what is not a number, such as null, stays as it is. */
const isoText = (ms: unknown): unknown =>
  typeof ms === 'number' && Number.isFinite(ms) ? new Date(ms).toISOString() : ms;
