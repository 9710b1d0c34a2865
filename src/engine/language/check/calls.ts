// Calls: an indicator or pattern by name with its arguments, output and sources, checked against the registries.
import { argIssue } from '../../indicators/arguments.ts';
import type { ArgDefinition, IndicatorDefinition } from '../../indicators/definition.ts';
import { findIndicator, INDICATORS } from '../../indicators/registry.ts';
import { findPattern, PATTERNS } from '../../patterns/patternRegistry.ts';
import { seriesInputsOf } from '../canonical/canonicalizer.ts';
import { isParamRef } from '../grammar/shapes.ts';
import type { IssueCode, IssueLog } from './issues.ts';
import type { PatchOperation } from './patch.ts';
import { nearestName, plain, suggestionFor, type Nearest } from './nearest.ts';
import { isMembers, shown } from './displayNames.ts';
import { synonymousArgument, synonymousIndicator } from '../grammar/synonyms.ts';
import { MARKET_FIELDS } from '../grammar/words.ts';

type Members = Readonly<Record<string, unknown>>;
/** What a call is checked with. */
export interface CallContext {
  readonly log: IssueLog;
  readonly at: (...member: readonly (string | number)[]) => string;
  /** The default value of a param. Undefined when the param is not declared, which is then reported. */
  readonly paramDefault: (name: string, pointer: string) => number | boolean | string | undefined;
}

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
    const synonym = synonymousIndicator(name);
    const nearest =
      synonym !== undefined
        ? { name: synonym, isCertain: true }
        : log.keepsErrors
          ? nearestName(name, INDICATOR_NAMES)
          : undefined;
    const meant = nearest && findIndicator(nearest.name);
    log.add('UNKNOWN_INDICATOR', at('indicator'), () => ({
      message: `Unknown indicator ${shown(name)}.`,
      suggestion: meant
        ? suggestionFor({ name: meant.id }, [])
        : 'The `indicators` of GET /public/v1/authoring-pack are the names of all of them.',
      patch: replaceBy(nearest, at('indicator'), meant?.id),
    }));
    if (nearest?.isCertain !== true || meant === undefined) return false;
    definition = meant;
  } else if (name !== definition.id) {
    reportAlias(name, definition.id, at('indicator'), log);
  }
  if (!checkArgs(node, definition, definition.id, context, talibNames(definition))) isValid = false;
  if (!checkOutput(node, definition, context)) isValid = false;
  return checkSources(node, definition, context) && isValid;
}

export function checkPattern(node: Members, context: CallContext): boolean {
  const { log, at } = context;
  if (typeof node.name !== 'string') return false;
  const { name } = node;
  const definition = findPattern(name);
  if (definition !== undefined) {
    if (name !== definition.id) reportAlias(name, definition.id, at('name'), log);
    return checkArgs(node, definition, definition.id, context, {});
  }
  const sided = /^(bullish|bearish)[_ -](.+)$/i.exec(name);
  const base = sided && findPattern(sided[2].toLowerCase());
  if (sided && base) {
    const side = sided[1].toLowerCase();
    log.add('UNKNOWN_PATTERN', at('name'), {
      message: `There is no candlestick pattern ${shown(name)}; the side is a member of its own.`,
      suggestion: `Use name "${base.id}" with side "${side}".`,
      patch: [
        { op: 'replace', path: at('name'), value: base.id },
        { op: node.side === undefined ? 'add' : 'replace', path: at('side'), value: side },
      ],
    });
    checkArgs(node, base, base.id, context, {});
    return false;
  }
  const nearest = log.keepsErrors ? nearestName(name.replace(/^cdl_?/i, ''), PATTERN_NAMES) : undefined;
  const meant = nearest && findPattern(nearest.name);
  log.add('UNKNOWN_PATTERN', at('name'), {
    message: `Unknown candlestick pattern ${shown(name)}.`,
    suggestion: suggestionFor(
      meant && { name: meant.id },
      PATTERNS.map(({ id }) => id),
    ),
    patch: replaceBy(nearest, at('name'), meant?.id),
  });
  if (nearest?.isCertain === true && meant) checkArgs(node, meant, meant.id, context, {});
  return false;
}

function reportAlias(alias: string, id: string, path: string, log: IssueLog): void {
  log.add('ALIAS_USED', path, {
    message: `${shown(alias)} is an alias of ${id}.`,
    suggestion: `Write "${id}".`,
    patch: [{ op: 'replace', path, value: id }],
  });
}

function replaceBy(nearest: Nearest | undefined, path: string, value: unknown): readonly PatchOperation[] | undefined {
  return nearest?.isCertain === true ? [{ op: 'replace', path, value }] : undefined;
}

/** TA-Lib's argument names → ours, where they differ. */
function talibNames(definition: IndicatorDefinition): Readonly<Record<string, string>> {
  return definition.talib?.args ?? {};
}

