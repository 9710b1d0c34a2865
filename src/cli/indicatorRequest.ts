// One request for an indicator: looked up by our names or TA-Lib's, and computed on bars.
import {
  canonicalField,
  computeIndicator,
  findIndicator,
  findPattern,
  findTalib,
  INDICATORS,
  nearestName,
  PATTERNS,
  resolveArgs,
  resolveTalibArgs,
} from '../engine/index.ts';
import type { Args, Bars, Computable, IndicatorDefinition, PatternDefinition } from '../engine/index.ts';

/**
 * One line of a batch, by `name` (ours) or `talib`. Inputs are bar columns or series, in call order. Nothing in it is
 * trusted.
 */
export interface IndicatorRequest {
  readonly name?: unknown;
  readonly talib?: unknown;
  readonly args?: unknown;
  readonly inputs?: unknown;
}

export interface IndicatorAnswer {
  readonly lookback: number;
  /** Keyed by our output names, or by TA-Lib's for a request by `talib`. */
  readonly outputs: ReadonlyMap<string, Float64Array>;
}

interface RequestError {
  readonly error: { readonly code: string; readonly message: string };
}

/** A definition with its arguments, the names of its outputs, and the columns it reads. */
interface Prepared {
  readonly computable: Computable;
  readonly args: Args;
  readonly names: readonly string[];
  readonly columns: readonly string[];
  /** Outputs that TA-Lib gives as whole numbers; before the lookback they are 0, not missing. */
  readonly wholeNumbers: readonly string[];
}

/** TA-Lib's outputs of type int, besides those of the candlestick patterns. */
const INTEGER_OUTPUTS = ['integer', 'minidx', 'maxidx', 'trend', 'swinghigh', 'swinglow'];
const PATTERN_COLUMNS = ['open', 'high', 'low', 'close'];

const fail = (code: string, message: string): RequestError => ({ error: { code, message } });

/** Computes what one request asks for. An error is an answer too: the other lines of a batch are still computed. */
export function answerRequest(request: IndicatorRequest, bars: Bars): IndicatorAnswer | RequestError {
  const prepared = prepare(request);
  if ('error' in prepared) return prepared;
  const { computable, args, names, columns, wholeNumbers } = prepared;
  const inputs: Float64Array[] = [];
  for (const name of columns) {
    const column = columnOf(bars, name);
    if (column === undefined)
      return fail('UNKNOWN_INPUT', `There is no column "${name}". Use one of ${columnNames(bars).join(', ')}.`);
    inputs.push(column);
  }
  const lookback = computable.lookback(args);
  const outputs = computeIndicator(computable, args, inputs);
  outputs.forEach((output, index) => {
    if (wholeNumbers.includes(names[index])) output.fill(0, 0, Math.min(lookback, output.length));
  });
  return { lookback, outputs: new Map(names.map((name, index) => [name, outputs[index]])) };
}

