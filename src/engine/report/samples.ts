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
  readonly bar: number;
  readonly time: number;
  readonly values: Readonly<SampleValues>;
}

const MAX_SAMPLES = 24;
/** Trades whose entry and exit are samples. */
const SAMPLED_TRADES = 8;
/** Near misses that are samples. */
const SAMPLED_MISSES = 4;

/** The values of one node on every sampled bar. */
interface SampledNode {
  readonly nodeId: string;
  readonly type: NamedNode['type'];
  /** NaN where missing or unknown; a condition is 1 or 0. */
  readonly values: Float64Array;
}

/** Values as columns: most samples are only written, never read as objects. */
export class Samples {
  readonly #kinds: readonly Sample['kind'][];
  readonly #rows: Int32Array;
  readonly #nodes: readonly SampledNode[];
  readonly #time: Float64Array;
  readonly #firstRow: number;

  constructor(report: ReportInput, kinds: readonly Sample['kind'][], rows: Int32Array) {
    const { evaluated, input, firstRow } = report;
    this.#kinds = kinds;
    this.#rows = rows;
    this.#time = input.bars.time;
    this.#firstRow = firstRow;
    const { compared, named } = evaluated.plan;
    this.#nodes = inJsonOrder([...compared, ...named]).map(({ nodeId, type, slot }) => ({
      nodeId,
      type,
      values: type === 'value' ? valuesOf(evaluated, slot, this.#rows) : truthsOf(evaluated, slot, this.#rows),
    }));
  }

  get length(): number {
    return this.#rows.length;
  }

  /** The first `count` as objects. */
  list(count: number): Sample[] {
    return this.#kinds.slice(0, count).map((kind, at) => {
      const row = this.#rows[at];
      const values: SampleValues = {};
      for (const { nodeId, type, values: of } of this.#nodes) setMember(values, nodeId, shown(type, of[at]));
      return { kind, bar: row - this.#firstRow, time: this.#time[row], values };
    });
  }

  /** The first `count` as JSON.stringify writes the list. */
  write(json: JsonWriter, count: number): void {
    const names = this.#nodes.map(({ nodeId }, at) => json.text(`${at === 0 ? '' : ','}${JSON.stringify(nodeId)}:`));
    json.add(TEXTS.begin);
    for (let at = 0; at < count; at++) {
      const row = this.#rows[at];
      if (at > 0) json.add(TEXTS.comma);
      json.number(KIND_TEXTS[this.#kinds[at]], row - this.#firstRow);
      json.number(TEXTS.time, this.#time[row]).add(TEXTS.values);
      for (let node = 0; node < names.length; node++) {
        const { type, values } = this.#nodes[node];
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

const truthText = (value: number): WrittenText =>
  value !== value ? TEXTS.null : value === 1 ? TEXTS.true : TEXTS.false;

/** The nodes in the order in which an object would list their ids, whole numbers first; of equal ids, the last node. */
function inJsonOrder(nodes: readonly NamedNode[]): readonly NamedNode[] {
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
  if (input.end <= input.start) return new Samples(report, kinds, rows.subarray(0, 0));
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
  return new Samples(report, kinds, rows.subarray(0, kinds.length));
}

/** The value of each node on one bar; null where missing or unknown. Of equal ids, the last node counts. */
export function valuesAt(evaluated: EvaluatedPlan, row: number, nodes: readonly NamedNode[]): Readonly<SampleValues> {
  const values: SampleValues = {};
  const rows = Int32Array.of(row);
  for (const { nodeId, type, slot } of nodes) {
    const [value] = type === 'value' ? valuesOf(evaluated, slot, rows) : truthsOf(evaluated, slot, rows);
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