/** Reports the issues of a call's args. Exported for its tests: what can be wrong depends on the definition. */
export function checkArgs(
  node: Members,
  definition: { readonly id: string; readonly args: readonly ArgDefinition[]; readonly inputs?: readonly string[] },
  id: string,
  context: CallContext,
  otherNames: Readonly<Record<string, string>>,
): boolean {
  const args = node.args === undefined ? {} : node.args;
  if (!isMembers(args)) return false;
  let isValid = true;
  const renamed = new Set<string>();
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined) continue;
    const known = definition.args.find((arg) => arg.name === name);
    const isField =
      name === 'source' && definition.inputs !== undefined && seriesInputsOf({ inputs: definition.inputs }).length > 0;
    if (isField) isValid = checkSourceField(node, value, context) && isValid;
    else if (known !== undefined) isValid = checkArg(known, value, context) && isValid;
    else isValid = reportUnknownArg(name, args, definition.args, id, renamed, context, otherNames);
  }
  for (const { name, required, default: value } of definition.args) {
    if (required !== true || args[name] !== undefined || renamed.has(name)) continue;
    isValid = false;
    context.log.add('INDICATOR_ARG_REQUIRED', context.at('args', name), {
      message: `${id} requires the argument ${name}.`,
      suggestion: `For example ${JSON.stringify(value)}.`,
    });
  }
  return isValid;
}

/** For an issue that is only counted: its text is never read. */
const ONLY_COUNTED = { message: '' };

function reportUnknownArg(
  name: string,
  args: Members,
  definitions: readonly ArgDefinition[],
  id: string,
  renamed: Set<string>,
  { log, at }: CallContext,
  otherNames: Readonly<Record<string, string>>,
): false {
  if (!log.keepsErrors) {
    log.add('UNKNOWN_INDICATOR_ARG', '', ONLY_COUNTED);
    return false;
  }
  const names = definitions.map((arg) => arg.name);
  const free = names.filter((one) => args[one] === undefined && !renamed.has(one));
  const synonym = (Object.hasOwn(otherNames, name) ? otherNames[name] : undefined) ?? synonymousArgument(name, free);
  const nearest =
    synonym !== undefined && free.includes(synonym) ? { name: synonym, isCertain: true } : nearestName(name, free);
  const from = at('args', name);
  if (nearest?.isCertain === true) renamed.add(nearest.name);
  log.add('UNKNOWN_INDICATOR_ARG', from, {
    message: `${id} has no argument ${shown(name)}.`,
    suggestion: names.length === 0 ? `Remove it: ${id} takes no arguments.` : suggestionFor(nearest, names),
    patch: nearest?.isCertain === true ? [{ op: 'move', from, path: at('args', nearest.name) }] : undefined,
  });
  return false;
}

function checkArg(definition: ArgDefinition, value: unknown, { log, at, paramDefault }: CallContext): boolean {
  const path = at('args', definition.name);
  let given = value;
  if (isParamRef(value)) {
    const byDefault = paramDefault(value.param, path);
    if (byDefault === undefined) return false;
    given = typeof byDefault === 'boolean' && definition.type !== 'bool' ? Number(byDefault) : byDefault;
  }
  const issue = argIssue(definition, given);
  if (issue === undefined) return true;
  const repair = isParamRef(value) ? undefined : repairOf(definition, value);
  const code: IssueCode = issue.code;
  log.add(code, path, {
    message: isParamRef(value)
      ? `The default of param ${shown(value.param)} does not fit here: ${issue.message}.`
      : `${issue.message}.`,
    suggestion: repair === undefined ? undefined : `Use ${JSON.stringify(repair)}.`,
    patch: repair === undefined ? undefined : [{ op: 'replace', path, value: repair }],
  });
  return false;
}

/**
 * The value that was certainly meant: a number written as text, the bound that was exceeded, the one similar choice.
 */
function repairOf(definition: ArgDefinition, value: unknown): number | string | undefined {
  const { type, min = -Infinity, max = Infinity, values = [] } = definition;
  if (type === 'choice') {
    const nearest = typeof value === 'string' ? nearestName(value, values) : undefined;
    return nearest?.isCertain === true ? nearest.name : undefined;
  }
  if (type === 'bool') return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  const clamped = Math.min(Math.max(number, min), max);
  return argIssue(definition, clamped) === undefined ? clamped : undefined;
}

function checkSourceField(node: Members, value: unknown, { log, at }: CallContext): boolean {
  const path = at('args', 'source');
  if (node.source !== undefined || node.sources !== undefined) {
    log.add('TYPE_MISMATCH', path, {
      message: 'The source is given twice: as a market field in args.source, and as an expression.',
      suggestion: 'Keep one of the two.',
    });
    return false;
  }
  if ((MARKET_FIELDS as readonly unknown[]).includes(value)) return true;
  const nearest = typeof value === 'string' ? nearestName(value, MARKET_FIELDS) : undefined;
  log.add('INDICATOR_ARG_OUT_OF_RANGE', path, {
    message: `${shown(value)} is not a market field.`,
    suggestion: suggestionFor(nearest, MARKET_FIELDS),
    patch: replaceBy(nearest, path, nearest?.name),
  });
  return false;
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
  const synonym = names.length === 1 ? names[0] : synonymousOutput(output, definition);
  const nearest = synonym === undefined ? nearestName(output, names) : { name: synonym, isCertain: true };
  log.add('INDICATOR_OUTPUT_UNKNOWN', path, {
    message: `${id} has no output ${shown(output)}.`,
    suggestion: suggestionFor(nearest, names),
    patch: replaceBy(nearest, path, nearest?.name),
  });
  return false;
}

/** The output that TA-Lib's name stands for, or ours with the indicator's before it: `upper_band`, `macd_signal`. */
function synonymousOutput(word: string, { id, outputs, talib }: IndicatorDefinition): string | undefined {
  const wanted = plain(word);
  const named = outputs.find(({ name }, at) =>
    [talib?.outputs?.[at] ?? '', `${id}${name}`, `${name}band`, `${name}line`].some((one) => plain(one) === wanted),
  );
  return named?.name;
}

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
