// The arguments of a call of an indicator or pattern, checked against its definition.
import { argIssue, seriesInputsOf } from '../../indicators/arguments.ts';
import type { ArgDefinition, IndicatorDefinition } from '../../indicators/definition.ts';
import { isParamRef } from '../grammar/shapes.ts';
import { synonymousArgument } from '../hints/indicatorSynonyms.ts';
import { MARKET_FIELDS } from '../../definitions/words.ts';
import { numericText, shown } from '../issues/displayNames.ts';
import type { IssueLog } from '../issues/issues.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { nearestName, certainPatch, suggestionFor } from '../issues/nearest.ts';
import { fieldColumn } from '../text/columns.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

/** What a call is checked with. */
export interface CallContext {
  readonly log: IssueLog;
  readonly at: (...member: readonly (string | number)[]) => string;
  /** The default value of a param. Undefined when the param is not declared, which is then reported. */
  readonly paramDefault: (name: string, pointer: string) => number | boolean | string | undefined;
  readonly isParam: (name: string) => boolean;
}

/** What the arguments of an indicator or a pattern are checked against. */
interface Callee extends Pick<IndicatorDefinition, 'id' | 'args'> {
  readonly inputs?: IndicatorDefinition['inputs'];
  /** For a pattern, only its name in TA-Lib. */
  readonly talib?: IndicatorDefinition['talib'] | string;
}

/** Reports the issues of a call's args; true when there are none. */
export function checkArgs(node: Members, definition: Callee, context: CallContext): boolean {
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
    else isValid = reportUnknownArg(name, args, definition, renamed, context, (one) => node[one] === undefined);
  }
  for (const { name, required, default: value } of definition.args) {
    if (required !== true || args[name] !== undefined || renamed.has(name)) continue;
    isValid = false;
    context.log.add('INDICATOR_ARG_REQUIRED', context.at('args', name), {
      message: `${definition.id} requires the argument ${name}.`,
      suggestion: `For example ${JSON.stringify(value)}.`,
    });
  }
  return isValid;
}

/** Members of a call that authors write among its arguments. */
const BESIDE_ARGS: ReadonlySet<string> = new Set(['timeframe', 'offset', 'output', 'instrument']);

/** The details of an issue that is only counted, whose text is never read. */
const ONLY_COUNTED = { message: '' };

function reportUnknownArg(
  name: string,
  args: Members,
  { id, args: definitions, talib }: Callee,
  renamed: Set<string>,
  { log, at }: CallContext,
  isFreeBeside: (name: string) => boolean,
): false {
  if (!log.keepsErrors) {
    log.add('UNKNOWN_INDICATOR_ARG', '', ONLY_COUNTED);
    return false;
  }
  const names = definitions.map((arg) => arg.name);
  const free = names.filter((one) => args[one] === undefined && !renamed.has(one));
  const byTalib = (typeof talib === 'object' ? talib.args : undefined) ?? {};
  const synonym = (Object.hasOwn(byTalib, name) ? byTalib[name] : undefined) ?? synonymousArgument(name, free);
  // Compared with all names: what is nearest to one that is given already is not another one.
  const isSynonym = synonym !== undefined && free.includes(synonym);
  const nearest = isSynonym ? { name: synonym, isCertain: true } : nearestName(name, names);
  const isCertain = nearest?.isCertain === true && free.includes(nearest.name);
  const from = at('args', name);
  // Of an argument of that name, there is none: it is the member beside the arguments.
  const isBeside = !names.includes(name) && BESIDE_ARGS.has(name) && isFreeBeside(name);
  if (isCertain) renamed.add(nearest.name);
  log.add('UNKNOWN_INDICATOR_ARG', from, {
    message: `${id} has no argument ${shown(name)}.`,
    suggestion: isBeside
      ? `Write it beside args, as ${name}.`
      : names.length === 0
        ? `Remove it: ${id} takes no arguments.`
        : suggestionFor(nearest, names),
    patch: isBeside
      ? [{ op: 'move', from, path: at(name) }]
      : isCertain
        ? [{ op: 'move', from, path: at('args', nearest.name) }]
        : undefined,
  });
  return false;
}

