// Calls: an indicator or pattern by name, its output and its sources, checked against the registries.
import type { IndicatorDefinition } from '../../indicators/definition.ts';
import { findIndicator, INDICATORS } from '../../indicators/registry.ts';
import { findPattern, PATTERNS, type PatternDefinition } from '../../patterns/patternRegistry.ts';
import { seriesInputsOf } from '../../indicators/arguments.ts';
import { synonymousIndicator } from '../hints/indicatorSynonyms.ts';
import { checkArgs, type CallContext } from './callArguments.ts';
import { shown } from '../issues/displayNames.ts';
import type { IssueLog } from '../issues/issues.ts';
import { constructAdvice } from '../hints/foreignKinds.ts';
import { listedArguments } from '../form/misplaced.ts';
import { EXPRESSION_SHAPES } from '../grammar/shapes.ts';
import { columnMeant, outputMeant } from '../text/columns.ts';
import { nearestName, isMistyped, certainPatch, suggestionFor, type Nearest } from '../issues/nearest.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

const INDICATOR_NAMES = INDICATORS.flatMap(({ id, aliases }) => [id, ...aliases]);
const PATTERN_NAMES = PATTERNS.flatMap(({ id, aliases }) => [id, ...aliases]);

/** Reports the issues of an indicator node; true when it can be computed. */
export function checkIndicator(node: Members, context: CallContext): boolean {
  const { log, at } = context;
  if (typeof node.indicator !== 'string') return false;
  const name = node.indicator;
  let definition = findIndicator(name);
  let isValid = definition !== undefined;
  if (definition === undefined) {
    if (reportColumn(name, node, context)) return false;
    definition = reportUnknownIndicator(name, context);
    if (definition === undefined) return false;
  } else if (name !== definition.id) {
    reportAlias(name, definition.id, at('indicator'), log);
  }
  if (!checkArgs(node, definition, context)) isValid = false;
  if (!checkOutput(node, definition, context)) isValid = false;
  return checkSources(node, definition, context) && isValid;
}

/** Reports a name that no indicator has, and returns the indicator that it certainly means. */
function reportUnknownIndicator(name: string, { log, at }: CallContext): IndicatorDefinition | undefined {
  const nearest = nearestIndicator(name, log);
  const meant = nearest && findIndicator(nearest.name);
  log.add('UNKNOWN_INDICATOR', at('indicator'), () => ({
    message: `Unknown indicator ${shown(name)}.`,
    suggestion: [
      ...(meant ? [suggestionFor({ name: meant.id }, [])] : []),
      ...(nearest?.isCertain === true ? [] : [constructAdvice(name, EXPRESSION_SHAPES.value) ?? ALL_NAMES]),
    ].join(' '),
    patch: certainPatch(nearest, at('indicator'), meant?.id),
  }));
  return nearest?.isCertain === true ? meant : undefined;
}

const ALL_NAMES = 'The `indicators` of GET /public/v1/authoring-pack are the names of all of them.';

/** A name as other libraries write it, without theirs: `ta.ema`, `talib.EMA`, `EMAIndicator`. */
const bareName = (name: string): string => name.slice(name.lastIndexOf('.') + 1).replace(/_?indicator$/i, '');

/** Reports a column's name, such as `ema_50` or `bb_lower`, in place of an indicator's; false: it is something else. */
function reportColumn(name: string, { args, output }: Members, { log, at }: CallContext): boolean {
  const isFree = args === undefined || (isMembers(args) && Object.keys(args).length === 0);
  const call = columnMeant(name) ?? columnMeant(bareName(name)) ?? textCall(name);
  if (call === undefined || (call.output === undefined ? !isFree : output !== undefined)) return false;
  const [member, value] =
    call.output === undefined ? (['args', call.args] as const) : (['output', call.output] as const);
  const its =
    'length' in call.args && Object.keys(call.args).length === 1 ? 'its length belongs' : 'its arguments belong';
  const belongs = call.output === undefined ? `${its} in args` : 'its output is a member of its own';
  log.add('UNKNOWN_INDICATOR', at('indicator'), {
    message: `Unknown indicator ${shown(name)}; ${belongs}.`,
    suggestion: `Use indicator "${call.indicator}" with ${member} ${JSON.stringify(value)}.`,
    patch: [
      { op: 'replace', path: at('indicator'), value: call.indicator },
      { op: 'add', path: at(member), value },
    ],
  });
  return true;
}

/** The call that a text such as `macd(12, 26, 9)` writes. */
function textCall(
  text: string,
): { readonly indicator: string; readonly args: object; readonly output?: string } | undefined {
  const [, name = '', list = ''] = /^([\w.]+)\(([^()]{1,80})\)$/.exec(text) ?? [];
  const args = list === '' ? undefined : listedArguments({ kind: 'indicator', indicator: name }, 'args', list)?.value;
  return args && { indicator: findIndicator(bareName(name))!.id, args };
}

function nearestIndicator(name: string, log: IssueLog): Nearest | undefined {
  const bare = bareName(name);
  const known = synonymousIndicator(bare) ?? findIndicator(bare)?.id;
  if (known !== undefined) return { name: known, isCertain: true };
  const nearest = log.keepsErrors ? nearestName(bare, INDICATOR_NAMES) : undefined;
  return nearest && { ...nearest, isCertain: nearest.isCertain && isMistyped(bare, nearest.name) };
}