function prepare(request: IndicatorRequest): Prepared | RequestError {
  if (typeof request !== 'object' || request === null)
    return fail('INVALID_REQUEST', 'A request must be a JSON object.');
  const { name, talib, args = {}, inputs } = request;
  if ((typeof name === 'string') === (typeof talib === 'string')) {
    return fail('INVALID_REQUEST', 'A request needs either "name" (one of our ids) or "talib" (a TA-Lib function).');
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return fail('TYPE_MISMATCH', '"args" must be an object.');
  const areNames = Array.isArray(inputs) && inputs.every((input) => typeof input === 'string');
  if (inputs !== undefined && !areNames) return fail('TYPE_MISMATCH', '"inputs" must be a list of column names.');
  const given = areNames ? inputs : undefined;
  const asked = (name ?? talib) as string;
  const isTalib = typeof talib === 'string';
  const definition = isTalib ? findTalib(asked) : findIndicator(asked);
  if (definition !== undefined) return prepareIndicator(definition, args as Args, given, isTalib);
  const pattern = findPattern(isTalib ? asked.toUpperCase() : asked);
  if (pattern === undefined || isTalib !== (pattern.talib === asked.toUpperCase())) {
    return unknownName(asked, isTalib);
  }
  return preparePattern(pattern, args as Args, given, isTalib);
}

function unknownName(asked: string, isTalib: boolean): RequestError {
  const names = isTalib
    ? [...INDICATORS.flatMap(({ talib }) => talib?.name ?? []), ...PATTERNS.map(({ talib }) => talib)]
    : [...INDICATORS, ...PATTERNS].map(({ id }) => id);
  const nearest = nearestName(asked, names);
  const suggestion = nearest === undefined ? 'docs/indicators.md lists all names.' : `Did you mean "${nearest.name}"?`;
  const what = isTalib ? 'TA-Lib function' : 'indicator or pattern';
  return fail('UNKNOWN_INDICATOR', `There is no ${what} named "${asked}". ${suggestion}`);
}

function prepareIndicator(
  definition: IndicatorDefinition,
  given: Args,
  inputs: readonly string[] | undefined,
  isTalib: boolean,
): Prepared | RequestError {
  const { source, ...rest } = given;
  const takesField = source !== undefined && definition.inputs.includes('source');
  if (takesField && (inputs !== undefined || typeof source !== 'string')) {
    return fail(
      'TYPE_MISMATCH',
      inputs === undefined ? 'source must be the name of a column.' : 'Give "inputs" or args.source, not both.',
    );
  }
  const { args, issues } = (isTalib ? resolveTalibArgs : resolveArgs)(definition, takesField ? rest : given);
  if (issues.length > 0) return fail(issues[0].code, issues.map(({ message }) => message).join('; '));
  const columns = inputs ?? definition.inputs.map((input) => (input === 'source' ? String(source ?? 'close') : input));
  if (columns.length !== definition.inputs.length) {
    return fail(
      'INPUT_COUNT',
      `${definition.id} reads ${definition.inputs.length} columns (${definition.inputs.join(', ')}), not ` +
        `${columns.length}.`,
    );
  }
  if (inputs === undefined && columns.some((column) => column === 'source2' || column === 'periods')) {
    return fail('INPUT_REQUIRED', `${definition.id} reads several series. Name them in "inputs".`);
  }
  const names = isTalib ? definition.talib!.outputs : definition.outputs.map((output) => output.name);
  return { computable: definition, args, names, columns, wholeNumbers: isTalib ? INTEGER_OUTPUTS : [] };
}

function preparePattern(
  pattern: PatternDefinition,
  given: Args,
  inputs: readonly string[] = PATTERN_COLUMNS,
  isTalib: boolean,
): Prepared | RequestError {
  const { args, issues } = resolveArgs(pattern, given);
  if (issues.length > 0) return fail(issues[0].code, issues.map(({ message }) => message).join('; '));
  if (inputs.length !== PATTERN_COLUMNS.length)
    return fail('INPUT_COUNT', `${pattern.id} reads open, high, low, close.`);
  const computable: Computable = {
    outputs: [pattern],
    lookback: (resolved) => pattern.lookback(resolved),
    compute: ([open, high, low, close], resolved, [out]) => pattern.compute(open, high, low, close, resolved, out),
  };
  const names = [isTalib ? 'integer' : 'value'];
  return { computable, args, names, columns: inputs, wholeNumbers: isTalib ? names : [] };
}

const COLUMNS = ['open', 'high', 'low', 'close', 'volume', 'time'] as const;
const DERIVED: Readonly<Record<string, (bars: Bars, row: number) => number>> = {
  hl2: ({ high, low }, row) => (high[row] + low[row]) / 2,
  hlc3: ({ high, low, close }, row) => (high[row] + low[row] + close[row]) / 3,
  ohlc4: ({ open, high, low, close }, row) => (open[row] + high[row] + low[row] + close[row]) / 4,
};

const columnNames = (bars: Bars): string[] => [...COLUMNS, ...Object.keys(DERIVED), ...bars.series.keys()];

function columnOf(bars: Bars, name: string): Float64Array | undefined {
  const column = COLUMNS.find((one) => one === name);
  if (column !== undefined) return bars[column];
  const series = bars.series.get(name);
  if (series !== undefined) return series;
  const derived = canonicalField(name);
  if (!Object.hasOwn(DERIVED, derived)) return undefined;
  return Float64Array.from({ length: bars.length }, (_, row) => DERIVED[derived](bars, row));
}
