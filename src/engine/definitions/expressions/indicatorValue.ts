// The value `indicator`: one output of an indicator, computed on bars or on any value.
import { z } from 'zod';
import { resolveArgs, seriesInputsOf } from '../../indicators/arguments.ts';
import type { Args, IndicatorDefinition, InputName, OutputDefinition } from '../../indicators/definition.ts';
import { findIndicator } from '../../indicators/registry.ts';
import { named, ParamRef, placed } from '../expressionMembers.ts';
import { canonicalField, type MARKET_FIELDS } from '../words.ts';
import type { Completed, Rewriter, ValueDefinition, WrittenNode } from './expressionDefinition.ts';
import { range } from './intervals.ts';
import { mostOn, onShared, type LookbackPlace, type Need } from './lookbacks.ts';
import { valuePlace, type ValueChild } from './places.ts';
import { barsNamed, type Extreme } from './relations.ts';
import type { Frame, SharedValueOperation, Slot, StepCompiler } from './planSteps.ts';
import { placeText } from './texts.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('indicator'),
  indicator: z.string(),
  args: z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), ParamRef])).optional(),
  output: z.string().optional(),
  ...placed,
  source: valuePlace.optional(),
  sources: z.array(valuePlace).min(1).max(8).optional(),
});
type Written = z.input<typeof schema>;
type Node = Completed<typeof schema, { args: Record<string, number | string | boolean>; output: string }>;

/** The range of an oscillator's output, in the units of its author. */
const PERCENT_SCALE = { min: 0, max: 100 } as const;

export const indicatorValue: ValueDefinition<typeof schema, Node> = {
  type: 'value',
  schema,
  description: 'One output of an indicator, computed on bars or on any value expression.',
  nsPerBar: 3,
  requiredInGraph: ['args'],
  neverOverState: 'Use `rolling`, `shift`, `percent_change`, `cross` or `rising`, which can.',
  offsetCountsOwnBars: true,
  check: (_node, check) => check.checkCall('indicator'),
  readsOwnBars: readsBars,
  rewrite,
  range: (node) => {
    const { min = -Infinity, max = Infinity } = outputOf(node) ?? {};
    return range(min, max);
  },
  isDiscrete: (node) => outputOf(node)?.kind === 'flag',
  extreme,
  percentScale: (node) => {
    const output = outputOf(node);
    return output?.min === PERCENT_SCALE.min && output.max === PERCENT_SCALE.max ? node.indicator : undefined;
  },
  text: (node, write) => {
    const sources = sourcesOf(node).map((source) => write.text(source));
    const args = [...sources, ...Object.values(node.args).map(String)].join(', ');
    return `${node.indicator}(${args})${node.output === 'value' ? '' : `.${node.output}`}${placeText(node)}`;
  },
  lookback,
  step: (node, steps, ambient) => steps.builder.shift(compile(node, steps, ambient), node.offset),
  keepsLookback: 'always',
  operation: null,
  overState: null,
};

/** Whether bars are among its inputs: always, without a source. */
function readsBars({ indicator, source, sources }: WrittenNode): boolean {
  const definition = findIndicator(String(indicator));
  if (source === undefined && sources === undefined) return true;
  return definition !== undefined && definition.inputs.length > seriesInputsOf(definition).length;
}

/** The series inputs of a node as it runs: `source` for one, `sources` for several. */
const sourcesOf = ({ source, sources }: Node): readonly ValueChild[] =>
  sources ?? (source === undefined ? [] : [source]);

function outputOf({ indicator, output }: Written): OutputDefinition | undefined {
  const outputs = findIndicator(indicator)?.outputs ?? [];
  return output === undefined ? outputs[0] : outputs.find(({ name }) => name === output);
}

function extreme(node: Written): Extreme | undefined {
  const definition = findIndicator(node.indicator);
  if (definition === undefined || node.source !== undefined || node.sources !== undefined) return undefined;
  const place = barsNamed(node);
  const output = node.output ?? definition.outputs[0].name;
  if (definition.id === 'donchian' || definition.id === 'donchian_split') {
    if (output === 'upper') return { kind: 'max', of: { field: 'high', place } };
    return output === 'lower' ? { kind: 'min', of: { field: 'low', place } } : undefined;
  }
  if (definition.id !== 'max' && definition.id !== 'min') return undefined;
  const isOverSource = seriesInputsOf(definition).length === 1;
  const source = (node.args as { source?: unknown } | undefined)?.source ?? 'close';
  if (!isOverSource || typeof source !== 'string') return undefined;
  return { kind: definition.id, of: { field: canonicalField(source as (typeof MARKET_FIELDS)[number]), place } };
}

