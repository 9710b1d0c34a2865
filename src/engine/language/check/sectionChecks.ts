// Section checks: sizing without its stop, take-profits that close too much, a strategy without exits.
import type { Timeframe } from '../../bars/bars.ts';
import type { LevelMode } from '../../definitions/levels/levelMode.ts';
import { DISTANCE_LEVELS, findLevelMode, TRIGGER_LEVELS } from '../../definitions/levels/levelModes.ts';
import { percentLevel } from '../../definitions/levels/percentLevel.ts';
import { findExitSize } from '../../definitions/sizing/exitSizes.ts';
import { percentEquity } from '../../definitions/sizing/percentEquity.ts';
import { percentPosition } from '../../definitions/sizing/percentPosition.ts';
import { findSizingMode } from '../../definitions/sizing/sizingModes.ts';
import { type ParamValues } from '../canonical/canonicalizer.ts';
import { isParamRef } from '../grammar/shapes.ts';
import type { IssueLog } from '../issues/issues.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

/** The place of a member of an object of the payload, as a pointer from the request body. */
export type PointerOf = (owner: object, ...member: readonly (string | number)[]) => string;

/** The sections of a strategy that are objects; anything else is left out. */
interface Sections {
  readonly entries: readonly Members[];
  readonly exits: readonly Members[];
  readonly risk: Members | undefined;
}

export interface SectionContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  /** What parameters stand for. */
  readonly values: ParamValues;
}

const TARGET_TRIGGERS = TRIGGER_LEVELS.map(({ trigger }) => trigger.member);
const TRAIL_DISTANCES = DISTANCE_LEVELS.map(({ distance }) => distance.member);
/** Take-profits written as thirds add up to 99.99… or 100.00…: an excess up to this is allowed. */
const CLOSE_TOLERANCE = 1e-9;

/** The sections of a payload, valid or not. */
export function sectionsOf(strategy: unknown): Sections {
  if (!isMembers(strategy)) return { entries: [], exits: [], risk: undefined };
  const listed = (value: unknown): Members[] => (Array.isArray(value) ? value : [value]).filter(isMembers);
  return {
    entries: listed(strategy.entry),
    exits: [...(Array.isArray(strategy.exits) ? listed(strategy.exits) : []), ...listed(strategy.exit)],
    risk: isMembers(strategy.risk) ? strategy.risk : undefined,
  };
}

/** Reports SIZING_NEEDS_STOP, RISK_INVALID and TP_CLOSE_OVER_100: errors that only show across sections. */
export function checkSections({ entries, risk }: Sections, context: SectionContext): void {
  const { log, pointerOf } = context;
  for (const entry of entries) {
    const sizing = sizingOf(entry);
    const mode = findSizingMode(sizing?.mode);
    if (sizing !== undefined && mode?.readsStop === true && risk?.stopLoss === undefined) {
      log.add('SIZING_NEEDS_STOP', pointerOf(sizing, 'mode'), {
        message: `${mode.mode} sizes by the distance to the stop, and the strategy has no risk.stopLoss.`,
        suggestion: `Add strategy.risk.stopLoss, or use the sizing mode ${percentEquity.mode}.`,
      });
    }
  }
  if (risk === undefined) return;
  checkStop(risk, entries, context);
  checkTargets(risk, context);
  const { trailingStop } = risk;
  if (isMembers(trailingStop) && TRAIL_DISTANCES.filter((name) => trailingStop[name] !== undefined).length !== 1) {
    log.add('RISK_INVALID', pointerOf(trailingStop), {
      message: 'A trailing stop must have exactly one distance.',
      suggestion: `Give one of ${TRAIL_DISTANCES.join(', ')}.`,
    });
  }
}

