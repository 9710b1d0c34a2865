// The diagnosis: why a strategy did what it did, the most useful reason first.
import { conditionKind } from '../definitions/expressions/expressionRegistry.ts';
import { EXIT_REASONS, exitReasonOf } from '../definitions/exitReasons/exitReasons.ts';
import type { BlockValues } from '../definitions/statistics/statistics.ts';
import { benchmarkName, BUY_AND_HOLD } from './buyAndHold.ts';
import type { ReportInput } from './reportInput.ts';
import { error, info, percent, warning, type Diagnosis, type DiagnosedNode } from './diagnosisFindings.ts';
import type { Funnel } from './funnel.ts';
import { dataFindings, drillingFindings, type DataFinding } from './dataFindings.ts';
import { mostRejected, rejectionAdvice } from './conditionAdvice.ts';
import { conjunctsOf, neverTogether, type ConditionBits, type NeverTogether, type Window } from './conditionBits.ts';
import { conditionAdvice, MISSING_ADVICE, movements, text } from './conditionAdvice.ts';
import type { ConditionStats } from './conditionStatistics.ts';
import { fewHoldings } from './portfolio/allocationFindings.ts';
import { policyInForce } from '../config.ts';
import type { Band } from '../simulate/band.ts';

/** Rejections are reported from this share of all entry orders on. */
const MANY_REJECTIONS = 0.1;
/** Fewer positions than this say little about a strategy (the usual rule of thumb for a mean). */
export const FEW_POSITIONS = 30;

/** What trading cost in a run (semantics §5.3); a rebate and funding that was received are negative. */
interface Costs {
  readonly totalFees: number;
  readonly slippageCost: number;
  readonly fundingPaid: number;
}

export interface DiagnosisInput {
  readonly report: ReportInput;
  /** In runs of several instruments those of the first, whose nodes are the nodes of all. */
  readonly bits: readonly ConditionBits[];
  readonly stats: readonly ConditionStats[];
  readonly funnel: Funnel;
  readonly positions: BlockValues<'positions'>;
  readonly netProfit: number;
  readonly bestPnl: number;
  readonly costs: Costs;
  readonly returnPct: number;
  /** null without bars. */
  readonly buyHoldReturnPct: number | null;
  /** null in runs of one instrument. */
  readonly turnoverPerYear: number | null;
  readonly searches: Searches;
  /** Findings about several instruments. */
  readonly ofPortfolio: readonly Diagnosis[];
}

/** What is looked for only where it may explain the result. */
export interface Searches {
  readonly missingData: () => DataFinding[];
  readonly drilling: () => DataFinding[];
  readonly neverTogether: NeverTogether;
}

/** The searches of a run of one instrument. */
export const searchesOf = (report: ReportInput, bits: readonly ConditionBits[], window: Window): Searches => ({
  missingData: () => dataFindings(report, bits),
  drilling: () => drillingFindings(report),
  neverTogether: (conjuncts) => neverTogether(conjuncts, window),
});

/** What stands out in a run, the most useful finding first; a single `OK` when nothing does. */
export function diagnose(input: DiagnosisInput): Diagnosis[] {
  const reasons = input.funnel.entriesFilled === 0 ? withoutTrades(input) : withTrades(input);
  if (reasons.length > 0) return reasons;
  return [info('OK', null, 'Nothing stands out.', 'Read the statistics and the trades.')];
}

/** Why nothing was traded. */
function withoutTrades(input: DiagnosisInput): Diagnosis[] {
  const { report, funnel } = input;
  const window = report.input.end - report.input.start;
  if (window <= 0) {
    const { bars } = report.warmup;
    const message = `All ${funnel.barsTotal} bars were warm-up: ${bars} bars are needed before the first signal.`;
    return [
      error('ALL_WARMUP', null, message, 'Use a longer range, shorter periods, or a smaller settings.warmupPeriod.'),
    ];
  }
  const data = input.searches.missingData();
  const found = data.map((each) => error(each.code, nodeOf(each), each.message, each.suggestion));
  // An allocation has no entries.
  if (report.boundRules.entries.length === 0) return [...found, ...input.ofPortfolio];
  if (funnel.entrySignals > 0) return [...found, ...notFilled(input), ...input.ofPortfolio];
  const explained = new Set(data.flatMap(({ conditions }) => conditions));
  return [
    ...found,
    ...report.boundRules.entries.flatMap((entry, index) => neverSignaled(input, entry.id, index, explained)),
  ];
}

