// What an indicator declares. The compiler, validation, capabilities, docs and benches read nothing else.

/**
 * Bar columns, `source` (any value expression; default the field named by `args.source`, else close), or a further
 * series.
 */
export type InputName = 'open' | 'high' | 'low' | 'close' | 'volume' | 'time' | 'source' | 'source2' | 'periods';

export interface ArgDefinition {
  readonly name: string;
  readonly type: 'int' | 'float' | 'choice' | 'bool';
  readonly default: number | string | boolean;
  readonly min?: number;
  readonly max?: number;
  readonly values?: readonly string[];
  /** true: must be given (INDICATOR_ARG_REQUIRED). */
  readonly required?: boolean;
  readonly description?: string;
  /** true: every row reads a window of so many rows, so that a column costs rows × length. */
  readonly isScanned?: true;
}

export interface OutputDefinition {
  readonly name: string;
  /** price: on the scale of its source; bounded: within [min, max]; volume, flag (small integers) or free otherwise. */
  readonly kind: 'price' | 'bounded' | 'volume' | 'flag' | 'free';
  readonly min?: number;
  readonly max?: number;
}

export type ArgValue = number | string | boolean;
export type Args = Readonly<Record<string, ArgValue>>;

interface TalibBinding {
  /** TA-Lib's function name, e.g. `RSI`. */
  readonly name: string;
  /** TA-Lib's argument name → ours; absent arguments have the same name. */
  readonly args: Readonly<Record<string, string>>;
  /** TA-Lib's output names in the order of `outputs`. */
  readonly outputs: readonly string[];
  /** Args of ours that hold other values than our defaults when called by TA-Lib's name (its own defaults). */
  readonly defaults?: Args;
  /** matype numbers → our moving-average names, for arguments that choose one. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

/**
 * One indicator. `compute` gets dense inputs of equal length n (no NaN: the caller removes missing rows), resolved args
 * and one output array of length n per output; it writes rows lookback(args) … n-1 (NaN where a value is undefined) and
 * leaves the rows before to the caller, who has filled them with NaN. It allocates nothing that grows with n beyond
 * scratch columns, and reads no row after the one it writes.
 */
export interface IndicatorDefinition {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly name: string;
  readonly category:
    | 'overlap'
    | 'momentum'
    | 'volume'
    | 'volatility'
    | 'cycle'
    | 'price'
    | 'statistic'
    | 'math'
    | 'trend'
    | 'pattern';
  readonly talib?: TalibBinding;
  readonly inputs: readonly InputName[];
  readonly args: readonly ArgDefinition[];
  /** The first is the default where `output` is absent and there is only one; several outputs need `output`. */
  readonly outputs: readonly OutputDefinition[];
  /** One line: the formula and its source. */
  readonly formula: string;
  /** Rows before the first value. */
  lookback(args: Args): number;
  /** For recursive ones: rows after which the seed no longer shows at 1e-9 relative; default lookback. */
  stableLookback?(args: Args): number;
  compute(
    inputs: readonly Float64Array[],
    args: Args,
    outputs: readonly Float64Array[],
    /** Called every few milliseconds by what takes long; it throws when the run is told to stop. */
    poll?: () => void,
  ): void;
}