function checkStop(risk: Members, entries: readonly Members[], { log, pointerOf, values }: SectionContext): void {
  const { stopLoss } = risk;
  const hasLong = entries.some((entry) => isMembers(entry.action) && entry.action.side === 'long');
  if (!hasLong || !isMembers(stopLoss) || findLevelMode(stopLoss.mode)?.unit !== 'percentPoints') return;
  if (numberOf(stopLoss.value, values) >= 100) {
    log.add('RISK_INVALID', pointerOf(stopLoss, 'value'), {
      message: 'A stop that is 100 % or more below a long entry has no positive price.',
      suggestion: 'Use a value below 100. Percents are in points: 2 means 2 %.',
    });
  }
}

function checkTargets(risk: Members, { log, pointerOf, values }: SectionContext): void {
  const targets = Array.isArray(risk.takeProfits) ? risk.takeProfits.filter(isMembers) : [];
  let closed = 0;
  for (const target of targets) {
    const given = TARGET_TRIGGERS.filter((name) => target[name] !== undefined);
    if (given.length !== 1) {
      const triggers = given.length === 0 ? 'none' : given.join(' and ');
      log.add('RISK_INVALID', pointerOf(target), {
        message: `A take-profit must have exactly one trigger; this one has ${triggers}.`,
        suggestion: `Give one of ${TARGET_TRIGGERS.join(', ')}.`,
      });
    }
    for (const { needsStop, trigger } of TRIGGER_LEVELS) {
      const { member } = trigger;
      if (!needsStop || target[member] === undefined || risk.stopLoss !== undefined) continue;
      log.add('RISK_INVALID', pointerOf(target, member), {
        message: `${member} is a multiple of the distance to the stop, and the strategy has no risk.stopLoss.`,
        suggestion: `Add strategy.risk.stopLoss, or use ${percentLevel.trigger.member}.`,
      });
    }
    const share = numberOf(target.closePercent, values);
    // A share above 100 has an issue of its own.
    if ((target.closeBasis ?? 'initial') === 'initial' && share > 0 && share <= 100) closed += share;
  }
  if (closed > 100 + CLOSE_TOLERANCE) {
    log.add('TP_CLOSE_OVER_100', pointerOf(risk, 'takeProfits'), {
      message: `Together, the take-profits close ${closed} % of the initial position.`,
      suggestion: 'Lower closePercent to 100 in total, or use closeBasis "remaining".',
    });
  }
}

/** Below these a number of percent points was probably written as a fraction: 0.95 for 95 %, 0.02 for 2 %. */
const LEAST_PERCENT = { trigger: 0.1, close: 1 } as const;

/** FRACTION_FOR_PERCENT: percents are in points everywhere in a strategy. */
export function warnOfFraction(
  owner: Members,
  member: string,
  least: number,
  { log, pointerOf, values }: SectionContext,
): void {
  const value = numberOf(owner[member], values);
  if (!(value > 0 && value < least)) return;
  const points = Number((100 * value).toPrecision(12));
  log.add('FRACTION_FOR_PERCENT', pointerOf(owner, member), {
    message: `${member} is in percent points: ${value} means ${value} %.`,
    suggestion: `Write ${points} for ${points} %.`,
  });
}

function warnOfFractions({ entries, exits, risk }: Sections, context: SectionContext): void {
  const warn = (owner: Members, member: string, least: number): void => warnOfFraction(owner, member, least, context);
  for (const { action } of entries) {
    const sizing = isMembers(action) ? action.sizing : undefined;
    if (!isMembers(sizing)) continue;
    warn(sizing, 'value', findSizingMode(sizing.mode)?.leastPercent ?? 0);
  }
  for (const { action } of exits) {
    if (isMembers(action)) warn(action, 'value', (findExitSize(action.mode) ?? percentPosition).leastPercent ?? 0);
  }
  for (const step of Array.isArray(risk?.takeProfits) ? (risk.takeProfits as unknown[]) : []) {
    if (!isMembers(step)) continue;
    for (const { unit, trigger } of TRIGGER_LEVELS)
      if (unit === 'percentPoints') warn(step, trigger.member, LEAST_PERCENT.trigger);
    warn(step, 'closePercent', LEAST_PERCENT.close);
  }
  for (const rule of [risk?.trailingStop, risk?.breakeven])
    if (isMembers(rule)) warn(rule, 'activateAfterPercent', LEAST_PERCENT.trigger);
}