const nodeOf = ({ conditions: [first] }: DataFinding): DiagnosedNode => first?.node ?? null;

/** Why signals came but no order was filled. */
function notFilled({ funnel, report }: DiagnosisInput): Diagnosis[] {
  const most = mostRejected(funnel);
  if (most) {
    const { reason, count } = most;
    const message =
      `${funnel.entrySignals} entry signals, but ${count} orders were rejected with ${reason} and none was ` +
      'filled.';
    return [error('REJECTED_BALANCE', null, message, rejectionAdvice(reason, report))];
  }
  const { entrySignals, ordersExpired, ordersReplaced } = funnel;
  const signals = entrySignals === 1 ? '1 entry signal' : `${entrySignals} entry signals`;
  const unfilled = `${signals}, but no order was filled`;
  if (report.boundRules.entries.every(({ order }) => order.type === 'market')) {
    // A market order fills at the next open. Only that of the last close has none.
    const message = `${unfilled}: a market order fills at the next open, and the range ends before it.`;
    return [error('ORDERS_NEVER_FILLED', null, message, 'Use a range that ends later.')];
  }
  const expired = ordersExpired > 0 ? `: ${ordersExpired} expired before their price was reached` : '';
  const replaced =
    ordersReplaced > 0 ? `${expired === '' ? ':' : ', and'} ${ordersReplaced} were replaced by a newer signal` : '';
  return [
    error(
      'ORDERS_NEVER_FILLED',
      null,
      `${unfilled}${expired}${replaced}.`,
      'Bring the order price nearer to the market, raise expireBars, or use a market order.',
    ),
  ];
}

/**
 * Which condition to loosen in an entry that never came true.
 * @param explained conditions of which it is known why values were missing
 */
function neverSignaled(
  { bits, stats, funnel, searches }: DiagnosisInput,
  id: string,
  index: number,
  explained: ReadonlySet<ConditionBits>,
): Diagnosis[] {
  const conjuncts = conjunctsOf(bits, 'entry', index);
  const statsOf = (condition: ConditionBits): ConditionStats => stats[bits.indexOf(condition)];
  const dead = conjuncts.filter((condition) => statsOf(condition).trueCount === 0 && statsOf(condition).evaluated > 0);
  if (dead.length > 0) {
    return dead.flatMap((condition) => {
      const stat = statsOf(condition);
      if (stat.unknownCount === stat.evaluated) {
        if (explained.has(condition)) return [];
        const message = `${condition.node.text} was unknown on all ${stat.evaluated} bars: a value in it was missing.`;
        return error('RULE_ALWAYS_FALSE', condition.node, message, MISSING_ADVICE);
      }
      const message = `${condition.node.text} was never true on ${stat.evaluated} bars${movements(stat)}.`;
      return error('RULE_ALWAYS_FALSE', condition.node, message, conditionAdvice(stat));
    });
  }
  const [pair] = searches.neverTogether(conjuncts);
  if (pair) {
    const [a, b] = pair;
    const message =
      `${a.node.text} was true on ${statsOf(a).trueCount} bars and ${b.node.text} on ${statsOf(b).trueCount}, but ` +
      'never both at once.';
    const way = conditionKind(statsOf(b)).laterBy ?? 'put it into a rolling_window with mode "any"';
    const suggestion = `Loosen one of them, or let ${b.node.nodeId} count when it was true some bars before: ${way}.`;
    return [error('NEVER_TOGETHER', a.node, message, suggestion)];
  }
  const entry = funnel.entries[index];
  const blocking = entry.afterFilter.find((filter) => filter.count === 0);
  if (blocking && entry.setupAndTrigger > 0) {
    const message =
      `Setup and trigger of ${id} were true together on ${entry.setupAndTrigger} bars; filter ${blocking.nodeId} let ` +
      'none of them through.';
    return [error('FILTER_BLOCKS_ALL', blocking, message, `Loosen or remove the filter ${blocking.nodeId}.`)];
  }
  const blockers = conjuncts
    .map((condition) => ({ node: condition.node, count: statsOf(condition).soleBlockerCount ?? 0 }))
    .sort((a, b) => b.count - a.count);
  const [first] = blockers;
  const message =
    `The ${conjuncts.length} conditions of ${id} were each true at some time, but never all at once; ` +
    `${first.node.text} alone stood in the way on ${first.count} bars.`;
  return [error('NEVER_TOGETHER', first.node, message, `Loosen ${first.node.nodeId} first.`)];
}

