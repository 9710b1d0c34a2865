// Samples: a few bars of a run with the value of every named node, and of what conditions compare.
import { newIntegers, newNumbers } from '../kernels/sharedBuffer.ts';
import { hasBit, nextBit } from '../kernels/bits.ts';
import type { EvaluatedPlan } from '../evaluate/evaluatePlan.ts';
import { TRADE, TRADE_WIDTH } from '../simulate/tradeLog.ts';
import type { NamedNode } from '../plan/plan.ts';
import { constantJson, type JsonWriter, type WrittenText } from './jsonWriter.ts';
import type { NearMiss } from './nearMisses.ts';
import type { ReportInput } from './reportInput.ts';
import type { ConditionBits } from './conditionBits.ts';

/** Values by the id of their node; null where missing or unknown. */
type SampleValues = Record<string, number | boolean | null>;

/** One bar with the value of every named node, and of what conditions compare, by its text. */
export interface Sample {
  readonly kind: 'first_trigger' | 'entry' | 'exit' | 'near_miss' | 'last_bar';
  /** Whose bar it is; absent in runs of one instrument. */
  readonly symbol?: string;
  readonly bar: number;
  readonly time: number;
  readonly values: Readonly<SampleValues>;
}

export const MAX_SAMPLES = 24;
/** Trades whose entry and exit are samples. */
export const SAMPLED_TRADES = 8;
/** Near misses that are samples. */
export const SAMPLED_MISSES = 4;

/** The values of one node on every sampled bar. */
interface SampledNode {
  readonly nodeId: string;
  readonly type: NamedNode['type'];
  /** NaN where missing or unknown; a condition is 1 or 0. */
  readonly values: Float64Array;
}

/** What the samples of a run consist of, one entry per sampled bar. */
interface SampledBars {
  readonly kinds: readonly Sample['kind'][];
  /** Bars from the start of the range. */
  readonly bars: Int32Array;
  readonly times: Float64Array;
  /** null: one instrument, which needs no name. */
  readonly symbols: readonly string[] | null;
  readonly nodes: readonly SampledNode[];
}

/** Values as columns: most samples are only written, never read as objects. */
export class Samples {
  readonly #sampled: SampledBars;

  constructor(sampled: SampledBars) {
    this.#sampled = sampled;
  }

  get length(): number {
    return this.#sampled.bars.length;
  }

  /** The first `count` as objects. */
  list(count: number): Sample[] {
    const { kinds, bars, times, symbols, nodes } = this.#sampled;
    return kinds.slice(0, count).map((kind, at) => {
      const values: SampleValues = {};
      for (const { nodeId, type, values: of } of nodes) setMember(values, nodeId, shown(type, of[at]));
      const place = { bar: bars[at], time: times[at], values };
      return symbols === null ? { kind, ...place } : { kind, symbol: symbols[at], ...place };
    });
  }

  /** The first `count` as JSON.stringify writes the list. */
  write(json: JsonWriter, count: number): void {
    const { kinds, bars, times, symbols, nodes } = this.#sampled;
    const names = nodes.map(({ nodeId }, at) => json.text(`${at === 0 ? '' : ','}${JSON.stringify(nodeId)}:`));
    json.add(TEXTS.begin);
    for (let at = 0; at < count; at++) {
      if (at > 0) json.add(TEXTS.comma);
      const kind = symbols === null ? KIND_TEXTS[kinds[at]] : json.text(namedKindText(kinds[at], symbols[at]));
      json.number(kind, bars[at]);
      json.number(TEXTS.time, times[at]).add(TEXTS.values);
      for (let node = 0; node < names.length; node++) {
        const { type, values } = nodes[node];
        if (type === 'value') json.number(names[node], values[at]);
        else json.add(names[node]).add(truthText(values[at]));
      }
      json.add(TEXTS.endOfOne);
    }
    json.add(TEXTS.end);
  }
}

const TEXTS = {
  begin: constantJson('['),
  comma: constantJson(','),
  time: constantJson(',"time":'),
  values: constantJson(',"values":{'),
  endOfOne: constantJson('}}'),
  end: constantJson(']'),
  null: constantJson('null'),
  false: constantJson('false'),
  true: constantJson('true'),
} as const;

const kindText = (kind: Sample['kind']): WrittenText => constantJson(`{"kind":"${kind}","bar":`);
const KIND_TEXTS: Readonly<Record<Sample['kind'], WrittenText>> = {
  first_trigger: kindText('first_trigger'),
  entry: kindText('entry'),
  exit: kindText('exit'),
  near_miss: kindText('near_miss'),
  last_bar: kindText('last_bar'),
};

const namedKindText = (kind: Sample['kind'], symbol: string): string =>
  `{"kind":"${kind}","symbol":${JSON.stringify(symbol)},"bar":`;

const truthText = (value: number): WrittenText =>
  value !== value ? TEXTS.null : value === 1 ? TEXTS.true : TEXTS.false;

/** The nodes in the order in which an object would list their ids, whole numbers first; of equal ids, the last node. */
export function inJsonOrder(nodes: readonly NamedNode[]): readonly NamedNode[] {
  if (areInJsonOrder(nodes)) return nodes;
  const byId = Object.create(null) as Record<string, NamedNode>;
  for (const node of nodes) byId[node.nodeId] = node;
  return Object.values(byId);
}

