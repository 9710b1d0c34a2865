// The checks of an allocation: rules beside it, members of its legs that do not fit each other, state, and its risk.
import { stateFieldOf } from '../../definitions/expressions/expressionRegistry.ts';
import { findWeightMode } from '../../definitions/weights/weightModes.ts';
import type { Allocation, Expression, StrategyAst } from '../grammar/ast.ts';
import { isExpression } from '../grammar/shapes.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';
import { childrenOf, rootsOf } from '../grammar/visit.ts';
import { shown } from '../issues/displayNames.ts';
import type { IssueLog } from '../issues/issues.ts';
import { nearestSymbol, suggestionFor } from '../issues/nearest.ts';
import { ASK_ONE, readsOwnPrices } from './ownPrices.ts';
import { numberOf, warnOfFraction, type PointerOf, type SectionContext } from './sectionChecks.ts';

/** A leg, and the members that say how many places it has. */
const LEGS = [
  { side: 'long', count: 'top', percent: 'topPercent', extreme: 'largest' },
  { side: 'short', count: 'bottom', percent: 'bottomPercent', extreme: 'smallest' },
] as const;
type LegForm = (typeof LEGS)[number];

/** Rules that stand in the place of an allocation, or that an allocation cannot have. */
const RULES = ['entry', 'exits', 'exit'] as const;

const isGiven = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

/** ALLOCATION_INVALID, MISSING_FIELD and TYPE_MISMATCH: errors of an allocation that its schema cannot state. */
export function checkAllocation(strategy: Members, context: SectionContext): void {
  const { allocation, risk } = strategy;
  if (!isMembers(allocation)) return;
  const { log, pointerOf } = context;
  const rules = RULES.filter((name) => isGiven(strategy[name]));
  if (rules.length > 0) {
    log.add('ALLOCATION_INVALID', pointerOf(strategy, 'allocation'), {
      message: `A strategy has either rules or an allocation, and this one has ${rules.join(' and ')} as well.`,
      suggestion: `Remove the allocation to trade by signals, or remove ${rules.join(' and ')} to rebalance.`,
    });
  }
  if (allocation.long === undefined && allocation.short === undefined) {
    log.add('MISSING_FIELD', pointerOf(allocation, 'long'), {
      message: 'The allocation has no leg, so that it would hold nothing.',
      suggestion: 'Give long: {} to hold every instrument, or long: {"by": …, "top": 3} for the three largest.',
    });
  }
  for (const form of LEGS) {
    const leg = allocation[form.side];
    if (isMembers(leg)) checkLeg(leg, form, context);
  }
  checkWeights(allocation, context);
  if (isMembers(risk)) checkRisk(risk, context);
  checkState(allocation, context.log, pointerOf);
}

function checkLeg(leg: Members, { side, count, percent, extreme }: LegForm, context: SectionContext): void {
  const { log, pointerOf, values } = context;
  const isCounted = leg[count] !== undefined;
  if (isCounted && leg[percent] !== undefined) {
    log.add('ALLOCATION_INVALID', pointerOf(leg, percent), {
      message: `The ${side} leg has both ${count} and ${percent}, and each of them says how many places it has.`,
      suggestion: 'Keep one of the two.',
    });
  }
  const isRanked = isCounted || leg[percent] !== undefined;
  if (isRanked && leg.by === undefined) {
    const member = isCounted ? count : percent;
    log.add('MISSING_FIELD', pointerOf(leg, 'by'), {
      message: `The ${side} leg has ${member}, and nothing to rank the instruments by.`,
      suggestion: `Give by, a value expression: the leg holds the instruments with the ${extreme} values.`,
    });
  }
  if (leg.keepWithin === undefined) return;
  if (!isRanked) {
    log.add('ALLOCATION_INVALID', pointerOf(leg, 'keepWithin'), {
      message:
        `The ${side} leg has keepWithin without ${count} or ${percent}: ` +
        'it holds every eligible instrument as it is.',
      suggestion: `Give ${count} or ${percent}, or remove keepWithin.`,
    });
  }
  const [least, kept] = [numberOf(leg[count], values), numberOf(leg.keepWithin, values)];
  if (kept < least) {
    log.add('ALLOCATION_INVALID', pointerOf(leg, 'keepWithin'), {
      message: `keepWithin is ${kept}, below ${count} ${least}: a holding stays while it ranks within keepWithin.`,
      suggestion: `Use at least ${least}, or remove keepWithin to hold exactly the first ${least}.`,
    });
  }
}

function checkWeights({ weights }: Members, { log, pointerOf }: SectionContext): void {
  if (!isMembers(weights) || !isMembers(weights.values)) return;
  if (Object.keys(weights.values).length > 0) return;
  log.add('ALLOCATION_INVALID', pointerOf(weights, 'values'), {
    message: 'values has no symbol, so that no instrument would be eligible.',
    suggestion: 'Give a percent for each symbol, such as {"SPY": 60, "BND": 40}.',
  });
}

/**
 * Checks an allocation against the instruments of a run: those that it names must be among them.
 * @param instruments the symbols of a portfolio; null: the run has `signalInstrument`, and thus one instrument
 */
