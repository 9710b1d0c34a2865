// The block of rule statistics in a summary: what each condition and each entry rule did, and its JSON.
import { newNumbers } from '../kernels/sharedBuffer.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../simulate/tradeLog.ts';
import type { SimulationResult } from '../simulate/simulation.ts';
import { constantJson, type JsonWriter } from './jsonWriter.ts';
import type { Positions } from './positions.ts';
import { PAIRED_LEAVES, conjunctsOf, type ConditionBits, type NeverTogether } from './conditionBits.ts';
import type { ConditionStats, SideStats } from './conditionStatistics.ts';

export interface RuleStatsSummary {
  readonly rules: readonly ConditionStats[];
  readonly pairwiseNeverTogether: readonly { readonly rule: string; readonly nodeIds: readonly [string, string] }[];
  readonly alwaysTrue: readonly string[];
  readonly alwaysFalse: readonly string[];
  readonly tradesByRule: readonly {
    readonly rule: string;
    readonly signals: number;
    readonly fills: number;
    readonly positions: number;
    readonly pnl: number;
  }[];
  readonly truncated: boolean;
}

/** @param stats of each condition, in the order of `bits` @param entryIds in the order of the entry rules */
export function ruleStatsSummary(
  bits: readonly ConditionBits[],
  stats: readonly ConditionStats[],
  entryIds: readonly string[],
  { simulation, positions }: { readonly simulation: SimulationResult; readonly positions: Positions },
  neverTogether: NeverTogether,
): RuleStatsSummary {
  const pairs = entryIds.flatMap((id, index) =>
    neverTogether(conjunctsOf(bits, 'entry', index)).map(([a, b]) => ({
      rule: id,
      nodeIds: [a.node.nodeId, b.node.nodeId] as [string, string],
    })),
  );
  const known = stats.filter((condition) => condition.evaluated > 0);
  const pnls = pnlByRule(simulation.tradeLog, entryIds.length);
  const counts = entryIds.map(() => 0);
  for (let index = 0; index < positions.count; index++) counts[positions.entryRule[index]]++;
  const tradesByRule = entryIds.map((rule, index) => ({
    rule,
    signals: simulation.counts.signalsByRule[index],
    fills: simulation.counts.fillsByRule[index],
    positions: counts[index],
    pnl: pnls[index],
  }));
  return {
    rules: stats,
    pairwiseNeverTogether: pairs.slice(0, PAIRED_LEAVES),
    alwaysTrue: known.filter(({ trueCount, evaluated }) => trueCount === evaluated).map(({ nodeId }) => nodeId),
    alwaysFalse: known.filter(({ falseCount, evaluated }) => falseCount === evaluated).map(({ nodeId }) => nodeId),
    tradesByRule,
    truncated: false,
  };
}

function pnlByRule({ numbers, length }: TradeLog, entries: number): Float64Array {
  const pnls = newNumbers(entries);
  for (let at = 0; at < length * TRADE_WIDTH; at += TRADE_WIDTH)
    pnls[numbers[at + TRADE.entryRule]] += numbers[at + TRADE.pnl];
  return pnls;
}

const TEXTS = {
  comma: constantJson(','),
  rules: constantJson('{"rules":['),
  evaluated: constantJson(',"evaluated":'),
  trueCount: constantJson(',"trueCount":'),
  falseCount: constantJson(',"falseCount":'),
  unknownCount: constantJson(',"unknownCount":'),
  trueRate: constantJson(',"trueRate":'),
  firstTrueAt: constantJson(',"firstTrueAt":'),
  lastTrueAt: constantJson(',"lastTrueAt":'),
  transitions: constantJson(',"transitions":'),
  maxStreakTrue: constantJson(',"maxStreakTrue":'),
  soleBlockerCount: constantJson(',"soleBlockerCount":'),
  leftStats: constantJson(',"leftStats":'),
  rightStats: constantJson(',"rightStats":'),
  min: constantJson('{"min":'),
  max: constantJson(',"max":'),
  mean: constantJson(',"mean":'),
  last: constantJson(',"last":'),
  sampled: constantJson(',"sampled":'),
  null: constantJson('null'),
  end: constantJson('}'),
  rule: constantJson('{"rule":'),
  signals: constantJson(',"signals":'),
  fills: constantJson(',"fills":'),
  positions: constantJson(',"positions":'),
  pnl: constantJson(',"pnl":'),
} as const;

/** Writes the block as JSON.stringify does. */
export function writeRuleStats(json: JsonWriter, summary: RuleStatsSummary): void {
  json.add(TEXTS.rules);
  summary.rules.forEach((rule, index) => {
    if (index > 0) json.add(TEXTS.comma);
    writeRule(json, rule);
  });
  const { pairwiseNeverTogether, alwaysTrue, alwaysFalse } = summary;
  const lists = JSON.stringify({ pairwiseNeverTogether, alwaysTrue, alwaysFalse }).slice(1, -1);
  json.addText(`],${lists},"tradesByRule":[`);
  summary.tradesByRule.forEach(({ rule, signals, fills, positions, pnl }, index) => {
    if (index > 0) json.add(TEXTS.comma);
    json.add(TEXTS.rule).addText(JSON.stringify(rule)).number(TEXTS.signals, signals).number(TEXTS.fills, fills);
    json.number(TEXTS.positions, positions).number(TEXTS.pnl, pnl).add(TEXTS.end);
  });
  json.addText(`],"truncated":${summary.truncated}}`);
}

function writeRule(json: JsonWriter, rule: ConditionStats): void {
  const { nodeId, path, role, kind, text } = rule;
  json.addText(JSON.stringify({ nodeId, path, role, kind, text }).slice(0, -1));
  json.number(TEXTS.evaluated, rule.evaluated);
  json.number(TEXTS.trueCount, rule.trueCount).number(TEXTS.falseCount, rule.falseCount);
  json.number(TEXTS.unknownCount, rule.unknownCount).number(TEXTS.trueRate, rule.trueRate);
  json.number(TEXTS.firstTrueAt, rule.firstTrueAt).number(TEXTS.lastTrueAt, rule.lastTrueAt);
  json.number(TEXTS.transitions, rule.transitions).number(TEXTS.maxStreakTrue, rule.maxStreakTrue);
  json.number(TEXTS.soleBlockerCount, rule.soleBlockerCount);
  writeSide(json.add(TEXTS.leftStats), rule.leftStats);
  writeSide(json.add(TEXTS.rightStats), rule.rightStats);
  json.add(TEXTS.end);
}

function writeSide(json: JsonWriter, side: SideStats | null): void {
  if (side === null) {
    json.add(TEXTS.null);
    return;
  }
  json.number(TEXTS.min, side.min).number(TEXTS.max, side.max).number(TEXTS.mean, side.mean);
  json.number(TEXTS.last, side.last).number(TEXTS.sampled, side.sampled).add(TEXTS.end);
}
