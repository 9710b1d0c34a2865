// Indicators that TA-Lib 0.8 does not have, or has under another convention; the registry lists them after TA-Lib's.
import type { IndicatorDefinition } from '../definition.ts';

export const EXTRA_INDICATORS: readonly IndicatorDefinition[] = [];