/** Reports the issues of a pattern node; true when it can be computed. */
export function checkPattern(node: Members, context: CallContext): boolean {
  const { log, at } = context;
  if (typeof node.name !== 'string') return false;
  const { name } = node;
  const definition = findPattern(name);
  if (definition !== undefined) {
    if (name !== definition.id) reportAlias(name, definition.id, at('name'), log);
    return checkArgs(node, definition, context);
  }
  const meant = reportSide(node, name, context) ?? reportUnknownPattern(name, context);
  if (meant !== undefined) checkArgs(node, meant, context);
  return false;
}

/** Reports a name that begins with a side, such as `bullish_engulfing`, and returns its pattern. */
function reportSide(node: Members, name: string, { log, at }: CallContext): PatternDefinition | undefined {
  const [, side, base] = /^(bullish|bearish)[_ -](.+)$/i.exec(name)?.map((part) => part.toLowerCase()) ?? [];
  const definition = base === undefined ? undefined : findPattern(base);
  if (definition === undefined) return undefined;
  log.add('UNKNOWN_PATTERN', at('name'), {
    message: `There is no candlestick pattern ${shown(name)}; the side is a member of its own.`,
    suggestion: `Use name "${definition.id}" with side "${side}".`,
    // Where the node names another side, only the author knows which was meant.
    patch:
      node.side === undefined || node.side === side
        ? [
            { op: 'replace', path: at('name'), value: definition.id },
            { op: node.side === undefined ? 'add' : 'replace', path: at('side'), value: side },
          ]
        : undefined,
  });
  return definition;
}

/** Reports a name that no pattern has, and returns the pattern that it certainly misspells. */
function reportUnknownPattern(name: string, { log, at }: CallContext): PatternDefinition | undefined {
  const nearest = log.keepsErrors ? nearestName(name.replace(/^cdl_?/i, ''), PATTERN_NAMES) : undefined;
  const meant = nearest && findPattern(nearest.name);
  log.add('UNKNOWN_PATTERN', at('name'), {
    message: `Unknown candlestick pattern ${shown(name)}.`,
    suggestion: suggestionFor(
      meant && { name: meant.id },
      PATTERNS.map(({ id }) => id),
    ),
    patch: certainPatch(nearest, at('name'), meant?.id),
  });
  return nearest?.isCertain === true ? meant : undefined;
}

function reportAlias(alias: string, id: string, path: string, log: IssueLog): void {
  log.add('ALIAS_USED', path, {
    message: `${shown(alias)} is an alias of ${id}.`,
    suggestion: `Write "${id}".`,
    patch: [{ op: 'replace', path, value: id }],
  });
}

function checkOutput({ output }: Members, definition: IndicatorDefinition, { log, at }: CallContext): boolean {
  const { id, outputs } = definition;
  const names = outputs.map(({ name }) => name);
  const path = at('output');
  if (output === undefined) {
    if (names.length === 1) return true;
    log.add('INDICATOR_OUTPUT_REQUIRED', path, {
      message: `${id} has several outputs, and the node does not name one.`,
      suggestion: `Set output to one of ${names.join(', ')}.`,
    });
    return false;
  }
  if (typeof output !== 'string') return false;
  if (names.includes(output)) return true;
  const synonym = names.length === 1 ? names[0] : outputMeant(output, definition);
  const nearest = synonym === undefined ? nearestName(output, names) : { name: synonym, isCertain: true };
  log.add('INDICATOR_OUTPUT_UNKNOWN', path, {
    message: `${id} has no output ${shown(output)}.`,
    suggestion: outputAdvice(id, output) ?? suggestionFor(nearest, names),
    patch: certainPatch(nearest, path, nearest?.name),
  });
  return false;
}

/** Pine's direction of supertrend is -1 in an uptrend, others' is 1: which was meant, only the author knows. */
const outputAdvice = (id: string, output: string): string | undefined =>
  id === 'supertrend' && /^dir/i.test(output)
    ? 'Use "trend", which is 1 in an uptrend and -1 in a downtrend; in Pine, direction has the opposite sign.'
    : undefined;

function checkSources(
  { source, sources }: Members,
  definition: IndicatorDefinition,
  { log, at }: CallContext,
): boolean {
  const inputs = seriesInputsOf(definition);
  const { id } = definition;
  if (inputs.length === 0) {
    const written = source === undefined ? 'sources' : 'source';
    if (source === undefined && sources === undefined) return true;
    log.add('UNKNOWN_FIELD', at(written), {
      message: `${id} reads bars and takes no source.`,
      suggestion: 'Remove it. Use `timeframe` and `instrument` to choose the bars.',
    });
    return false;
  }
  if (source !== undefined && sources !== undefined) {
    log.add('TYPE_MISMATCH', at('sources'), {
      message: '`source` and `sources` are both given.',
      suggestion: 'Keep one of the two.',
    });
    return false;
  }
  if (sources === undefined) {
    if (inputs.length === 1) return true;
    log.add('MISSING_FIELD', at('sources'), {
      message: `${id} reads ${inputs.length} series, and \`sources\` is missing.`,
      suggestion: `Set sources to a list of ${inputs.length} value expressions.`,
    });
    return false;
  }
  if (!Array.isArray(sources) || sources.length === inputs.length) return Array.isArray(sources);
  log.add('OUT_OF_RANGE', at('sources'), {
    message: `${id} takes ${inputs.length} sources, not ${sources.length}.`,
  });
  return false;
}
