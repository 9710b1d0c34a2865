// The strategy trace: diagnosis, funnel, near misses and samples, small enough for an agent's context.
import { countBits, hasBit, nextBit, popcount } from '../kernels/bits.ts';
import type { EvaluatedPlan } from '../evaluate/evaluatePlan.ts';
import { TRADE, TRADE_WIDTH } from '../simulate/tradeLog.ts';
import type { ConditionNode, NamedNode } from '../plan/plan.ts';
import { diagnose, type Diagnosis, type DiagnosisFacts } from './diagnosis.ts';
import type { Funnel } from './funnel.ts';
import type { ReportInput } from './reportInput.ts';
import { conjunctsOf, SAMPLED_ROWS, type RuleBits, type RuleStatsSummary, type Window } from './ruleStatistics.ts';

/** A bar on which a single condition kept an entry from being true, and how far it was from passing. */
export interface NearMiss {
  readonly rule: string;
  readonly nodeId: string;
  /** The place of the condition in the payload as sent. */
  readonly path: string;
  readonly text: string;
  readonly bar: number;
  readonly time: number;
  readonly left: number | null;
  readonly right: number | null;
  /** |left - right|; null for conditions without two sides. */
  readonly distance: number | null;
}

/** One bar with the value of every named node, and of what conditions compare, by its text. */
export interface Sample {
  readonly kind: 'first_trigger' | 'entry' | 'exit' | 'near_miss' | 'last_bar';
  readonly bar: number;
  readonly time: number;
  readonly values: Readonly<Record<string, number | boolean | null>>;
}

export interface StrategyTrace {
  readonly diagnosis: readonly Diagnosis[];
  readonly funnel: Funnel;
  readonly nearMisses: readonly NearMiss[];
  readonly samples: readonly Sample[];
  readonly truncated: boolean;
}

const MAX_NEAR_MISSES = 10;
const MAX_SAMPLES = 24;
/** Trades whose entry and exit are samples. */
const SAMPLED_TRADES = 8;
/** The limit on the JSON of trace and rule statistics together. */
const MAX_TRACE_BYTES = 32 * 1024;

export function traceOf(facts: DiagnosisFacts): StrategyTrace {
  const nearMisses = nearMissesOf(facts.report, facts.bits, facts.blockers);
  return {
    diagnosis: diagnose(facts),
    funnel: facts.funnel,
    nearMisses,
    samples: samplesOf(facts.report, facts.bits, nearMisses),
    truncated: false,
  };
}

/** The nearest of at most SAMPLED_ROWS sole-blocker bars. */
function nearMissesOf(
  report: ReportInput,
  bits: readonly RuleBits[],
  blockers: ReadonlyMap<RuleBits, Uint32Array>,
): NearMiss[] {
  const window: Window = report.input;
  NEAREST.count = 0;
  const nodes: { readonly rule: string; readonly node: ConditionNode }[] = [];
  for (const [index, entry] of report.boundRules.entries.entries()) {
    for (const rule of conjunctsOf(bits, 'entry', index)) {
      const rows = rowsOf(blockers.get(rule)!, window);
      readSide(report.evaluated, rule.node.left, rows, LEFT_VALUES);
      readSide(report.evaluated, rule.node.right, rows, RIGHT_VALUES);
      writeCloseness(rows.length);
      keepNearest(rows, nodes.push({ rule: entry.id, node: rule.node }) - 1);
    }
  }
  const misses: NearMiss[] = [];
  for (let at = 0; at < NEAREST.count; at++) {
    const { rule, node } = nodes[NEAREST.nodes[at]];
    const row = NEAREST.rows[at];
    const left = NEAREST.left[at];
    const right = NEAREST.right[at];
    const distance = Math.abs(left - right);
    misses.push({
      rule,
      nodeId: node.nodeId,
      path: node.path,
      text: node.text,
      bar: row - report.firstRow,
      time: report.input.bars.time[row],
      left: left === left ? left : null,
      right: right === right ? right : null,
      distance: distance === distance ? distance : null,
    });
  }
  return misses;
}

/** The values of each side; NaN where it is missing. */
const LEFT_VALUES = new Float64Array(SAMPLED_ROWS);
const RIGHT_VALUES = new Float64Array(SAMPLED_ROWS);

/** How far apart both values are, as a share of the larger; Infinity where one is missing. */
const CLOSENESS = new Float64Array(SAMPLED_ROWS);

