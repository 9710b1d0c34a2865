// Rules about the sections as a whole: sizing that needs a stop, ladders that close too much, exits that are not there.
import type { Timeframe } from '../columns/bars.ts';
import { isParamRef, type ParamValues } from './canonical.ts';
import type { IssueLog } from './issues.ts';
import { isMembers } from './wording.ts';

type Members = Readonly<Record<string, unknown>>;
/** The place of a member of an object of the payload, as a pointer from the request body. */
export type PointerOf = (owner: object, ...member: readonly (string | number)[]) => string;

/** The sections of a strategy as far as they have their form; what has faults is left out. */
export interface Sections {
  readonly entries: readonly Members[];
  readonly exits: readonly Members[];
  readonly risk: Members | undefined;
}

export interface RuleContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  /** What parameters stand for. */
  readonly values: ParamValues;
}

const TARGET_TRIGGERS = ['triggerPercent', 'triggerR', 'triggerAtr', 'triggerPrice'] as const;
const TRAIL_DISTANCES = ['distancePercent', 'distanceAtr'] as const;
/** Ladders written as thirds add up to 99.99… or 100.00…: this much over is not a fault. */
const CLOSE_TOLERANCE = 1e-9;

/** The sections of a payload, faulty or not. */
export function sectionsOf(strategy: unknown): Sections {
  if (!isMembers(strategy)) return { entries: [], exits: [], risk: undefined };
  const listed = (value: unknown): Members[] => (Array.isArray(value) ? value : [value]).filter(isMembers);
  return {
    entries: listed(strategy.entry),
    exits: [...(Array.isArray(strategy.exits) ? listed(strategy.exits) : []), ...listed(strategy.exit)],
    risk: isMembers(strategy.risk) ? strategy.risk : undefined,
  };
}

/** SIZING_NEEDS_STOP, RISK_INVALID and TP_CLOSE_OVER_100: blocking faults that only the sections together have. */
export function checkRules({ entries, risk }: Sections, context: RuleContext): void {
  const { log, pointerOf } = context;
  for (const entry of entries) {
    const sizing = sizingOf(entry);
    if (sizing?.mode === 'risk_percent' && risk?.stopLoss === undefined) {
      log.add('SIZING_NEEDS_STOP', pointerOf(sizing, 'mode'), {
        message: 'risk_percent sizes by the distance to the stop, and the strategy has no risk.stopLoss',
        suggestion: 'add strategy.risk.stopLoss, or size by percent_equity',
      });
    }
  }
  if (risk === undefined) return;
  checkStop(risk, entries, context);
  checkTargets(risk, context);
  const { trailingStop } = risk;
  if (isMembers(trailingStop) && TRAIL_DISTANCES.filter((name) => trailingStop[name] !== undefined).length !== 1) {
    log.add('RISK_INVALID', pointerOf(trailingStop), {
      message: 'a trailing stop has exactly one distance',
      suggestion: `give one of ${TRAIL_DISTANCES.join(', ')}`,
    });
  }
}

function checkStop(risk: Members, entries: readonly Members[], { log, pointerOf, values }: RuleContext): void {
  const { stopLoss } = risk;
  const hasLong = entries.some((entry) => isMembers(entry.action) && entry.action.side === 'long');
  if (isMembers(stopLoss) && stopLoss.mode === 'percent' && hasLong && !(numberOf(stopLoss.value, values) < 100)) {
    if (Number.isNaN(numberOf(stopLoss.value, values))) return;
    log.add('RISK_INVALID', pointerOf(stopLoss, 'value'), {
      message: 'a stop 100 % or more below a long entry is at or below zero',
      suggestion: 'percents are points: 2 means 2 %',
    });
  }
}

