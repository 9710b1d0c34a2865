// Constraints that the schemas cannot state, for capabilities: conditional requirements, formats, one of several.
import { WITHIN_BARS } from '../../definitions/expressionMembers.ts';
import { DISTANCE_LEVELS, STOP_LEVELS, TRIGGER_LEVELS } from '../../definitions/levels/levelModes.ts';
import { SIZING_MODES } from '../../definitions/sizing/sizingModes.ts';

/** What the schema of a member does not say about it, by the member's name. */
export const MEMBER_NOTES: Readonly<
  Record<
    string,
    {
      readonly description?: string;
      readonly format?: string;
      readonly examples?: readonly string[];
      readonly atMostField?: string;
    }
  >
> = {
  timezone: { format: 'iana-time-zone', examples: ['UTC', 'America/New_York', 'Europe/London', 'Asia/Tokyo'] },
  within: { description: WITHIN_BARS },
  on: {
    description:
      '"first" (the default), "last" or k: the k-th trading day of the period, holidays counted; below 0 from its end.',
  },
  minBars: { atMostField: 'maxBars' },
};

const PERCENT_STOPS = STOP_LEVELS.filter(({ unit }) => unit === 'percentPoints').map(({ mode }) => mode);

/** What the sections, and a kind of node, require beyond the schemas of their members. */
export const MEMBER_CONSTRAINTS = [
  { path: 'nodes[kind=schedule]', exactlyOneOf: ['every', 'everyBars'] },
  { path: 'strategy', exactlyOneOf: ['entry', 'allocation'] },
  { path: 'strategy.risk.takeProfits[]', exactlyOneOf: TRIGGER_LEVELS.map(({ trigger }) => trigger.member) },
  { path: 'strategy.risk.trailingStop', exactlyOneOf: DISTANCE_LEVELS.map(({ distance }) => distance.member) },
  ...TRIGGER_LEVELS.filter(({ needsStop }) => needsStop).map(({ trigger }) => ({
    path: `strategy.risk.takeProfits[].${trigger.member}`,
    needs: 'strategy.risk.stopLoss',
  })),
  {
    path: 'strategy.entry.action.sizing',
    when: { mode: SIZING_MODES.filter(({ readsStop }) => readsStop).map(({ mode }) => mode) },
    needs: 'strategy.risk.stopLoss',
  },
  { path: 'strategy.risk.takeProfits[].closePercent', when: { closeBasis: ['initial'] }, sumAtMost: 100 },
  { path: 'strategy.risk.stopLoss.value', when: { mode: PERCENT_STOPS }, below: 100 },
] as const;