/** NO_EXIT_RULE, FRACTION_FOR_PERCENT and STOP_TIGHTER_THAN_NOISE. */
export function checkSectionWarnings(
  sections: Sections,
  timeframe: Timeframe,
  strategy: object,
  context: SectionContext,
): void {
  warnOfFractions(sections, context);
  warnOfNoExit(sections, strategy, context);
  if (sections.risk !== undefined) warnOfTightStops(sections.risk, timeframe, context);
}

/** NO_EXIT_RULE: no exit, no rule of risk and no opposite entry closes a position. */
function warnOfNoExit({ entries, exits, risk }: Sections, strategy: object, { log, pointerOf }: SectionContext): void {
  const sides = new Set(entries.map((entry) => (isMembers(entry.action) ? entry.action.side : undefined)));
  const closes = sides.size > 1 && entries.some(({ conflict }) => conflict === 'close' || conflict === 'reverse');
  const protects = (['stopLoss', 'takeProfits', 'trailingStop', 'breakeven', 'timeStop'] as const).some((name) => {
    const rule = risk?.[name];
    return rule !== undefined && !(Array.isArray(rule) && rule.length === 0);
  });
  if (entries.length > 0 && exits.length === 0 && !protects && !closes) {
    log.add('NO_EXIT_RULE', pointerOf(strategy, 'exits'), {
      message: 'Nothing closes a position before the end of the data.',
      suggestion: 'Add strategy.exits, or a stop and a take-profit in strategy.risk.',
    });
  }
}

/** STOP_TIGHTER_THAN_NOISE. */
function warnOfTightStops(
  { stopLoss, trailingStop }: Members,
  timeframe: Timeframe,
  { log, pointerOf, values }: SectionContext,
): void {
  const warn = ({ noise }: LevelMode, owner: unknown, member: string): void => {
    if (noise === null || !isMembers(owner)) return;
    const least = noise.least(timeframe);
    const value = numberOf(owner[member], values);
    if (!(value > 0 && value < least)) return;
    const { unit, meaning } = noise;
    const points = Number((100 * value).toPrecision(12));
    const fraction =
      unit === '%' && value < 1 ? ` If ${value} was meant as a fraction, write ${points} for ${points} %.` : '';
    log.add('STOP_TIGHTER_THAN_NOISE', pointerOf(owner, member), {
      message:
        `${member} is ${meaning}: ${value} means ${value} ${unit}, less than a ${timeframe} bar usually moves, so ` +
        'that most positions stop out at once.',
      suggestion: `Use at least ${least}.${fraction}`,
    });
  };
  const stop = isMembers(stopLoss) ? findLevelMode(stopLoss.mode) : undefined;
  if (stop !== undefined) warn(stop, stopLoss, stop.form === 'atrs' ? 'multiplier' : 'value');
  if (!isMembers(trailingStop)) return;
  for (const level of DISTANCE_LEVELS) {
    const { member } = level.distance;
    if (level.form === 'number') warn(level, trailingStop, member);
    else warn(level, trailingStop[member], 'multiplier');
  }
}

const sizingOf = ({ action }: Members): Members | undefined =>
  isMembers(action) && isMembers(action.sizing) ? action.sizing : undefined;

/** A number, or the number a parameter stands for; NaN for anything else. */
export function numberOf(value: unknown, values: ParamValues): number {
  const number = isParamRef(value) ? values.get(value.param) : value;
  if (typeof number === 'boolean') return Number(number);
  return typeof number === 'number' ? number : NaN;
}