export function checkAllocationRun(
  { strategy }: StrategyAst,
  instruments: readonly string[] | null,
  { log, pointerOf }: Omit<SectionContext, 'values'>,
): void {
  const { allocation } = strategy;
  if (allocation === undefined) return;
  if (instruments === null) {
    log.add('ALLOCATION_INVALID', '/config/signalInstrument', {
      message:
        'The strategy has an allocation, which shares an account out among instruments, and the run has only one.',
      suggestion: 'Write "instruments": [{"symbol": …}, …] in place of signalInstrument.',
    });
    return;
  }
  const report = (symbol: string, what: string, path: string, note = ''): void => {
    if (instruments.includes(symbol)) return;
    log.add('ALLOCATION_INVALID', path, () => {
      const nearest = nearestSymbol(symbol, instruments);
      const others = suggestionFor(nearest, instruments);
      const way =
        nearest === undefined
          ? `Add it to config.instruments${note}. Or ${others.charAt(0).toLowerCase()}${others.slice(1)}`
          : `${others} Or add it to config.instruments${note}.`;
      return { message: `${shown(symbol)} ${what}, and is not one of the instruments of the run.`, suggestion: way };
    });
  };
  const { weights, fallback } = allocation;
  if (weights !== undefined && 'values' in weights)
    for (const symbol of Object.keys(weights.values))
      report(symbol, 'has a weight', pointerOf(weights, 'values', symbol));
  if (fallback !== undefined)
    report(fallback, 'is the fallback', pointerOf(allocation, 'fallback'), '; the fallback is not ranked');
}

/**
 * Risk settings that need a fixed entry price and quantity. Each addition changes the average entry price of a holding.
 */
const REFUSED_RISK = ['takeProfits', 'breakeven'] as const;

function checkRisk(risk: Members, { log, pointerOf }: SectionContext): void {
  for (const name of REFUSED_RISK) {
    if (!isGiven(risk[name])) continue;
    log.add('ALLOCATION_INVALID', pointerOf(risk, name), {
      message: `An allocation cannot have risk.${name}: its holdings are reduced and added to at every rebalance.`,
      suggestion: 'Use a stop, a trailing stop or a time stop, which count from the average entry price.',
    });
  }
}

function checkState(allocation: Members, log: IssueLog, pointerOf: PointerOf): void {
  const seen = new Set<Expression>();
  // Malformed parts are left out by `rootsOf`.
  const roots = rootsOf({ entries: [], exits: [], allocation: allocation as unknown as Allocation });
  const stack = roots.map(({ expression }) => expression).reverse();
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (seen.has(node)) continue;
    seen.add(node);
    for (const child of childrenOf(node).reverse()) stack.push(child);
    const field = stateFieldOf(node);
    if (field === undefined) continue;
    log.add('ALLOCATION_INVALID', pointerOf(node, 'field'), {
      message: `An allocation cannot read state, and this reads ${shown(field)}: it ranks instruments by their bars.`,
      suggestion: 'Rank by prices and indicators. keepWithin favors what is held, and bandPercent trades less.',
    });
  }
}

/** The account rebalances or not, and has one gross; both are asked of every instrument. */
function checkOneAnswer({ when, weights }: Members, { log, pointerOf }: SectionContext): void {
  const warn = (asked: unknown, path: string, message: string): void => {
    if (isMembers(asked) && isExpression(asked) && readsOwnPrices(asked))
      log.add('INSTRUMENTS_MAY_DISAGREE', path, { message, suggestion: ASK_ONE });
  };
  const isWhen =
    'when reads the prices of each instrument, and the account rebalances where any of them makes it true.';
  if (isMembers(when)) warn(when, pointerOf(when), isWhen);
  const gross = isMembers(weights) ? weights.grossPercent : undefined;
  const isGross =
    'grossPercent reads the prices of each instrument, and the first known value by symbol counts for all of them.';
  if (isMembers(gross)) warn(gross, pointerOf(gross), isGross);
}

/** Below these a number of percent points was probably written as a fraction: 0.4 for 40 %, 0.05 for 5 %. */
const LEAST_PERCENT = { share: 1, band: 0.1 } as const;

/** FRACTION_FOR_PERCENT and INSTRUMENTS_MAY_DISAGREE. */
export function checkAllocationWarnings({ allocation }: Members, context: SectionContext): void {
  if (!isMembers(allocation)) return;
  const { weights } = allocation;
  checkOneAnswer(allocation, context);
  warnOfFraction(allocation, 'bandPercent', LEAST_PERCENT.band, context);
  for (const { side, percent } of LEGS) {
    const leg = allocation[side];
    if (isMembers(leg)) warnOfFraction(leg, percent, LEAST_PERCENT.share, context);
  }
  if (!isMembers(weights)) return;
  for (const member of ['maxPercent', 'grossPercent']) warnOfFraction(weights, member, LEAST_PERCENT.share, context);
  if (findWeightMode(weights.mode)?.reads !== 'values' || !isMembers(weights.values)) return;
  for (const symbol of Object.keys(weights.values))
    warnOfFraction(weights.values, symbol, LEAST_PERCENT.share, context);
}
