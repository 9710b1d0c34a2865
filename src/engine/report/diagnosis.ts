// The diagnosis: why a strategy did what it did, the most useful reason first (design §5).
import type { Band, ReportInput } from './result.ts';
import type { Funnel } from './funnel.ts';
import type { PositionStatistics } from './positions.ts';
import { conjunctsOf, neverTogether, type RuleBits, type RuleStats, type Window } from './rules.ts';

export const DIAGNOSIS_CODES = [
  'NO_DATA', 'ALL_WARMUP', 'RULE_ALWAYS_FALSE', 'NEVER_TOGETHER', 'FILTER_BLOCKS_ALL', 'REJECTED_BALANCE', 'ORDERS_NEVER_FILLED', 'NEVER_EXITS',
  'FEES_EXCEED_EDGE', 'TOO_FEW_TRADES', 'AMBIGUITY_SENSITIVE', 'SINGLE_TRADE_DOMINATES', 'OK',
] as const; // prettier-ignore

export interface Diagnosis {
  readonly code: (typeof DIAGNOSIS_CODES)[number];
  readonly severity: 'error' | 'warning' | 'info';
  /** The node to change, null where no single one is meant. */
  readonly nodeId: string | null;
  readonly message: string;
  readonly suggestion: string;
}

/** Fewer positions than this say little of a rule (the usual rule of thumb for a mean). */
const FEW_POSITIONS = 30;

export interface DiagnosisFacts {
  readonly report: ReportInput;
  readonly bits: readonly RuleBits[];
  /** Of every conjunct, see `soleBlockers`. */
  readonly blockers: ReadonlyMap<RuleBits, Uint32Array>;
  readonly stats: readonly RuleStats[];
  readonly funnel: Funnel;
  readonly positions: PositionStatistics;
  readonly netProfit: number;
  readonly bestPnl: number;
  readonly totalFees: number;
  readonly returnPct: number;
}

export function diagnose(facts: DiagnosisFacts): Diagnosis[] {
  const reasons = facts.funnel.entriesFilled === 0 ? noTrades(facts) : traded(facts);
  if (reasons.length > 0) return reasons;
  return [
    {
      code: 'OK',
      severity: 'info',
      nodeId: null,
      message: 'Nothing stands out.',
      suggestion: 'Read the statistics and the trades.',
    },
  ];
}

function noTrades(facts: DiagnosisFacts): Diagnosis[] {
  const { report, funnel } = facts;
  const window = report.input.end - report.input.start;
  if (funnel.barsTotal === 0) {
    return [
      error(
        'NO_DATA',
        null,
        'There are no bars in the range.',
        'Choose a range inside the data that GET /public/v1/market-data lists.',
      ),
    ];
  }
  if (window <= 0 || (funnel.barsUnknown >= window * report.program.entries.length && funnel.entrySignals === 0)) {
    const message = `All ${funnel.barsTotal} bars were warm-up: ${report.warmup.bars} bars are needed before the first signal.`;
    return [
      error('ALL_WARMUP', null, message, 'Use a longer range, shorter periods, or a smaller settings.warmupPeriod.'),
    ];
  }
  if (funnel.entrySignals > 0) return notFilled(facts);
  return report.program.entries.flatMap((entry, index) => neverSignalled(facts, entry.id, index));
}

/** Signals came, orders did not fill. */
function notFilled({ funnel }: DiagnosisFacts): Diagnosis[] {
  const rejected = Object.entries(funnel.ordersRejected).filter(([, count]) => count > 0);
  if (rejected.length > 0) {
    const [reason, count] = rejected.sort((a, b) => b[1] - a[1])[0];
    const message = `${funnel.entrySignals} entry signals, but ${count} orders were rejected with ${reason} and none was filled.`;
    return [
      error(
        'REJECTED_BALANCE',
        null,
        message,
        REJECTION_ADVICE[reason] ?? 'Use a smaller size or a larger initialBalance.',
      ),
    ];
  }
  const message = `${funnel.entrySignals} entry signals, but no order was filled: ${funnel.ordersExpired} expired before their price was reached.`;
  return [
    error(
      'ORDERS_NEVER_FILLED',
      null,
      message,
      'Bring the order price nearer to the market, raise expireBars, or use a market order.',
    ),
  ];
}

const REJECTION_ADVICE: Readonly<Record<string, string>> = {
  INSUFFICIENT_BALANCE: 'Use a smaller size, percent_equity sizing, or a larger initialBalance.',
  MIN_NOTIONAL: "Use a larger size: the orders are below the instrument's minNotional.",
  ZERO_QTY: "Use a larger size: the quantity rounds down to zero at the instrument's qtyStep.",
  LEVEL_MISSING: 'The stop or target price was missing at the signal: use a longer warm-up or another level.',
};

