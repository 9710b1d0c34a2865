// The oracle of columns: every stateless node of the language, bar by bar from the definitions, sharing with the engine only the
// indicators and patterns, which have oracles of their own. Slow and obvious.
import { TIMEFRAME_MS, type Bars, type Market } from '../../../../src/engine/columns/bars.ts';
import { computeIndicator } from '../../../../src/engine/indicators/compute.ts';
import { findIndicator } from '../../../../src/engine/indicators/registry.ts';
import type {
  Concrete,
  Condition,
  IndicatorValue,
  PatternCondition,
  Value,
} from '../../../../src/engine/language/ast.ts';
import { findPattern } from '../../../../src/engine/patterns/registry.ts';
import { mathOracle } from './math.ts';
import { all, any, isSequence, machine, not, ofCount, type Truth } from './truths.ts';
import { isInWindow, rollingOf, SESSIONS, timeOf } from './windows.ts';

type V = Concrete<Value>;
type B = Concrete<Condition>;
/** A value on bars of its own; null bars: a number, the same on all. */
interface Column {
  readonly bars: Bars | null;
  readonly values: readonly number[];
}
type CompareOp = 'gt' | 'gte' | 'lt' | 'lte' | 'eq' | 'neq';
const BAR_INPUTS: readonly string[] = ['open', 'high', 'low', 'close', 'volume', 'time'];

/** Numbers nearer than this may fall on either side of each other in two ways of computing them. */
const TIE = 1e-9;

export class Oracle {
  readonly #market: Market;
  readonly #timezone: string;
  readonly #columns = new Map<object, Map<Bars, Column>>();
  readonly #truths = new Map<object, Map<Bars, readonly Truth[]>>();
  /** Comparisons decided by the last digits: on these a disagreement proves nothing. */
  ties = 0;

  constructor(market: Market, timezone: string) {
    this.#market = market;
    this.#timezone = timezone;
  }

  /** A value as bars of `ambient` see it at their close. */
  on(node: V, ambient: Bars): readonly number[] {
    const { bars, values } = this.#column(node, ambient);
    if (bars === null) return Array.from({ length: ambient.length }, () => values[0]);
    return bars === ambient ? values : this.#rows(ambient, bars).map((row) => (row < 0 ? NaN : values[row]));
  }

