// Columns: values and conditions of the strategy language on the bars of one instrument, without a run. They are those
// that a run would compute: a value never depends on the range (semantics §1.1).
import type { Market, Timeframe } from './bars/bars.ts';
import { rowsInRange } from './bars/rowRange.ts';
import { numberColumn, type Table, type TableColumn } from './bars/table.ts';
import { ColumnStore } from './evaluate/columnStore.ts';
import { readsInstruments } from './evaluate/crossSections.ts';
import { EvaluatedPlan } from './evaluate/evaluatePlan.ts';
import { hasBit } from './kernels/bits.ts';
import { inferLookback } from './language/canonical/lookback.ts';
import { foreignSeries, type SeriesName } from './language/canonical/foreignSeries.ts';
import { checkStrategy } from './language/check/checkStrategy.ts';
import type { LanguageLimits } from './language/check/tierLimits.ts';
import type { RunnableExpression } from './language/grammar/ast.ts';
import { textOf } from './language/grammar/nodeTexts.ts';
import { isMembers } from './language/grammar/payloadObjects.ts';
import { typeOfKind } from './language/grammar/shapes.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import type { PatchOperation } from './language/issues/patch.ts';
import { pointerTo } from './language/pointer.ts';
import { prepareStrategy } from './language/prepare/prepare.ts';
import { compilePlan } from './plan/compile.ts';
import { estimatePlan, estimateRun } from './plan/estimate.ts';
import type { Plan, PlannedEntry } from './plan/plan.ts';
import type { RunControl } from './task.ts';

interface ColumnsRequest {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  /** Expressions by the names of their columns. Nothing in them is trusted. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** The zone of times that name none; default UTC. */
  readonly timezone?: string | undefined;
}

interface PlannedColumn {
  readonly name: string;
  readonly type: 'value' | 'condition';
  /** The expression as a person reads it. */
  readonly text: string;
}

interface PlannedColumns {
  readonly columns: readonly PlannedColumn[];
  /** Bars before the first value of every column. */
  readonly lookback: number;
  /** Series of other instruments that the columns read. */
  readonly foreign: readonly SeriesName[];
  readonly plan: Plan;
}

/**
 * Checks and plans columns. The paths of issues begin with `/columns/NAME` or `/timezone`.
 * @param knownSymbols symbols with market data
 */
export function planColumns(
  { symbol, timeframe, columns, timezone }: ColumnsRequest,
  limits: LanguageLimits,
  knownSymbols: ReadonlySet<string>,
):
  | { readonly ok: true; readonly planned: PlannedColumns }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] } {
  const asked = Object.entries(columns).map(([name, expression]) => ({ name, expression, type: typeOf(expression) }));
  const defaults = { timeframe, instrument: { symbol }, ...(timezone !== undefined && { timezone }) };
  const strategy = { kind: 'strategy', defaults, entry: asked.map(entryOf) };
  const places = placesOf(asked);
  const nodes = countNodes(columns);
  if (nodes > limits.nodes) return { ok: false, issues: [tooManyNodes(nodes, limits.nodes)] };
  // A column is not an entry, and what stands around it is not the author's: how many there are, is checked above.
  const widened = { ...limits, entryConditions: Infinity, nodes: Infinity };
  const given = { limits: widened, knownSymbols, baseTimeframe: timeframe };
  const outcome = checkStrategy({ strategyAst: { protocol: 'svc.strategy', version: 1, strategy } }, given);
  if (outcome.compiled === null) return { ok: false, issues: columnIssues(outcome.issues, places) };
  const { strategyAst } = outcome.compiled;
  const prepared = prepareStrategy(strategyAst, {}, {}, { timeframe, symbol });
  if (!prepared.ok) return { ok: false, issues: columnIssues(prepared.issues, places) };
  const plan = compilePlan(
    prepared.strategy,
    { symbol, timeframe },
    { pointerOf: prepared.pointerOf, slippageAtrPeriod: null, recordsConditions: false },
  );
  const issues = asked.flatMap(({ name, type }, index) => unavailable(name, type, plan, plan.entries[index]));
  if (issues.length > 0) return { ok: false, issues };
  const planned: PlannedColumns = {
    columns: asked.map(({ name, type }, index) => {
      const { trigger, rank } = prepared.strategy.entries[index];
      return { name, type, text: textOf((type === 'value' ? rank : trigger) as RunnableExpression) };
    }),
    lookback: inferLookback(prepared.strategy, timeframe),
    foreign: foreignSeries(strategyAst, symbol, timeframe).filter((series) => series.symbol !== symbol),
    plan,
  };
  return { ok: true, planned };
}

