// The pattern registry: every candlestick pattern of TA-Lib 0.8 under its retail name.
import type { PatternDefinition } from './definition.ts';
import { DOJI_PATTERNS } from './doji.ts';
import { HAMMER_PATTERNS } from './hammers.ts';
import { PAIR_PATTERNS } from './pairs.ts';
import { STAR_PATTERNS } from './stars.ts';

export type { PatternDefinition, PatternSide } from './definition.ts';

export const PATTERNS: readonly PatternDefinition[] = [
  ...DOJI_PATTERNS,
  ...HAMMER_PATTERNS,
  ...PAIR_PATTERNS,
  ...STAR_PATTERNS,
];

const byName = new Map<string, PatternDefinition>(
  PATTERNS.flatMap((pattern) =>
    [pattern.id, ...pattern.aliases, pattern.talib].map((name) => [name, pattern] as const),
  ),
);

/** The pattern of that id, alias or TA-Lib name (`CDLDOJI`); names are exact. */
export const findPattern = (name: string): PatternDefinition | undefined => byName.get(name);