/** What stands out in the trades. */
function withTrades(input: DiagnosisInput): Diagnosis[] {
  const { positions, netProfit, bestPnl, funnel, searches } = input;
  const data = [...searches.drilling(), ...searches.missingData()];
  const found = data.map((each) => warning(each.code, nodeOf(each), each.message, each.suggestion));
  let closedByData = 0;
  let exits = 0;
  for (const reason of EXIT_REASONS) {
    const count = funnel.exits[reason] ?? 0;
    exits += count;
    if (exitReasonOf(reason).endsWithData) closedByData += count;
  }
  if (closedByData === exits) {
    const message = 'No position was ever closed by a rule: every exit is the end of the data.';
    const advice =
      funnel.allocation === undefined
        ? 'Add an exit rule, a stop loss, a take profit or a time stop.'
        : 'Let allocation.when come true more often, select with by and top, or give risk a stop or a time stop.';
    found.push(warning('NEVER_EXITS', null, message, advice));
  }
  const rejections = rejectionWarning(input);
  if (rejections) found.push(rejections);
  const costs = costWarning(input);
  if (costs) found.push(costs);
  for (const each of input.ofPortfolio) found.push(each);
  const sensitivity = ambiguityWarning(input.report);
  if (sensitivity) found.push(sensitivity);
  if (netProfit > 0 && positions.totalPositions > 1 && bestPnl > netProfit) {
    const message = `One position made ${text(bestPnl)}, more than the whole net profit of ${text(netProfit)}.`;
    found.push(
      warning(
        'SINGLE_TRADE_DOMINATES',
        null,
        message,
        'Look at that trade, and test on more data before trusting the result.',
      ),
    );
  }
  // A position that nothing closes leaves no room for others, so the number of positions says nothing.
  if (positions.totalPositions < FEW_POSITIONS && closedByData < exits)
    found.push(tooFewTrades(positions.totalPositions, funnel));
  return [...found, ...againstTheMarket(input)];
}

function tooFewTrades(positions: number, { allocation }: Funnel): Diagnosis {
  if (allocation !== undefined) return fewHoldings(allocation, positions);
  const message = `${positions} positions are too few to tell skill from luck.`;
  return warning('TOO_FEW_TRADES', null, message, 'Use a longer range or a shorter timeframe, or loosen the entry.');
}

function rejectionWarning({ funnel, report }: DiagnosisInput): Diagnosis | undefined {
  const rejected = Object.values(funnel.ordersRejected).reduce((sum, count) => sum + count, 0);
  const orders = rejected + funnel.entriesFilled + funnel.ordersExpired + funnel.ordersReplaced;
  const most = rejected === 0 ? undefined : mostRejected(funnel);
  if (most === undefined || rejected < MANY_REJECTIONS * orders) return undefined;
  const others = most.count === rejected ? '' : `, ${most.count} of them`;
  const message =
    `${rejected} of ${orders} entry orders were rejected${others} with ${most.reason}: the result leaves those ` +
    'trades out.';
  return warning('ORDERS_REJECTED', null, message, rejectionAdvice(most.reason, report));
}