/**
 * How long computing columns takes, and the bytes that they hold.
 * @param rowsOf bars of a series
 */
export const estimateColumns = (
  { plan }: PlannedColumns,
  symbol: string,
  rowsOf: (series: SeriesName) => number,
): { readonly ns: number; readonly bytes: number } => estimateRun(estimatePlan(plan, 1), [symbol], rowsOf);

interface ComputedColumns {
  /** The bars of the range on which the filter is true, in order. */
  readonly rows: Int32Array;
  /** `time` and the columns, on some of these rows. */
  readonly tableOf: (rows: Int32Array) => Table;
}

/**
 * Columns are kept for the next page and the next question of the same owner: the time an answer takes must not reveal
 * what other owners have asked.
 */
const store = new ColumnStore(64 * 1024 * 1024);

/**
 * @param where the name of a condition among the columns: only bars on which it is true
 * @param control asked between columns whether anyone still waits
 * @throws RunStopped when `control` says so
 */
export function computeColumns(
  { columns, plan }: PlannedColumns,
  market: Market,
  {
    range,
    where,
    owner,
    control,
  }: {
    readonly range: { readonly start: number | null; readonly end: number | null };
    readonly where: string | undefined;
    readonly owner: string;
    readonly control: Pick<RunControl, 'isCancelled'> | null;
  },
): ComputedColumns {
  const { base } = market;
  const evaluated = new EvaluatedPlan(plan, market, store, control, owner);
  const readers = columns.map(({ type }, index) => readerOf(type, plan.entries[index], evaluated));
  store.trim();
  const { first, end } = rowsInRange(base, range);
  const filter = where === undefined ? undefined : readers[columns.findIndex(({ name }) => name === where)];
  const rows: number[] = [];
  for (let row = first; row < end; row++) if (filter === undefined || filter(row) === true) rows.push(row);
  const tableOf = (shown: Int32Array): Table => ({
    length: shown.length,
    columns: [
      { name: 'time', type: 'time', read: (at) => base.time[shown[at]] },
      ...columns.map(({ name, type }, index): TableColumn => {
        const read = (at: number): unknown => readers[index](shown[at]);
        if (type === 'condition') return { name, type: 'boolean', read };
        return numberColumn(
          name,
          Float64Array.from(shown, (row) => readers[index](row) as number),
        );
      }),
    ],
  });
  return { rows: Int32Array.from(rows), tableOf };
}

/** The value of a row, NaN where there is none; of a condition true, false, or null where it is unknown. */
function readerOf(
  type: PlannedColumn['type'],
  { condition, rank }: PlannedEntry,
  evaluated: EvaluatedPlan,
): (row: number) => number | boolean | null {
  if (type === 'condition') {
    if (condition.kind !== 'column' || condition.slot === null) return () => true;
    const { isTrue, isUnknown } = evaluated.condition(condition.slot);
    return (row) => (hasBit(isUnknown, row) ? null : hasBit(isTrue, row));
  }
  if (rank?.kind === 'constant') return () => rank.value;
  if (rank?.kind !== 'column') throw new Error('A value that reads state was planned as a column.');
  const { values } = evaluated.value(rank.slot);
  return (row) => values[row];
}

const typeOf = (expression: unknown): PlannedColumn['type'] =>
  (isMembers(expression) ? typeOfKind(expression.kind) : undefined) ?? 'value';

interface AskedColumn {
  readonly name: string;
  readonly expression: unknown;
  readonly type: PlannedColumn['type'];
}