function writeCloseness(count: number): void {
  for (let at = 0; at < count; at++) {
    const left = LEFT_VALUES[at];
    const right = RIGHT_VALUES[at];
    const a = Math.abs(left);
    const b = Math.abs(right);
    const larger = a > b ? a : b;
    const ratio = Math.abs(left - right) / (larger > 1e-12 ? larger : 1e-12);
    CLOSENESS[at] = ratio === ratio ? ratio : Infinity;
  }
}

function readSide(evaluated: EvaluatedPlan, slot: number | null, rows: Int32Array, out: Float64Array): void {
  if (slot === null) out.fill(NaN, 0, rows.length);
  else evaluated.readRows(slot, rows, out);
}

/**
 * The MAX_NEAR_MISSES closest so far, closest first; ties keep the earlier one. Numbers, because most of what comes
 * close is soon replaced.
 */
const NEAREST = {
  count: 0,
  closeness: new Float64Array(MAX_NEAR_MISSES),
  rows: new Int32Array(MAX_NEAR_MISSES),
  left: new Float64Array(MAX_NEAR_MISSES),
  right: new Float64Array(MAX_NEAR_MISSES),
  /** The index of the condition. */
  nodes: new Int32Array(MAX_NEAR_MISSES),
};

/** Adds the rows whose values and CLOSENESS have been written. */
function keepNearest(candidates: Int32Array, node: number): void {
  const { closeness, rows, left, right, nodes } = NEAREST;
  for (let candidate = 0; candidate < candidates.length; candidate++) {
    const near = CLOSENESS[candidate];
    if (NEAREST.count === MAX_NEAR_MISSES) {
      if (near >= closeness[MAX_NEAR_MISSES - 1]) continue;
    } else NEAREST.count++;
    let at = NEAREST.count - 1;
    for (; at > 0 && closeness[at - 1] > near; at--) {
      closeness[at] = closeness[at - 1];
      rows[at] = rows[at - 1];
      left[at] = left[at - 1];
      right[at] = right[at - 1];
      nodes[at] = nodes[at - 1];
    }
    closeness[at] = near;
    rows[at] = candidates[candidate];
    left[at] = LEFT_VALUES[candidate];
    right[at] = RIGHT_VALUES[candidate];
    nodes[at] = node;
  }
}

/** Rows of the 1 bits in the window, thinned evenly to SAMPLED_ROWS; words without 1 bits are skipped whole. */
function rowsOf(words: Uint32Array, { start, end }: Window): Int32Array {
  const total = countBits(words, start, end);
  const every = Math.max(1, Math.ceil(total / SAMPLED_ROWS));
  const rows = new Int32Array(Math.ceil(total / every));
  let count = 0;
  let skip = 0;
  for (let w = start >>> 5; w < words.length && w * 32 < end; w++) {
    let word = words[w];
    if (w * 32 < start) word &= -1 << (start & 31);
    if (end - w * 32 < 32) word &= (1 << (end & 31)) - 1;
    if (word === 0) continue;
    const found = every === 1 ? 32 : popcount(word);
    if (skip >= found) {
      skip -= found;
      continue;
    }
    for (; word !== 0; word &= word - 1) {
      if (skip > 0) {
        skip--;
        continue;
      }
      rows[count++] = w * 32 + 31 - Math.clz32(word & -word);
      skip = every - 1;
    }
  }
  return rows;
}

const ONE_ROW = new Int32Array(1);
const ONE_VALUE = new Float64Array(1);

function valueAt(evaluated: EvaluatedPlan, slot: number, row: number): number | null {
  ONE_ROW[0] = row;
  evaluated.readRows(slot, ONE_ROW, ONE_VALUE);
  const [value] = ONE_VALUE;
  return value === value ? value : null;
}

