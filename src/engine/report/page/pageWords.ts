// The words of the page: findings name settings and statistics as requests do, and readers of a page know them by the
// names that the page has, with their values.
import { FLAT_KEYS, isFraction, statisticOf } from '../../definitions/statistics/statistics.ts';
import { REJECTION_REASONS } from '../../simulate/simulation.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { fixed, percentWithSign, trimmed } from '../kit/numberText.ts';
import { shownValue } from './statisticsSection.ts';

/** What the page calls what the order log calls a rejection. */
export const REJECTIONS: Readonly<Record<(typeof REJECTION_REASONS)[number], string>> = {
  INSUFFICIENT_BALANCE: 'not enough balance',
  MIN_NOTIONAL: 'below the minimum notional',
  ZERO_QTY: 'quantity rounds to zero',
  LEVEL_MISSING: 'a price level is missing',
};

type Words = readonly (readonly [name: RegExp, words: string | ((run: CompletedRun) => string)])[];

/** Longer names first: they contain shorter ones. */
const SETTINGS: Words = [
  [/\bexecution\.feeModel\b/g, 'fees'],
  [/\bexecution\.slippage\b/g, 'slippage'],
  [/\bsettings\.warmupPeriod\b/g, ({ report }) => `warm-up (${report.warmup.bars} bars)`],
  [
    /\b(?:config\.)?portfolio\.slots\b/g,
    ({ resolvedConfig }) => `slots (${resolvedConfig.portfolio?.slots ?? 'no limit'})`,
  ],
  [/\bconfig\.leverage\b/g, ({ resolvedConfig }) => `the leverage (${trimmed(resolvedConfig.leverage, 4)}×)`],
  [/\bconfig\.fundingRate\b/g, 'the funding rate'],
  [/\bconfig\.range\b/g, 'the period'],
  [/\bconfig\.ambiguityResolution\b/g, 'the resolution of undecided bars'],
  [/\bconfig\.ambiguityFallback\b/g, 'the policy for undecided bars'],
  [/\b(?:config\.)?initialBalance\b/g, ({ resolvedConfig }) => `capital (${fixed(resolvedConfig.initialBalance, 0)})`],
  [/\bbySide and byExitReason\b/g, 'the results by side and by exit'],
  [/\bpercent_equity sizing\b/g, 'a size in percent of equity'],
  [/\bsizing\.value\b/g, 'the size'],
  [/\bgrossPercent\b/g, 'the gross exposure'],
  [/\bweights\.by\b/g, 'the value behind the weights'],
  [/\ballocation\.when\b/g, 'the condition to rebalance'],
  [/\btopPercent\b/g, 'a top share'],
  [/\bminNotional\b/g, 'minimum notional'],
  [/\bqtyStep\b/g, 'quantity step'],
  [/\bexpireBars\b/g, 'the life of the order'],
  [/\bmulti_resolution\b/g, 'finer bars'],
  [/\brolling_window with mode "any"/g, 'rolling window of any bar'],
  [/\bconfig\./g, ''],
];

const KEYS = FLAT_KEYS.filter((key) => /[A-Z]/.test(key));
const KEY = new RegExp(`\\b(?:${KEYS.join('|')})\\b`, 'g');
const REASON = new RegExp(`\\b(?:${REJECTION_REASONS.join('|')})\\b`, 'g');

/** A finding in the words of the page, with the values of what it names. */
export function inPageWords(text: string, run: CompletedRun): string {
  const settings = SETTINGS.reduce(
    (found, [name, words]) => found.replace(name, typeof words === 'string' ? words : words(run)),
    text,
  );
  const reasons = settings.replace(REASON, (reason) => `“${REJECTIONS[reason as keyof typeof REJECTIONS]}”`);
  return reasons.replace(KEY, (name) => {
    const key = KEYS.find((each) => each === name)!;
    const { row } = statisticOf(key);
    const value = shownValue(row, run.summary[key]);
    const written = isFraction(key) ? percentWithSign(value) : fixed(value, 2).replace(/\.00$/, '');
    return `${row.name[0].toLowerCase()}${row.name.slice(1)} (${written})`;
  });
}