/** Whether costs of any kind turned a gain into a loss. */
function costWarning({ report, netProfit, costs, turnoverPerYear }: DiagnosisInput): Diagnosis | undefined {
  const { totalFees, slippageCost, fundingPaid } = costs;
  const { borrowPaid } = report.simulation.totals;
  const total = totalFees + slippageCost + fundingPaid + borrowPaid;
  const gross = netProfit + total;
  if (!(gross > 0 && netProfit <= 0)) return undefined;
  const parts = [`fees ${text(totalFees)}`, `slippage ${text(slippageCost)}`, `funding ${text(fundingPaid)}`];
  if (borrowPaid > 0) parts.push(`borrowing ${text(borrowPaid)}`);
  const message =
    `Before costs the strategy made ${text(gross)}. Costs took ${text(total)} (${parts.join(', ')}), which leaves ` +
    `${text(netProfit)}.`;
  if (turnoverPerYear !== null) {
    const turned = `${message} The account was turned over ${text(turnoverPerYear)} times a year.`;
    return warning('FEES_EXCEED_EDGE', null, turned, 'Rebalance or trade less often, use a band, or hold longer.');
  }
  const largest = Math.max(totalFees, slippageCost, fundingPaid, borrowPaid);
  const advice =
    largest === totalFees
      ? 'Trade less often, hold longer, or use maker orders.'
      : largest === slippageCost
        ? 'Trade less often, hold longer, or use limit orders, which have no slippage.'
        : 'Hold for a shorter time, or use less leverage.';
  return warning('FEES_EXCEED_EDGE', null, message, advice);
}

/** Whether the run lost money or trailed buy and hold. */
function againstTheMarket({ report, returnPct, buyHoldReturnPct, netProfit }: DiagnosisInput): Diagnosis[] {
  const trails = buyHoldReturnPct !== null && returnPct < buyHoldReturnPct;
  const name = benchmarkName(report.input.config, report.portfolio?.isNamed === true);
  const what = name === BUY_AND_HOLD ? 'buying and holding' : name;
  const held = trails ? `; ${what} returned ${percent(buyHoldReturnPct)}` : '';
  if (netProfit < 0) {
    const advice = 'Compare bySide and byExitReason to see where it loses.';
    return [info('LOST_MONEY', null, `The strategy returned ${percent(returnPct)}${held}.`, advice)];
  }
  if (!trails) return [];
  const message = `The strategy returned ${percent(returnPct)}${held}.`;
  return [info('TRAILS_BUY_HOLD', null, message, 'Compare maxDrawdown and exposurePct before preferring either.')];
}

function ambiguityWarning({ band, input: { config } }: ReportInput): Diagnosis | undefined {
  if (!isSensitive(band)) return undefined;
  const { pessimistic, optimistic } = band;
  const readings =
    `The return is ${percent(pessimistic)} under the pessimistic policy and ${percent(optimistic)} under the ` +
    'optimistic one: bars in which several levels were touched decide the result.';
  const finer = 'Import finer bars for this instrument, or move stops and targets further apart.';
  if (pessimistic <= optimistic) return warning('AMBIGUITY_SENSITIVE', null, readings, finer);
  const reversed = `${readings} For this strategy the pessimistic policy is not the conservative one.`;
  if (policyInForce(config) === 'worst') return warning('AMBIGUITY_SENSITIVE', null, reversed, finer);
  // The fallback is read only under multi_resolution.
  const change =
    config.ambiguityResolution === 'multi_resolution'
      ? 'Set config.ambiguityFallback to "worst"'
      : 'Set config.ambiguityResolution to "multi_resolution" and config.ambiguityFallback to "worst"';
  return warning('AMBIGUITY_SENSITIVE', null, reversed, `${change} for the lower of the two. ${finer}`);
}

/** The two readings differ in sign, or by more than a fifth of the larger. */
function isSensitive({ low, high }: Band): boolean {
  const width = high - low;
  return width > 0 && (low < 0 !== high < 0 || width > 0.2 * Math.max(Math.abs(low), Math.abs(high)));
}