/** Which condition to loosen in an entry that never came true. */
function neverSignalled({ bits, stats, funnel, report }: DiagnosisFacts, id: string, index: number): Diagnosis[] {
  const window: Window = report.input;
  const conjuncts = conjunctsOf(bits, 'entry', index);
  const statsOf = (rule: RuleBits): RuleStats => stats[bits.indexOf(rule)];
  const dead = conjuncts.filter((rule) => statsOf(rule).trueCount === 0 && statsOf(rule).evaluated > 0);
  if (dead.length > 0) {
    return dead.map((rule) => {
      const stat = statsOf(rule);
      const range =
        stat.leftStats?.min == null ? '' : ` (${text(stat.leftStats.min)} … ${text(stat.leftStats.max)} on the left)`;
      const message = `${rule.node.text} was never true on ${stat.evaluated} bars${range}.`;
      return error('RULE_ALWAYS_FALSE', rule.node.nodeId, message, thresholdAdvice(stat));
    });
  }
  const [pair] = neverTogether(conjuncts, window);
  if (pair) {
    const [a, b] = pair;
    const message = `${a.node.text} was true on ${statsOf(a).trueCount} bars and ${b.node.text} on ${statsOf(b).trueCount}, but never both at once.`;
    const suggestion = `Loosen one of them, or let ${b.node.nodeId} look back with "within" or as a sequence.`;
    return [error('NEVER_TOGETHER', a.node.nodeId, message, suggestion)];
  }
  const entry = funnel.entries[index];
  const blocking = entry.afterFilter.find((filter) => filter.count === 0);
  if (blocking && entry.setupAndTrigger > 0) {
    const message = `Setup and trigger of ${id} were true together on ${entry.setupAndTrigger} bars; filter ${blocking.nodeId} let none of them through.`;
    return [error('FILTER_BLOCKS_ALL', blocking.nodeId, message, `Loosen or remove the filter ${blocking.nodeId}.`)];
  }
  const blockers = conjuncts
    .map((rule) => ({ rule, count: statsOf(rule).soleBlockerCount ?? 0 }))
    .sort((a, b) => b.count - a.count);
  const [first] = blockers;
  const message = `The ${conjuncts.length} conditions of ${id} were each true at some time, but never all at once; ${first.rule.node.text} alone stood in the way on ${first.count} bars.`;
  return [error('NEVER_TOGETHER', first.rule.node.nodeId, message, `Loosen ${first.rule.node.nodeId} first.`)];
}

function thresholdAdvice(stat: RuleStats): string {
  const { leftStats, rightStats } = stat;
  if (stat.kind !== 'compare' || leftStats?.min == null || rightStats?.min == null)
    return `Loosen ${stat.nodeId} or take it out.`;
  return `The left side moved between ${text(leftStats.min)} and ${text(leftStats.max)}, the right between ${text(rightStats.min)} and ${text(rightStats.max)}: move the threshold into that range.`;
}

const text = (value: number | null): string => (value === null ? '–' : String(Number(value.toPrecision(6))));

function traded(facts: DiagnosisFacts): Diagnosis[] {
  const { positions, netProfit, totalFees, bestPnl, funnel } = facts;
  const found: Diagnosis[] = [];
  const closedByData = funnel.exits.end_of_data ?? 0;
  const exits = Object.values(funnel.exits).reduce((sum, count) => sum + count, 0);
  if (closedByData === exits) {
    const message = 'No position was ever closed by a rule: every exit is the end of the data.';
    found.push(warning('NEVER_EXITS', null, message, 'Add an exit rule, a stop loss, a take profit or a time stop.'));
  }
  const gross = netProfit + totalFees;
  if (gross > 0 && netProfit <= 0) {
    const message = `Before fees the strategy made ${text(gross)}, fees took ${text(totalFees)}.`;
    found.push(warning('FEES_EXCEED_EDGE', null, message, 'Trade less often, hold longer, or use maker orders.'));
  }
  const { band } = facts.report;
  if (isSensitive(band)) {
    const message = `Read pessimistically the return is ${percent(band.low)}, optimistically ${percent(band.high)}: bars in which both levels were touched decide the result.`;
    found.push(
      warning(
        'AMBIGUITY_SENSITIVE',
        null,
        message,
        'Import finer bars for this instrument, or move stops and targets further apart.',
      ),
    );
  }
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
  // A position that nothing closes leaves no room for others: their number says nothing more.
  if (positions.totalPositions < FEW_POSITIONS && closedByData < exits) {
    const message = `${positions.totalPositions} positions are too few to tell skill from luck.`;
    found.push(
      warning('TOO_FEW_TRADES', null, message, 'Use a longer range or a shorter timeframe, or loosen the entry.'),
    );
  }
  return found;
}

/** The two readings differ in sign, or by more than a fifth of the larger. */
function isSensitive({ low, high }: Band): boolean {
  const width = high - low;
  return width > 0 && (low < 0 !== high < 0 || width > 0.2 * Math.max(Math.abs(low), Math.abs(high)));
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(2)} %`;
const error = (code: Diagnosis['code'], nodeId: string | null, message: string, suggestion: string): Diagnosis => ({
  code,
  severity: 'error',
  nodeId,
  message,
  suggestion,
});
const warning = (code: Diagnosis['code'], nodeId: string | null, message: string, suggestion: string): Diagnosis => ({
  code,
  severity: 'warning',
  nodeId,
  message,
  suggestion,
});