function checkArg(definition: ArgDefinition, value: unknown, context: CallContext): boolean {
  const { log, at, paramDefault, isParam } = context;
  const path = at('args', definition.name);
  let given = value;
  if (isParamRef(value)) {
    const byDefault = paramDefault(value.param, path);
    if (byDefault === undefined) return false;
    given = typeof byDefault === 'boolean' && definition.type !== 'bool' ? Number(byDefault) : byDefault;
  }
  const issue = argIssue(definition, given);
  if (issue === undefined) return true;
  const repair = isParamRef(value) ? undefined : (paramMeant(value, isParam) ?? repairOf(definition, value));
  const code: IssueCode = issue.code;
  log.add(code, path, {
    message: isParamRef(value)
      ? `The default of param ${shown(value.param)} does not fit here: ${issue.message}.`
      : `${issue.message}.`,
    suggestion: repair === undefined ? adviceOn(definition, value) : `Use ${JSON.stringify(repair)}.`,
    patch: repair === undefined ? undefined : [{ op: 'replace', path, value: repair }],
  });
  return false;
}

/**
 * The value that was meant: a number written as text, the one similar choice. What a number out of bounds, without its
 * sign or of zero stands for, only the author knows.
 */
function repairOf(definition: ArgDefinition, value: unknown): number | string | undefined {
  const { name, type, values = [] } = definition;
  if (type === 'choice') {
    if (name.endsWith('ma_type') && Number.isInteger(value) && Number(value) < TALIB_MA_TYPES)
      return values[Number(value)];
    const nearest = typeof value === 'string' ? nearestName(value, values) : undefined;
    return nearest?.isCertain === true ? nearest.name : undefined;
  }
  if (type === 'bool') return undefined;
  const number = numericText(value);
  return number !== undefined && argIssue(definition, number) === undefined ? number : undefined;
}

/** The declared param that a text refers to as other languages do: `fast`, `$fast`, `{{fast}}`, `params.fast`. */
function paramMeant(value: unknown, isParam: CallContext['isParam']): { readonly param: string } | undefined {
  const [, name] = (typeof value === 'string' && PARAM_TEXT.exec(value)) || [];
  return name !== undefined && isParam(name) ? { param: name } : undefined;
}
const PARAM_TEXT = /^(?:\$?\{{0,2}\s*|(?:self\.)?(?:params?|inputs?|p)\.)([a-z_]\w{0,99})\s*\}{0,2}$/i;

/** TA-Lib numbers its averages, and ours come in the order of its numbers, beginning with sma. */
const TALIB_MA_TYPES = 9;

/** A param is an object; `"$fast"` and `"fast"` are texts. */
function adviceOn({ type, default: usual }: ArgDefinition, value: unknown): string | undefined {
  if (type !== 'int' && type !== 'float') return undefined;
  if (isParamRef(value)) return undefined;
  const isText = typeof value === 'string' && numericText(value) === undefined;
  return isText ? 'Give a number, or a parameter {"param": "<name>"}.' : `Use ${String(usual)}, the usual value.`;
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
  const column = typeof value === 'string' ? fieldColumn(value) : undefined;
  if (column !== undefined) {
    // In a graph, the source is the id of a node.
    const isGraph = path.startsWith('/signalGraph');
    const source = `${isGraph ? 'a reference to ' : ''}${JSON.stringify(column)}`;
    log.add('INDICATOR_ARG_OUT_OF_RANGE', path, {
      message: `${shown(value)} is not a field of the bar; the indicator ${column.indicator} computes it.`,
      suggestion: `Remove it, and write \`source\` beside \`args\`: ${source}.`,
      patch: isGraph
        ? undefined
        : [
            { op: 'add', path: at('source'), value: column },
            { op: 'remove', path },
          ],
    });
    return false;
  }
  const nearest = typeof value === 'string' ? nearestName(value, MARKET_FIELDS) : undefined;
  log.add('INDICATOR_ARG_OUT_OF_RANGE', path, {
    message: `${shown(value)} is not a market field.`,
    suggestion: suggestionFor(nearest, MARKET_FIELDS),
    patch: certainPatch(nearest, path, nearest?.name),
  });
  return false;
}
