// Matrix: many backtests written as one config and lists of the members that vary, instead of one config per backtest.
import { z } from 'zod';
import { isMembers, pointerTo, type PatchOperation } from '../../engine/index.ts';
import { problem, type ProblemError, type ProblemIssue } from '../http/problems.ts';
import { RUN_LABELS } from '../http/labelShapes.ts';
import { jsonBytes } from '../http/jsonBytes.ts';
import { Uuid } from '../http/routeSchemas.ts';
import { MAX_BATCH } from './backtestSchemas.ts';
import { MATRIX_EXAMPLES } from './backtestExamples.ts';

/** As many bytes as the largest batch may have, so that a matrix is never more work than its runs written out. */
const MAX_WRITTEN_BYTES = 4 * 1024 * 1024;

/** Characters of a value that a message repeats. */
const MAX_SHOWN = 100;

/** A list of values that a matrix runs through. */
const axis = <Value extends z.ZodType>(value: Value, description: string) =>
  z
    .array(value)
    .min(1)
    .max(MAX_BATCH)
    .check((context) => {
      const seen = new Set<string>();
      context.value.forEach((each: unknown, index) => {
        const text = JSON.stringify(each);
        const message = `${text.slice(0, MAX_SHOWN)} is in the list twice; keep one of them.`;
        const params = { code: 'DUPLICATE_MEMBER' };
        if (seen.has(text))
          context.issues.push({ code: 'custom', input: each, path: [index], continue: true, message, params });
        seen.add(text);
      });
    })
    .meta({ description });

const LISTS = {
  versions: axis(Uuid, 'Ids of ready versions.'),
  configs: axis(z.looseObject({}), 'Members that replace those of `config`, such as {"execution": …}.').optional(),
  symbols: axis(z.string(), 'For `signalInstrument.symbol`.').optional(),
  timeframes: axis(z.string(), 'For `timeframe`.').optional(),
  periods: axis(z.looseObject({}), 'For `range`: {start, end} each.').optional(),
  params: z
    .record(z.string(), axis(z.unknown(), ''))
    .optional()
    .meta({ description: 'Name → values of a declared param.' }),
  overrides: z
    .record(z.string(), axis(z.number(), ''))
    .optional()
    .meta({ description: 'JSON pointer into the payload → numbers.' }),
};

const Lists = z.strictObject({ ...LISTS, config: z.looseObject({}).default({}), ...RUN_LABELS });
type Lists = z.output<typeof Lists>;

export const MatrixBody = Lists.check((context) => {
  const { value } = context;
  const axes = axesOf(value);
  const count = axes.reduce((product, { values }) => product * values.length, 1);
  const tooMuch = (message: string): void => {
    context.issues.push({ code: 'custom', input: value, path: [], message, params: { code: 'OUT_OF_RANGE' } });
  };
  if (count > MAX_BATCH)
    return tooMuch(
      `The matrix has ${count} runs; ${MAX_BATCH} are allowed. Send it in parts, or search the space with ` +
        'POST /public/v1/sweeps.',
    );
  const { config, name, tags, note } = value;
  const written = axes.reduce((sum, { values, list }) => sum + list.length + widest(values), 0);
  const bytes = count * (jsonBytes({ config, name, tags, note }) + written);
  if (bytes > MAX_WRITTEN_BYTES)
    tooMuch(
      `The ${count} runs of the matrix would be ${bytes} bytes of configs; ${MAX_WRITTEN_BYTES} are allowed. Send ` +
        'fewer runs, or a smaller config.',
    );
}).meta({
  id: 'BacktestMatrix',
  examples: MATRIX_EXAMPLES,
  description:
    `A backtest of every combination, at most ${MAX_BATCH}. They are numbered from 0 in the order versions, configs, ` +
    'symbols, timeframes, periods, params, overrides; the last list varies fastest.',
});
export type MatrixBody = z.output<typeof MatrixBody>;

/** The bytes of the longest of the values. */
const widest = (values: readonly unknown[]): number =>
  values.reduce<number>((most, value) => Math.max(most, jsonBytes(value)), 0);

/** One list of the matrix: the member of a run that it sets, and where it stands in the request. */
interface Axis {
  readonly values: readonly unknown[];
  /** The list, as a pointer into the request. */
  readonly list: string;
  /** The members that value number `index` sets, as pointers into a run. */
  readonly sets: (index: number) => readonly string[];
  readonly set: (config: Members, value: unknown) => Members;
}
type Members = Readonly<Record<string, unknown>>;