function rewrite(node: WrittenNode, isPlaced: boolean, rewriter: Rewriter): WrittenNode {
  const definition = findIndicator(node.indicator as string)!;
  const made: Record<string, unknown> = {
    ...rewriter.names(node),
    kind: 'indicator',
    indicator: definition.id,
    args: rewriter.args(node, definition.args),
    output: node.output ?? definition.outputs[0].name,
  };
  if (node.timeframe !== undefined) made.timeframe = node.timeframe;
  made.offset = rewriter.member(node, 'offset');
  if (node.instrument !== undefined) made.instrument = { symbol: (node.instrument as WrittenNode).symbol };
  const below = isPlaced || node.timeframe !== undefined || node.instrument !== undefined;
  const inputs = seriesInputsOf(definition);
  const given = (node.sources ?? (node.source === undefined ? [] : [node.source])) as WrittenNode[];
  const sources = given.map((source) => rewriter.child(source, below));
  if (sources.length === 0 && inputs.length > 0) {
    const written = (node.args as { source?: string } | undefined)?.source;
    const byDefault = definition.args.find(({ name }) => name === 'source')?.default as string | undefined;
    sources.push({ kind: 'market', field: canonicalField(written ?? byDefault ?? 'close'), offset: 0 });
  }
  if (inputs.length === 1) made.source = sources[0];
  if (inputs.length > 1) made.sources = sources;
  return made;
}

function lookback(node: Node, place: LookbackPlace): Need {
  const definition = findIndicator(node.indicator)!;
  const sources = sourcesOf(node);
  const extra = place.lookbacks.ofIndicator(definition, node.args) + node.offset;
  const isPlaced = node.timeframe !== undefined || node.instrument !== undefined;
  // Next to bar columns, a source is read on the same bars; without them, on its own.
  const readsBars = definition.inputs.length > seriesInputsOf(definition).length;
  if (!isPlaced && !readsBars) return onShared(place, sources, extra);
  const own = node.timeframe ?? place.context;
  return { timeframe: own, bars: mostOn(own, place, sources) + extra };
}

function compile(node: Node, steps: StepCompiler, ambient: Frame): Slot {
  const definition = findIndicator(node.indicator);
  if (!definition) throw new Error(`Unknown indicator ${node.indicator} reached the compiler.`);
  const { args } = resolveArgs(definition, node.args);
  const { builder } = steps;
  const isPlaced = node.timeframe !== undefined || node.instrument !== undefined;
  const own = steps.placed(node, ambient);
  const compiled = sourcesOf(node).map((source) => steps.value(source, own));
  const readsBars = definition.inputs.some((input) => BAR_INPUTS.has(input)) || compiled.length === 0;
  const frame = isPlaced || readsBars ? own : (builder.commonFrame(compiled) ?? own);
  const field = (name: SharedValueOperation & { op: 'field' }) => builder.value(name, [], frame);
  let nextSource = 0;
  const inputs = definition.inputs.map((input) => {
    if (BAR_INPUTS.has(input)) return field({ op: 'field', field: input as 'close' });
    const slot = compiled[nextSource++];
    return slot === undefined ? field({ op: 'field', field: 'close' }) : builder.align(slot, frame);
  });
  const output = outputIndex(definition, node.output);
  const call = callText(definition, args);
  const operation: SharedValueOperation = { op: 'indicator', definition, args, output, call };
  return builder.value(operation, inputs, frame);
}

const BAR_INPUTS: ReadonlySet<InputName> = new Set(['open', 'high', 'low', 'close', 'volume', 'time']);

function outputIndex(definition: IndicatorDefinition, output: string): number {
  const index = definition.outputs.findIndex(({ name }) => name === output);
  if (index < 0) throw new Error(`${definition.id} has no output ${output}.`);
  return index;
}

/** `sma(length=10)`: args in the order of the registry. */
const callText = (definition: IndicatorDefinition, args: Args): string =>
  `${definition.id}(${definition.args.map(({ name }) => `${name}=${args[name]}`).join(' ')})`;