/**
 * Whether `inJsonOrder` is sure to change nothing, which is the usual case: few distinct ids, none of them a number.
 */
function areInJsonOrder(nodes: readonly NamedNode[]): boolean {
  if (nodes.length > FEW_NODES) return false;
  for (let at = 0; at < nodes.length; at++) {
    const { nodeId } = nodes[at];
    const first = nodeId.charCodeAt(0);
    if (first >= DIGIT_0 && first <= DIGIT_9) return false;
    for (let before = 0; before < at; before++) if (nodes[before].nodeId === nodeId) return false;
  }
  return true;
}

const FEW_NODES = 12;
const [DIGIT_0, DIGIT_9] = ['0'.charCodeAt(0), '9'.charCodeAt(0)];

function valuesOf(evaluated: EvaluatedPlan, slot: number, rows: Int32Array): Float64Array {
  const values = newNumbers(rows.length);
  evaluated.readRows(slot, rows, values);
  return values;
}

function truthsOf(evaluated: EvaluatedPlan, slot: number, rows: Int32Array): Float64Array {
  const { isTrue, isUnknown } = evaluated.condition(slot);
  const truths = newNumbers(rows.length);
  for (let at = 0; at < rows.length; at++) truths[at] = hasBit(isUnknown, rows[at]) ? NaN : +hasBit(isTrue, rows[at]);
  return truths;
}

function shown(type: NamedNode['type'], value: number): number | boolean | null {
  if (value !== value) return null;
  return type === 'value' ? value : value === 1;
}

/** The first trigger, the decisions of the first trades, the nearest misses and the last bar, at most MAX_SAMPLES. */
export function samplesOf(
  report: ReportInput,
  bits: readonly ConditionBits[],
  nearMisses: readonly NearMiss[],
): Samples {
  const { input, simulation, firstRow } = report;
  const kinds: Sample['kind'][] = [];
  const rows = newIntegers(MAX_SAMPLES);
  if (input.end <= input.start) return sampled(report, kinds, rows.subarray(0, 0));
  const add = (kind: Sample['kind'], row: number): void => {
    if (kinds.length < MAX_SAMPLES - 1) rows[kinds.push(kind) - 1] = row;
  };
  const trigger = bits.find(({ node }) => node.role === 'trigger' && node.parent === null);
  const firstTrigger = trigger ? nextBit(trigger.isTrue, input.start, input.end) : input.end;
  if (firstTrigger < input.end) add('first_trigger', firstTrigger);
  // The bar that explains a fill is the one on which it was decided, not the one in which it filled.
  const { numbers, length } = simulation.tradeLog;
  for (let at = 0; at < Math.min(length, SAMPLED_TRADES) * TRADE_WIDTH; at += TRADE_WIDTH) {
    add('entry', numbers[at + TRADE.entryDecisionRow]);
    add('exit', numbers[at + TRADE.exitDecisionRow]);
  }
  for (let at = 0; at < Math.min(nearMisses.length, SAMPLED_MISSES); at++)
    add('near_miss', nearMisses[at].bar + firstRow);
  rows[kinds.push('last_bar') - 1] = input.end - 1;
  return sampled(report, kinds, rows.subarray(0, kinds.length));
}

function sampled({ evaluated, input, firstRow }: ReportInput, kinds: Sample['kind'][], rows: Int32Array): Samples {
  const bars = newIntegers(rows.length);
  const times = newNumbers(rows.length);
  for (let at = 0; at < rows.length; at++) {
    bars[at] = rows[at] - firstRow;
    times[at] = input.bars.time[rows[at]];
  }
  const { compared, named } = evaluated.plan;
  const nodes = inJsonOrder([...compared, ...named]).map(({ nodeId, type, slot }) => ({
    nodeId,
    type,
    values: nodeValues(evaluated, type, slot, rows),
  }));
  return new Samples({ kinds, bars, times, symbols: null, nodes });
}

/** The values of a node on these rows, NaN where missing or unknown. */
export const nodeValues = (
  evaluated: EvaluatedPlan,
  type: NamedNode['type'],
  slot: number,
  rows: Int32Array,
): Float64Array => (type === 'value' ? valuesOf(evaluated, slot, rows) : truthsOf(evaluated, slot, rows));

/** The value of each node on one bar; null where missing or unknown. Of equal ids, the last node counts. */
export function valuesAt(evaluated: EvaluatedPlan, row: number, nodes: readonly NamedNode[]): Readonly<SampleValues> {
  const values: SampleValues = {};
  const rows = Int32Array.of(row);
  for (const { nodeId, type, slot } of nodes) {
    const [value] = nodeValues(evaluated, type, slot, rows);
    setMember(values, nodeId, shown(type, value));
  }
  return values;
}

function setMember(values: SampleValues, nodeId: string, value: number | boolean | null): void {
  // An author may name a node __proto__.
  if (nodeId === '__proto__')
    Object.defineProperty(values, nodeId, { value, enumerable: true, configurable: true, writable: true });
  else values[nodeId] = value;
}