  truth(node: B, ambient: Bars): readonly Truth[] {
    let known = this.#truths.get(node);
    if (!known) this.#truths.set(node, (known = new Map()));
    let truths = known.get(ambient);
    if (!truths) known.set(ambient, (truths = this.#truth(node, ambient)));
    return truths;
  }

  #column(node: V, ambient: Bars): Column {
    let known = this.#columns.get(node);
    if (!known) this.#columns.set(node, (known = new Map()));
    let column = known.get(ambient);
    if (!column) {
      const { bars, values } = this.#value(node, ambient);
      const by = 'offset' in node && node.kind !== 'shift' && bars !== null ? (node.offset ?? 0) : 0;
      column = { bars, values: values.map((_, row) => (by === 0 ? values[row] : row < by ? NaN : values[row - by])) };
      known.set(ambient, column);
    }
    return column;
  }

  #value(node: V, ambient: Bars): Column {
    const each = (bars: Bars, value: (row: number) => number): Column => ({
      bars,
      values: Array.from({ length: bars.length }, (_, row) => value(row)),
    });
    switch (node.kind) {
      case 'const':
        return { bars: null, values: [node.value] };
      case 'market': {
        const bars = this.#placed(node, ambient);
        return each(bars, (row) => priceOf(bars, node.field, row));
      }
      case 'series': {
        const bars = this.#placed(node, ambient);
        return each(bars, (row) => bars.series.get(node.name)?.[row] ?? NaN);
      }
      case 'indicator':
        return this.#indicator(node, ambient);
      case 'rolling': {
        const { bars, values } = this.#together([node.source], ambient);
        const present: number[] = [];
        return each(bars, (row) => {
          const value = values[0][row];
          if (Number.isNaN(value)) return NaN;
          present.push(value);
          const result = rollingOf(node, present);
          return Number.isFinite(result) ? result : NaN;
        });
      }
      case 'math': {
        const columns = node.args.map((arg) => this.#column(arg, ambient));
        if (columns.every(({ bars }) => bars === null))
          return {
            bars: null,
            values: [
              mathOracle(
                node.op,
                columns.map(({ values }) => values[0]),
              ),
            ],
          };
        const { bars, values } = this.#together(node.args, ambient);
        return each(bars, (row) =>
          mathOracle(
            node.op,
            values.map((column) => column[row]),
          ),
        );
      }
      case 'shift': {
        const source = this.#column(node.source, ambient);
        if (source.bars === null) return source;
        const values = this.on(node.source, ambient);
        return each(ambient, (row) => values[row - node.offset] ?? NaN);
      }
      case 'if': {
        const [cond, yes, no] = [
          this.truth(node.cond, ambient),
          this.on(node.then, ambient),
          this.on(node.else, ambient),
        ];
        return each(ambient, (row) => (cond[row] === 2 ? NaN : cond[row] === 1 ? yes[row] : no[row]));
      }
      case 'bars_since': {
        const when = this.truth(node.when, ambient);
        return each(ambient, (row) => {
          const last = when.lastIndexOf(1, row);
          return last < 0 ? NaN : row - last;
        });
      }
      case 'value_when': {
        const [value, when] = [this.on(node.value, ambient), this.truth(node.when, ambient)];
        const trues: number[] = [];
        return each(ambient, (row) => {
          if (when[row] === 1) trues.push(value[row]);
          return trues.at(-1 - (node.occurrence ?? 0)) ?? NaN;
        });
      }
      case 'capture': {
        const [value, when] = [this.on(node.value, ambient), this.truth(node.when, ambient)];
        return each(ambient, (row) => {
          let at = row;
          while (at >= 0 && !(when[at] === 1 && when[at - 1] !== 1)) at--;
          return at < 0 ? NaN : value[at];
        });
      }
      case 'pivot': {
        const bars = this.#placed(node, ambient);
        const { pivotKind, left, right, occurrence = 0 } = node;
        const price = (row: number): number => (pivotKind === 'high' ? bars.high[row] : -bars.low[row]);
        const rows: number[] = [];
        return each(bars, (row) => {
          const at = row - right;
          const before = Array.from({ length: left }, (_, index) => at - 1 - index);
          const after = Array.from({ length: right }, (_, index) => at + 1 + index);
          const isPivot =
            before.every((one) => price(at) > price(one)) && after.every((one) => price(at) >= price(one));
          if (at - left >= 0 && isPivot) rows.push(at);
          const found = rows.at(-1 - occurrence);
          return found === undefined ? NaN : bars[pivotKind][found];
        });
      }
      case 'time':
        return each(ambient, (row) => timeOf(node.field, ambient.time[row], this.#timezone));
      case 'state':
        throw new Error('The oracle of columns has no position to read.');
    }
  }

  #indicator(node: Concrete<IndicatorValue>, ambient: Bars): Column {
    const definition = findIndicator(node.indicator)!;
    const own = this.#placed(node, ambient);
    const sources = node.sources ?? (node.source ? [node.source] : []);
    const isPlaced = node.timeframe !== undefined || node.instrument !== undefined;
    const isOfBars = definition.inputs.some((input) => BAR_INPUTS.includes(input)) || sources.length === 0;
    const bars = isPlaced || isOfBars ? own : this.#together(sources, own).bars;
    let next = 0;
    const inputs = definition.inputs.map((input) => {
      if (BAR_INPUTS.includes(input)) return bars[input as 'close'];
      const { bars: from, values } = this.#column(sources[next++], own);
      if (from === null) return new Float64Array(bars.length).fill(values[0]);
      const rows = from === bars ? null : this.#rows(bars, from);
      return Float64Array.from({ length: bars.length }, (_, row) =>
        rows === null ? values[row] : rows[row] < 0 ? NaN : values[rows[row]],
      );
    });
    const index = Math.max(
      0,
      definition.outputs.findIndex(({ name }) => name === node.output),
    );
    const values = computeIndicator(definition, node.args as Record<string, number>, inputs)[index];
    return { bars, values: Array.from(values, (value) => (Number.isFinite(value) ? value : NaN)) };
  }

  /** Operands on the bars they share, else on those of `ambient` (semantics §1.6). */
  #together(nodes: readonly V[], ambient: Bars): { bars: Bars; values: (readonly number[])[] } {
    const columns = nodes.map((node) => this.#column(node, ambient));
    const frames = new Set(columns.flatMap(({ bars }) => (bars === null ? [] : [bars])));
    const [only] = frames;
    const bars = frames.size === 1 ? only : ambient;
    const values = columns.map((column, index) => {
      if (column.bars === null) return Array.from({ length: bars.length }, () => column.values[0]);
      return column.bars === bars ? column.values : this.on(nodes[index], ambient);
    });
    return { bars, values };
  }

  #truth(node: B, ambient: Bars): readonly Truth[] {
    const each = (truth: (row: number) => Truth): Truth[] =>
      Array.from({ length: ambient.length }, (_, row) => truth(row));
    const last = (of: readonly Truth[], row: number, count: number): Truth[] =>
      Array.from({ length: count }, (_, ago) => of[row - ago] ?? 2);
    switch (node.kind) {
      case 'compare':
      case 'near': {
        const [left, right] = [this.on(node.left, ambient), this.on(node.right, ambient)];
        const op = node.kind === 'near' ? 'eq' : node.op;
        return each((row) => this.#compare(op, left[row], right[row], node.tolerance ?? 0));
      }
      case 'between': {
        const [value, lower, upper] = [node.value, node.lower, node.upper].map((one) => this.on(one, ambient));
        return each((row) =>
          all([this.#compare('gte', value[row], lower[row]), this.#compare('lte', value[row], upper[row])]),
        );
      }
      case 'cross': {
        const [left, right] = [this.on(node.left, ambient), this.on(node.right, ambient)];
        const at = (before: CompareOp, now: CompareOp, row: number): Truth =>
          all([this.#compare(before, left[row - 1], right[row - 1]), this.#compare(now, left[row], right[row])]);
        const crosses = each((row) =>
          any([
            ...(node.op === 'cross_down' ? [] : [at('lte', 'gt', row)]),
            ...(node.op === 'cross_up' ? [] : [at('gte', 'lt', row)]),
          ]),
        );
        return each((row) => any(last(crosses, row, node.within ?? 1)));
      }
      case 'rising':
      case 'falling': {
        const { bars, values } = this.#together([node.source], ambient);
        const [source] = values;
        const op = node.kind === 'rising' ? 'gt' : 'lt';
        const moves = Array.from(source, (_, row) =>
          all(
            Array.from({ length: node.bars }, (__, ago) => this.#compare(op, source[row - ago], source[row - ago - 1])),
          ),
        );
        return bars === ambient ? moves : this.#rows(ambient, bars).map((row) => (row < 0 ? 2 : moves[row]));
      }
      case 'pattern':
        return this.#pattern(node, ambient);
      case 'all':
      case 'and':
      case 'any':
      case 'or': {
        const items = node.items.map((item) => this.truth(item, ambient));
        const joined = node.kind === 'all' || node.kind === 'and' ? all : any;
        return each((row) => joined(items.map((item) => item[row])));
      }
      case 'not':
        return this.truth(node.item, ambient).map(not);
      case 'time_window':
        return each((row) => (isInWindow(node, ambient.time[row], node.timezone ?? this.#timezone) ? 1 : 0));
      case 'session': {
        const [from, to, zone] = SESSIONS[node.name];
        return each((row) =>
          isInWindow({ kind: 'time_window', between: { from, to } }, ambient.time[row], zone) ? 1 : 0,
        );
      }
      case 'sequence': {
        const steps = node.steps.map(({ expr, minBars = 1, maxBars = Infinity }) => ({
          met: this.truth(expr, ambient),
          minBars,
          maxBars,
        }));
        return each((row) => isSequence(steps, row));
      }
      case 'rolling_window': {
        const { mode, window } = node;
        const value = node.value ?? (mode === 'streak' ? window : 0);
        const inner = this.truth(node.expr, ambient);
        const size = mode === 'streak' ? value : window;
        const says = {
          any: (trues: number) => trues > 0,
          none: (trues: number) => trues === 0,
          all: (trues: number) => trues === size,
          streak: (trues: number) => trues === size,
          count_gt: (trues: number) => trues > value,
          count_lt: (trues: number) => trues < value,
          count_eq: (trues: number) => trues === value,
        }[mode];
        return each((row) => ofCount(last(inner, row, size), says));
      }
      case 'state_machine': {
        const reset = node.reset ? this.truth(node.reset, ambient) : null;
        return machine(this.truth(node.set, ambient), reset, node.ttlBars ?? null, node.conflictPolicy ?? 'reset');
      }
    }
  }

  #pattern(node: Concrete<PatternCondition>, ambient: Bars): readonly Truth[] {
    const bars = this.#placed(node, ambient);
    const definition = findPattern(node.name)!;
    const values = new Float64Array(bars.length);
    const args = node.args as Record<string, number>;
    if (bars.length > 0) definition.compute(bars.open, bars.high, bars.low, bars.close, args, values);
    const lookback = definition.lookback(args) + (node.offset ?? 0);
    const isOn = { bullish: (x: number) => x > 0, bearish: (x: number) => x < 0, any: (x: number) => x !== 0 }[
      node.side ?? 'any'
    ];
    const present = Array.from(values, (_, row): Truth =>
      row < lookback ? 2 : isOn(values[row - (node.offset ?? 0)]) ? 1 : 0,
    );
    const seen =
      bars === ambient ? present : this.#rows(ambient, bars).map((row): Truth => (row < 0 ? 2 : present[row]));
    return seen.map((_, row) => any(Array.from({ length: node.within ?? 1 }, (__, ago) => seen[row - ago] ?? 2)));
  }

  #compare(op: CompareOp, left: number | undefined, right: number | undefined, tolerance = 0): Truth {
    if (left === undefined || right === undefined || Number.isNaN(left) || Number.isNaN(right)) return 2;
    const apart = Math.abs(Math.abs(left - right) - tolerance);
    if (apart !== 0 && apart <= TIE * Math.max(1, Math.abs(left), Math.abs(right))) this.ties++;
    const isEqual = Math.abs(left - right) <= tolerance;
    const is = {
      eq: isEqual,
      neq: !isEqual,
      gt: left > right && !(tolerance > 0 && isEqual),
      lt: left < right && !(tolerance > 0 && isEqual),
      gte: left >= right || isEqual,
      lte: left <= right || isEqual,
    }[op];
    return is ? 1 : 0;
  }

  #placed(node: { timeframe?: Bars['timeframe']; instrument?: { symbol: string } }, ambient: Bars): Bars {
    const symbol = node.instrument?.symbol ?? ambient.symbol;
    const timeframe = node.timeframe ?? ambient.timeframe;
    if (symbol === ambient.symbol && timeframe === ambient.timeframe) return ambient;
    const { base } = this.#market;
    return symbol === base.symbol && timeframe === base.timeframe ? base : this.#market.bars(symbol, timeframe)!;
  }

  /** The row of `other` that each bar of `bars` sees at its close (semantics §1.6, §1.7). */
  #rows(bars: Bars, other: Bars): number[] {
    const [barMs, otherMs] = [TIMEFRAME_MS[bars.timeframe], TIMEFRAME_MS[other.timeframe]];
    const closes = Array.from(other.time, (time) => time + otherMs);
    return Array.from(bars.time, (time) => {
      const close = time + barMs;
      if (other.symbol !== bars.symbol && otherMs === barMs) return closes.indexOf(close);
      const row = closes.findLastIndex((one) => one <= close);
      // The bucket of another instrument that ended last has no bar: nothing is filled forward.
      return row >= 0 && other.symbol !== bars.symbol && closes[row] <= close - otherMs ? -1 : row;
    });
  }
}

function priceOf({ open, high, low, close, volume }: Bars, field: string, row: number): number {
  switch (field) {
    case 'hl2':
      return (high[row] + low[row]) / 2;
    case 'hlc3':
      return (high[row] + low[row] + close[row]) / 3;
    case 'ohlc4':
      return (open[row] + high[row] + low[row] + close[row]) / 4;
    default:
      return { open, high, low, close, volume }[field as 'open'][row];
  }
}