function samplesOf(report: ReportInput, bits: readonly RuleBits[], nearMisses: readonly NearMiss[]): Sample[] {
  const { input, simulation, firstRow, evaluated } = report;
  if (input.end <= input.start) return [];
  const trigger = bits.find(({ node }) => node.role === 'trigger' && node.parent === null);
  const rows: { kind: Sample['kind']; row: number }[] = [];
  const firstTrigger = trigger ? nextBit(trigger.isTrue, input.start, input.end) : input.end;
  if (firstTrigger < input.end) rows.push({ kind: 'first_trigger', row: firstTrigger });
  // The bar that explains a fill is the one on which it was decided, not the one in which it filled.
  const { numbers, length } = simulation.tradeLog;
  for (let at = 0; at < Math.min(length, SAMPLED_TRADES) * TRADE_WIDTH; at += TRADE_WIDTH) {
    rows.push({ kind: 'entry', row: numbers[at + TRADE.entryDecisionRow] });
    rows.push({ kind: 'exit', row: numbers[at + TRADE.exitDecisionRow] });
  }
  for (const miss of nearMisses.slice(0, 4)) rows.push({ kind: 'near_miss', row: miss.bar + firstRow });
  const kept = rows.slice(0, MAX_SAMPLES - 1);
  kept.push({ kind: 'last_bar', row: input.end - 1 });
  return kept.map(({ kind, row }) => ({
    kind,
    bar: row - firstRow,
    time: input.bars.time[row],
    values: valuesAt(evaluated, row, evaluated.plan.compared, evaluated.plan.named),
  }));
}

/** The value of each node on one bar; null where missing or unknown. Of two with one id, the later. */
export function valuesAt(
  evaluated: EvaluatedPlan,
  row: number,
  ...lists: readonly (readonly NamedNode[])[]
): Record<string, number | boolean | null> {
  const values: Record<string, number | boolean | null> = {};
  for (const nodes of lists) addValues(values, evaluated, row, nodes);
  return values;
}

function addValues(
  values: Record<string, number | boolean | null>,
  evaluated: EvaluatedPlan,
  row: number,
  nodes: readonly NamedNode[],
): void {
  for (const { nodeId, type, slot } of nodes) {
    let value: number | boolean | null;
    if (type === 'value') value = valueAt(evaluated, slot, row);
    else {
      const { isTrue, isUnknown } = evaluated.condition(slot);
      value = hasBit(isUnknown, row) ? null : hasBit(isTrue, row);
    }
    // An author may name a node __proto__.
    if (nodeId === '__proto__')
      Object.defineProperty(values, nodeId, { value, enumerable: true, configurable: true, writable: true });
    else values[nodeId] = value;
  }
}

interface FittedTrace {
  readonly strategyTrace: StrategyTrace;
  readonly ruleStatsSummary: RuleStatsSummary;
  /** Both as JSON.stringify writes them. */
  readonly traceJson: string;
  readonly rulesJson: string;
}

/** Cuts both to MAX_TRACE_BYTES: first samples, then near misses, then rule statistics from the end. */
export function fitTrace(trace: StrategyTrace, rules: RuleStatsSummary): FittedTrace {
  let strategyTrace = trace;
  let ruleStatsSummary = rules;
  let traceJson = JSON.stringify(strategyTrace);
  let rulesJson = JSON.stringify(ruleStatsSummary);
  while (Buffer.byteLength(traceJson) + Buffer.byteLength(rulesJson) > MAX_TRACE_BYTES) {
    let isLast = false;
    if (strategyTrace.samples.length > 0) {
      strategyTrace = {
        ...strategyTrace,
        samples: strategyTrace.samples.slice(0, strategyTrace.samples.length >> 1),
        truncated: true,
      };
    } else if (strategyTrace.nearMisses.length > 0) {
      strategyTrace = {
        ...strategyTrace,
        nearMisses: strategyTrace.nearMisses.slice(0, strategyTrace.nearMisses.length >> 1),
        truncated: true,
      };
    } else if (ruleStatsSummary.rules.length > 0) {
      const rules = ruleStatsSummary.rules.slice(0, Math.floor(ruleStatsSummary.rules.length * 0.75));
      const alwaysFalse = ruleStatsSummary.alwaysFalse.slice(0, 32);
      const alwaysTrue = ruleStatsSummary.alwaysTrue.slice(0, 32);
      ruleStatsSummary = { ...ruleStatsSummary, rules, alwaysFalse, alwaysTrue, truncated: true };
    } else {
      const { entries, afterFilter } = strategyTrace.funnel;
      const funnel = {
        ...strategyTrace.funnel,
        entries: entries.slice(0, entries.length >> 1),
        afterFilter: afterFilter.slice(0, afterFilter.length >> 1),
      };
      strategyTrace = { ...strategyTrace, funnel, diagnosis: strategyTrace.diagnosis.slice(0, 16), truncated: true };
      isLast = entries.length <= 1 && afterFilter.length <= 1;
    }
    traceJson = JSON.stringify(strategyTrace);
    rulesJson = JSON.stringify(ruleStatsSummary);
    if (isLast) break;
  }
  return { strategyTrace, ruleStatsSummary, traceJson, rulesJson };
}
