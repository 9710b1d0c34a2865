// The pattern registry: every candlestick pattern of TA-Lib 0.8 under its retail name.
import { CROW_PATTERNS } from './crows.ts';
import { DOJI_PATTERNS } from './doji.ts';
import { ENGULFING_PATTERNS } from './engulfing.ts';
import { FIVE_BAR_PATTERNS } from './fiveBar.ts';
import { HAMMER_PATTERNS } from './hammers.ts';
import { HIKKAKE_PATTERNS } from './hikkake.ts';
import { ONE_BAR_PATTERNS } from './oneBar.ts';
import { definePattern, type PatternDefinition } from './patternDefinition.ts';
import { SOLDIER_PATTERNS } from './soldiers.ts';
import { STAR_PATTERNS } from './stars.ts';
import { THREE_BAR_PATTERNS } from './threeBar.ts';
import { TWO_BAR_PATTERNS } from './twoBar.ts';

export type { PatternDefinition } from './patternDefinition.ts';

export const PATTERNS: readonly PatternDefinition[] = [
  ...DOJI_PATTERNS,
  ...ONE_BAR_PATTERNS,
  ...HAMMER_PATTERNS,
  ...ENGULFING_PATTERNS,
  ...TWO_BAR_PATTERNS,
  ...STAR_PATTERNS,
  ...CROW_PATTERNS,
  ...SOLDIER_PATTERNS,
  ...THREE_BAR_PATTERNS,
  ...FIVE_BAR_PATTERNS,
  ...HIKKAKE_PATTERNS,
].map(definePattern);

const byName = new Map<string, PatternDefinition>(
  PATTERNS.flatMap((pattern) =>
    [pattern.id, ...pattern.aliases, pattern.talib].map((name) => [name.toLowerCase(), pattern] as const),
  ),
);

/** Finds a pattern by id, alias or TA-Lib's function name (`CDLDOJI`), in upper or lower case. */
export const findPattern = (name: string): PatternDefinition | undefined => byName.get(name.toLowerCase());
