// Indicators in text expressions: `rsi(14)`, `sma(volume, 20)`, `macd(12, 26, 9).signal`, `supertrend(length=10)`.
import { seriesInputsOf } from '../../indicators/arguments.ts';
import type { IndicatorDefinition } from '../../indicators/definition.ts';
import { findIndicator } from '../../indicators/registry.ts';
import { synonymousArgument, synonymousIndicator } from '../hints/indicatorSynonyms.ts';
import { shown } from '../issues/displayNames.ts';
import { outputMeant } from './columns.ts';
import type { Argument, Syntax } from './expressionGrammar.ts';
import type { Made, TextContext, TextFault } from './textMeaning.ts';

/**
 * How many arguments come in the same order everywhere, so that a list of them is certain: in Pine, the factor of
 * supertrend comes before its length.
 */
const POSITIONAL: ReadonlyMap<string, number> = new Map([
  ['macd', 3],
  ['ppo', 2],
  ['apo', 2],
  ['adosc', 2],
  ['ultosc', 3],
  ['bbands', 2],
  ['ichimoku', 3],
]);
/** How many arguments of an indicator may be given by their places. The length comes first everywhere. */
export const positionalCount = ({ id, args }: Pick<IndicatorDefinition, 'id' | 'args'>): number =>
  POSITIONAL.get(id) ?? (args[0]?.name === 'length' ? 1 : 0);

/** Indicators whose usual arguments everyone has, so that their names alone say what is meant. */
const BY_NAME = new Set('rsi atr adx mfi willr vwap obv trange ad bop cmo plus_di minus_di macd'.split(' '));
/** Outputs that an indicator without one means. */
const MAIN_OUTPUT: Readonly<Record<string, string>> = { macd: 'macd', supertrend: 'supertrend' };

const definitionOf = (name: string): IndicatorDefinition | undefined =>
  findIndicator(name) ?? findIndicator(synonymousIndicator(name) ?? name);

/** The indicator that a name without arguments stands for. */
export function plainIndicator(name: string): Made | undefined {
  const definition = definitionOf(name);
  if (definition === undefined || !BY_NAME.has(definition.id)) return undefined;
  const output = MAIN_OUTPUT[definition.id];
  return { kind: 'indicator', indicator: definition.id, args: {}, ...(output !== undefined && { output }) };
}

/** An indicator with another output than it has; undefined where it has none of that name. */
export function outputOf(made: Made, written: string): Made | TextFault | undefined {
  const definition = made.kind === 'indicator' ? findIndicator(String(made.indicator)) : undefined;
  const output = definition && outputNamed(definition, written);
  return output === undefined ? undefined : { ...made, output };
}

const outputNamed = (definition: IndicatorDefinition, written: string): string | undefined =>
  definition.outputs.find(({ name }) => name === written.toLowerCase())?.name ?? outputMeant(written, definition);

/**
 * The node of a call; undefined where there is no such indicator.
 * @param read an argument as a value expression
 * @param output the output written after the call
 */
export function indicatorCall(
  called: string,
  args: readonly Argument[],
  read: (tree: Syntax) => Made,
  { params }: TextContext,
  output?: string,
): Made | TextFault | undefined {
  const definition = definitionOf(called);
  if (definition === undefined) return undefined;
  const { id } = definition;
  const series = seriesInputsOf(definition);
  const named: Record<string, unknown> = {};
  const sources: Made[] = [];
  const numberOf = (tree: Syntax): unknown => {
    if (tree.type === 'number') return tree.value;
    if (tree.type === 'text') return tree.text;
    const isParam = tree.type === 'param' || (tree.type === 'name' && params.has(tree.name));
    return isParam ? { param: tree.name } : undefined;
  };
  const places = withoutBars(args, definition).filter(({ name }) => name === undefined);
  while (places.length > 0 && numberOf(places[0].value) === undefined && sources.length < series.length)
    sources.push(read(places.shift()!.value));
  const certain = positionalCount(definition);
  const names = definition.args.map(({ name }) => name);
  if (places.length > certain) {
    const all = names.map((name) => `${name}=…`).join(', ');
    return { at: places[certain].value.at, message: `Name each argument of ${id}: ${id}(${all}).` };
  }
  for (const [place, { value }] of places.entries()) {
    const number = numberOf(value);
    if (number === undefined) return { at: value.at, message: `${names[place]} of ${id} must be a number or a param.` };
    named[names[place]] = number;
  }
  for (const { name: written, value } of args) {
    if (written === undefined) continue;
    if (SOURCE_NAMES.has(written.toLowerCase()) && !names.includes(written) && series.length === 1) {
      sources.push(read(value));
      continue;
    }
    const free = names.filter((name) => named[name] === undefined);
    const name = free.includes(written) ? written : synonymousArgument(written, free);
    const number = numberOf(value);
    if (name === undefined)
      return { at: value.at, message: `${id} has no argument ${shown(written)}: it takes ${names.join(', ')}.` };
    if (number === undefined) return { at: value.at, message: `${name} of ${id} must be a number or a param.` };
    named[name] = number;
  }
  const chosen = output === undefined ? MAIN_OUTPUT[id] : outputNamed(definition, output);
  if (chosen === undefined && (definition.outputs.length > 1 || output !== undefined)) {
    const outputs = definition.outputs.map(({ name }) => name).join(', ');
    const at = args[0]?.value.at ?? 0;
    if (definition.outputs.length > 1)
      return {
        at,
        message: `${id} has several outputs: write ${id}(…).${definition.outputs[0].name}, or another of ${outputs}.`,
      };
    return { at, message: `${id} has no output ${shown(output)}.` };
  }
  return {
    kind: 'indicator',
    indicator: id,
    ...withSources(named, sources),
    ...(chosen !== undefined && definition.outputs.length > 1 && { output: chosen }),
  };
}

const SOURCE_NAMES = new Set(['source', 'src', 'series', 'real', 'close']);

/** A field of the bar is an argument, as authors of JSON write it; anything else is a node. */
function withSources(args: Readonly<Record<string, unknown>>, sources: readonly Made[]): object {
  const [first, ...others] = sources;
  if (first === undefined) return { args };
  if (others.length > 0) return { args, sources };
  const isField = first.kind === 'market' && Object.keys(first).length === 2;
  if (isField) return { args: first.field === 'close' ? args : { ...args, source: first.field } };
  return { args, source: first };
}

/** Without the columns that an indicator reads anyway, as TA-Lib is given them: `atr(high, low, close, 14)`. */
function withoutBars(args: readonly Argument[], { inputs }: IndicatorDefinition): Argument[] {
  const isGiven = inputs.length > 1 && inputs.every((input, place) => nameIn(args[place]?.value) === input);
  return isGiven ? args.slice(inputs.length) : [...args];
}

/** `close`, or the column of that name: `df["close"]`, `df.close`. */
function nameIn(tree: Syntax | undefined): string | undefined {
  if (tree === undefined) return undefined;
  if (tree.type === 'name' || tree.type === 'column') return tree.name.toLowerCase();
  return tree.type === 'member' ? nameIn(tree.part) : undefined;
}
