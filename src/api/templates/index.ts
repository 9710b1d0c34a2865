// Templates: the built-in strategies, in the order of their keys.
import bollingerMeanReversion from './bollingerMeanReversion.ts';
import donchianTurtle from './donchianTurtle.ts';
import goldenCross from './goldenCross.ts';
import macdTrend from './macdTrend.ts';
import rsi2MeanReversion from './rsi2MeanReversion.ts';
import type { Template } from './template.ts';

export { TEMPLATE_CATEGORIES } from './template.ts';

export const TEMPLATES: readonly Template[] = [
  bollingerMeanReversion,
  donchianTurtle,
  goldenCross,
  macdTrend,
  rsi2MeanReversion,
];

const byKey = new Map(TEMPLATES.map((template) => [template.key, template]));
export const findTemplate = (key: string): Template | undefined => byKey.get(key);
