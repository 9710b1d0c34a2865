// The pattern registry: every candlestick pattern of TA-Lib 0.8 under its retail name.
import { CAMPAIGN_PATTERNS } from './campaigns.ts';
import { CROW_PATTERNS } from './crows.ts';
import type { PatternDefinition } from './definition.ts';
import { DOJI_PATTERNS } from './doji.ts';
import { HAMMER_PATTERNS } from './hammers.ts';
import { HIKKAKE_PATTERNS } from './hikkake.ts';
import { LINE_PATTERNS } from './lines.ts';
import { MEETING_PATTERNS } from './meetings.ts';
import { PAIR_PATTERNS } from './pairs.ts';
import { SOLDIER_PATTERNS } from './soldiers.ts';
import { STAR_PATTERNS } from './stars.ts';
import { TRIPLE_PATTERNS } from './triples.ts';

export type { PatternDefinition, PatternSide } from './definition.ts';

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