function checkTargets(risk: Members, { log, pointerOf, values }: RuleContext): void {
  const targets = Array.isArray(risk.takeProfits) ? risk.takeProfits.filter(isMembers) : [];
  let closed = 0;
  for (const target of targets) {
    const given = TARGET_TRIGGERS.filter((name) => target[name] !== undefined);
    if (given.length !== 1) {
      log.add('RISK_INVALID', pointerOf(target), {
        message: `a take-profit has exactly one trigger, this one has ${given.length === 0 ? 'none' : given.join(' and ')}`,
        suggestion: `give one of ${TARGET_TRIGGERS.join(', ')}`,
      });
    }
    if (target.triggerR !== undefined && risk.stopLoss === undefined) {
      log.add('RISK_INVALID', pointerOf(target, 'triggerR'), {
        message: 'triggerR counts in distances to the stop, and there is no stopLoss',
        suggestion: 'add risk.stopLoss, or use triggerPercent',
      });
    }
    const share = numberOf(target.closePercent, values);
    if ((target.closeBasis ?? 'initial') === 'initial' && share > 0) closed += share;
  }
  if (closed > 100 + CLOSE_TOLERANCE) {
    log.add('TP_CLOSE_OVER_100', pointerOf(risk, 'takeProfits'), {
      message: `the take-profits close ${closed} % of the initial position`,
      suggestion: 'lower closePercent to 100 in all, or use closeBasis "remaining"',
    });
  }
}

/** Below these, a stop lies inside what one bar usually moves: about a fifth of the median range of liquid markets at that timeframe. */
const NOISE_PERCENT: Readonly<Record<Timeframe, number>> = { '15m': 0.05, '1h': 0.1, '4h': 0.2, '1d': 0.4 };
const NOISE_ATR = 0.5;

/** NO_EXIT_RULE and STOP_TIGHTER_THAN_NOISE. */
export function checkRuleWarnings(
  sections: Sections,
  timeframe: Timeframe,
  strategy: object,
  { log, pointerOf, values }: RuleContext,
): void {
  const { entries, exits, risk } = sections;
  const sides = new Set(entries.map((entry) => (isMembers(entry.action) ? entry.action.side : undefined)));
  const closes = sides.size > 1 && entries.some(({ conflict }) => conflict === 'close' || conflict === 'reverse');
  const protects = (['stopLoss', 'takeProfits', 'trailingStop', 'breakeven', 'timeStop'] as const).some((name) => {
    const rule = risk?.[name];
    return rule !== undefined && !(Array.isArray(rule) && rule.length === 0);
  });
  if (entries.length > 0 && exits.length === 0 && !protects && !closes) {
    log.add('NO_EXIT_RULE', pointerOf(strategy, 'exits'), {
      message: 'nothing closes a position before the end of the data',
      suggestion: 'add strategy.exits, or a stop and a target in strategy.risk',
    });
  }
  const tight = (owner: Members, member: string, least: number, what: string): void => {
    const value = numberOf(owner[member], values);
    if (value > 0 && value < least) {
      log.add('STOP_TIGHTER_THAN_NOISE', pointerOf(owner, member), {
        message: `${value} ${what} is less than one ${timeframe} bar usually moves: most positions stop out at once`,
        suggestion: `use at least ${least}`,
      });
    }
  };
  const { stopLoss, trailingStop } = risk ?? {};
  if (isMembers(stopLoss) && stopLoss.mode === 'percent') tight(stopLoss, 'value', NOISE_PERCENT[timeframe], '%');
  if (isMembers(stopLoss) && stopLoss.mode === 'atr') tight(stopLoss, 'multiplier', NOISE_ATR, 'ATR');
  if (!isMembers(trailingStop)) return;
  tight(trailingStop, 'distancePercent', NOISE_PERCENT[timeframe], '%');
  if (isMembers(trailingStop.distanceAtr)) tight(trailingStop.distanceAtr, 'multiplier', NOISE_ATR, 'ATR');
}

const sizingOf = ({ action }: Members): Members | undefined =>
  isMembers(action) && isMembers(action.sizing) ? action.sizing : undefined;

/** A number or what its parameter stands for; NaN when it is neither. */
function numberOf(value: unknown, values: ParamValues): number {
  const number = isParamRef(value) ? values.get(value.param) : value;
  if (typeof number === 'boolean') return Number(number);
  return typeof number === 'number' ? number : NaN;
}
