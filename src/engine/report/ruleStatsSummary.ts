// The block of rule statistics in a summary: what each condition and each entry rule did, and its JSON.
import { TRADE, TRADE_WIDTH, type TradeLog } from '../simulate/tradeLog.ts';
import type { SimulationResult } from '../simulate/simulation.ts';
import type { JsonWriter } from './jsonWriter.ts';
import type { Positions } from './positions.ts';
import {
  conjunctsOf,
  neverTogether,
  PAIRED_LEAVES,
  type RuleBits,
  type RuleStats,
  type SideStats,
  type Window,
} from './ruleStatistics.ts';

export interface RuleStatsSummary {
  readonly rules: readonly RuleStats[];
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

export function ruleStatsSummary(
  bits: readonly RuleBits[],
  stats: readonly RuleStats[],
  entryIds: readonly string[],
  { simulation, positions }: { readonly simulation: SimulationResult; readonly positions: Positions },
  window: Window,
): RuleStatsSummary {
  const pairs = entryIds.flatMap((id, index) =>
    neverTogether(conjunctsOf(bits, 'entry', index), window).map(([a, b]) => ({
      rule: id,
      nodeIds: [a.node.nodeId, b.node.nodeId] as [string, string],
    })),
  );
  const known = stats.filter((rule) => rule.evaluated > 0);
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
    alwaysTrue: known.filter((rule) => rule.trueCount === rule.evaluated).map((rule) => rule.nodeId),
    alwaysFalse: known.filter((rule) => rule.falseCount === rule.evaluated).map((rule) => rule.nodeId),
    tradesByRule,
    truncated: false,
  };
}

function pnlByRule({ numbers, length }: TradeLog, entries: number): Float64Array {
  const pnls = new Float64Array(entries);
  for (let at = 0; at < length * TRADE_WIDTH; at += TRADE_WIDTH)
    pnls[numbers[at + TRADE.entryRule]] += numbers[at + TRADE.pnl];
  return pnls;
}

/** As JSON.stringify writes it. */
export function writeRuleStats(json: JsonWriter, summary: RuleStatsSummary): void {
  json.add('{"rules":[');
  summary.rules.forEach((rule, index) => {
    if (index > 0) json.add(',');
    writeRule(json, rule);
  });
  const { pairwiseNeverTogether, alwaysTrue, alwaysFalse } = summary;
  const lists = JSON.stringify({ pairwiseNeverTogether, alwaysTrue, alwaysFalse }).slice(1, -1);
  json.add(`],${lists},"tradesByRule":[`);
  summary.tradesByRule.forEach(({ rule, signals, fills, positions, pnl }, index) => {
    const first = JSON.stringify({ rule, signals, fills, positions }).slice(0, -1);
    json.number(`${index === 0 ? '' : ','}${first},"pnl":`, pnl).add('}');
  });
  json.add(`],"truncated":${summary.truncated}}`);
}

function writeRule(json: JsonWriter, rule: RuleStats): void {
  const { nodeId, path, role, kind, text } = rule;
  json.number(`${JSON.stringify({ nodeId, path, role, kind, text }).slice(0, -1)},"evaluated":`, rule.evaluated);
  json.number(',"trueCount":', rule.trueCount).number(',"falseCount":', rule.falseCount);
  json.number(',"unknownCount":', rule.unknownCount).number(',"trueRate":', rule.trueRate);
  json.number(',"firstTrueAt":', rule.firstTrueAt).number(',"lastTrueAt":', rule.lastTrueAt);
  json.number(',"transitions":', rule.transitions).number(',"maxStreakTrue":', rule.maxStreakTrue);
  json.number(',"soleBlockerCount":', rule.soleBlockerCount);
  writeSide(json.add(',"leftStats":'), rule.leftStats);
  writeSide(json.add(',"rightStats":'), rule.rightStats);
  json.add('}');
}

function writeSide(json: JsonWriter, side: SideStats | null): void {
  if (side === null) {
    json.add('null');
    return;
  }
  json.number('{"min":', side.min).number(',"max":', side.max).number(',"mean":', side.mean);
  json.number(',"last":', side.last).number(',"sampled":', side.sampled).add('}');
}