/** A condition that holds on every bar: the rule in which a value stands is not read. */
const ALWAYS = {
  kind: 'compare',
  op: 'gte',
  left: { kind: 'market', field: 'close' },
  right: { kind: 'const', value: 0 },
};

/** The rule in which the language checks a column: a condition is its trigger, a value its rank. */
const entryOf = ({ expression, type }: AskedColumn): object => ({
  kind: 'entry',
  ...(type === 'condition' ? { trigger: expression } : { trigger: ALWAYS, rank: expression }),
  action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
});

/** The objects with a kind, as the language counts nodes. Without recursion: nothing in them is checked yet. */
function countNodes(columns: object): number {
  const open: unknown[] = [columns];
  let nodes = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (isMembers(value) && typeof value.kind === 'string') nodes++;
    for (const each of Object.values(value)) open.push(each);
  }
  return nodes;
}

const tooManyNodes = (nodes: number, limit: number): ValidationIssue => ({
  code: 'TIER_LIMIT_NODES',
  path: '/columns',
  field: 'columns',
  severity: 'error',
  message: `The columns have ${nodes} nodes, and this tier allows ${limit}.`,
  suggestion: 'Ask for fewer columns at a time.',
});

type Places = readonly { readonly from: string; readonly to: string; readonly field: string }[];

const placesOf = (asked: readonly AskedColumn[]): Places => [
  ...asked.map(({ name, type }, index) => ({
    from: `/strategyAst/strategy/entry/${index}/${type === 'condition' ? 'trigger' : 'rank'}`,
    to: pointerTo('/columns', name),
    field: 'columns',
  })),
  { from: '/strategyAst/strategy/defaults/timezone', to: '/timezone', field: 'timezone' },
];

/** The errors of a checked strategy as those of the columns in it. */
function columnIssues(issues: readonly ValidationIssue[], places: Places): ValidationIssue[] {
  const moved = (path: string): { readonly path: string; readonly field: string } => {
    const place = places.find(({ from }) => path === from || path.startsWith(`${from}/`));
    return place === undefined
      ? { path: '/columns', field: 'columns' }
      : { path: place.to + path.slice(place.from.length), field: place.field };
  };
  const step = (operation: PatchOperation): PatchOperation =>
    operation.op === 'move'
      ? { ...operation, from: moved(operation.from).path, path: moved(operation.path).path }
      : { ...operation, path: moved(operation.path).path };
  return issues
    .filter(({ severity }) => severity === 'error')
    .map((issue) => ({
      ...issue,
      ...moved(issue.path),
      message: issue.message.replace(/^The strategy has/, 'The columns have'),
      ...(issue.patch && { patch: issue.patch.map(step) }),
    }));
}

/** What only a run has: positions and an account, or other instruments to compare with. */
function unavailable(
  name: string,
  type: PlannedColumn['type'],
  { steps }: Plan,
  { condition, rank }: PlannedEntry,
): ValidationIssue[] {
  const read = type === 'condition' ? condition : rank;
  const isStateful = read?.kind === 'stateful';
  const comparesInstruments = read?.kind === 'column' && read.slot !== null && reaches(steps, read.slot);
  if (!isStateful && !comparesInstruments) return [];
  const what = isStateful ? 'reads position or account state' : 'compares instruments';
  return [
    {
      code: 'NOT_AVAILABLE_YET',
      path: pointerTo('/columns', name),
      field: 'columns',
      severity: 'error',
      message: `The column "${name}" ${what}, which only a run has.`,
      suggestion: 'Use it in a strategy: the signals artifact of a backtest has its values.',
    },
  ];
}

/** Whether a step, or one that it reads, compares all instruments of a run. */
function reaches(steps: Plan['steps'], slot: number): boolean {
  const open = [slot];
  const seen = new Set<number>();
  while (open.length > 0) {
    const at = open.pop()!;
    if (seen.has(at)) continue;
    seen.add(at);
    if (readsInstruments(steps[at])) return true;
    for (const input of steps[at].inputs) open.push(input);
  }
  return false;
}