/** A member as an object to which members are added; one that is not an object is replaced. */
const membersOf = (value: unknown): Members => (isMembers(value) ? value : {});

function axesOf(matrix: Lists): Axis[] {
  const axes: Axis[] = [];
  const add = (list: string, values: readonly unknown[] | undefined, at: string, set: Axis['set']): void => {
    if (values !== undefined) axes.push({ values, list, sets: () => [at], set });
  };
  add('/versions', matrix.versions, '/strategyVersionId', (config) => config);
  const { configs } = matrix;
  if (configs !== undefined)
    axes.push({
      values: configs,
      list: '/configs',
      sets: (index) => Object.keys(configs[index]).map((name) => pointerTo('/config', name)),
      set: (config, value) => ({ ...config, ...membersOf(value) }),
    });
  add('/symbols', matrix.symbols, '/config/signalInstrument/symbol', (config, symbol) => ({
    ...config,
    signalInstrument: { ...membersOf(config.signalInstrument), symbol },
  }));
  add('/timeframes', matrix.timeframes, '/config/timeframe', (config, timeframe) => ({ ...config, timeframe }));
  add('/periods', matrix.periods, '/config/range', (config, range) => ({ ...config, range }));
  for (const owner of ['params', 'overrides'] as const)
    for (const [name, values] of Object.entries(matrix[owner] ?? {}))
      add(pointerTo(`/${owner}`, name), values, pointerTo(`/config/${owner}`, name), (config, value) => ({
        ...config,
        [owner]: { ...membersOf(config[owner]), [name]: value },
      }));
  return axes;
}

/** The members that are not absent. */
const given = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** The runs of a matrix in order, as POST /backtests takes them, and the way back from a run to the request. */
export function runsOf(matrix: MatrixBody) {
  const { name, tags, note } = matrix;
  const axes = axesOf(matrix);
  const count = axes.reduce((product, { values }) => product * values.length, 1);
  /** Which value of each list run number `run` has; the last list varies fastest. */
  const placesOf = (run: number): number[] => {
    let rest = run;
    return axes
      .toReversed()
      .map(({ values }) => {
        const place = rest % values.length;
        rest = Math.floor(rest / values.length);
        return place;
      })
      .toReversed();
  };
  const items = Array.from({ length: count }, (_, run) => {
    const places = placesOf(run);
    const config = axes.reduce<Members>(
      (made, axis, which) => axis.set(made, axis.values[places[which]]),
      matrix.config,
    );
    return { strategyVersionId: matrix.versions[places[0]], config, ...given({ name, tags, note }) };
  });
  /** Where a member of run number `run` stands in the request. */
  const placeOf = (run: number, path: string): string => {
    const places = placesOf(run);
    // A later list replaces what an earlier one sets.
    for (const [which, { list, sets }] of [...axes.entries()].reverse())
      for (const at of sets(places[which]))
        if (path === at || path.startsWith(`${at}/`)) {
          const rest = list === '/configs' ? path.slice('/config'.length) : path.slice(at.length);
          return `${list}/${places[which]}${rest}`;
        }
    return path;
  };
  return { items, placeOf };
}

/**
 * The refusal of a run with the places of its issues in the matrix.
 * @param placeOf from a pointer into the run
 */
export function inMatrix(error: ProblemError, root: string, placeOf: (path: string) => string): ProblemError {
  const { code, message, detail, headers, extras } = error;
  const moved = (path: string): string => (path.startsWith(root) ? placeOf(path.slice(root.length)) : path);
  const issues = error.issues?.map((issue) => ({ ...issue, ...movedPatch(issue, moved), path: moved(issue.path) }));
  return problem(code, { message, detail, headers, extras, ...(issues && { issues }) });
}

/** A patch of the base config, or one that replaces a value of a list. Others would change the lists' other runs. */
function movedPatch({ path, patch }: ProblemIssue, moved: (path: string) => string): Pick<ProblemIssue, 'patch'> {
  const steps = (patch as readonly PatchOperation[] | undefined)?.map((step) =>
    step.op === 'move'
      ? { ...step, from: moved(step.from), path: moved(step.path) }
      : { ...step, path: moved(step.path) },
  );
  const isSafe = steps?.every((step) => step.path.startsWith('/config/') || step.op === 'replace') ?? false;
  return { patch: isSafe && path !== '' ? steps : undefined };
}
