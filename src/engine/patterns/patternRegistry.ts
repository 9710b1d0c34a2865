// The pattern registry: every candlestick pattern of TA-Lib 0.8 under its retail name.
import { CAMPAIGN_PATTERNS } from './fiveBar.ts';
import { CROW_PATTERNS } from './crows.ts';
import type { PatternDefinition } from './patternDefinition.ts';
import { DOJI_PATTERNS } from './doji.ts';
import { HAMMER_PATTERNS } from './hammers.ts';
import { HIKKAKE_PATTERNS } from './hikkake.ts';
import { LINE_PATTERNS } from './oneBar.ts';
import { MEETING_PATTERNS } from './twoBar.ts';
import { PAIR_PATTERNS } from './engulfing.ts';
import { SOLDIER_PATTERNS } from './soldiers.ts';
import { STAR_PATTERNS } from './stars.ts';
import { TRIPLE_PATTERNS } from './threeBar.ts';

export type { PatternDefinition, PatternSide } from './patternDefinition.ts';

export const PATTERNS: readonly PatternDefinition[] = [
  ...DOJI_PATTERNS,
  ...LINE_PATTERNS,
  ...HAMMER_PATTERNS,
  ...PAIR_PATTERNS,
  ...MEETING_PATTERNS,
  ...STAR_PATTERNS,
  ...CROW_PATTERNS,
  ...SOLDIER_PATTERNS,
  ...TRIPLE_PATTERNS,
  ...CAMPAIGN_PATTERNS,
  ...HIKKAKE_PATTERNS,
];

const byName = new Map<string, PatternDefinition>(
  PATTERNS.flatMap((pattern) =>
    [pattern.id, ...pattern.aliases, pattern.talib].map((name) => [name.toLowerCase(), pattern] as const),
  ),
);

/** By id, alias or TA-Lib's function name (`CDLDOJI`), in any case. */
export const findPattern = (name: string): PatternDefinition | undefined => byName.get(name.toLowerCase());
