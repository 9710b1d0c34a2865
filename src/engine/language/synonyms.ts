// Synonyms: words that other languages use for ours, so that a repair can be offered where no spelling is near.

/** What people write for an operator. */
const OPERATORS: Readonly<Record<string, string>> = {
  '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte', '=': 'eq', '==': 'eq', '===': 'eq', '!=': 'neq', '!==': 'neq', '<>': 'neq',
  greater_than: 'gt', greater: 'gt', above: 'gt', less_than: 'lt', less: 'lt', below: 'lt', ge: 'gte', le: 'lte', equals: 'eq', equal: 'eq',
  ne: 'neq', not_equal: 'neq', crossover: 'cross_up', crosses_above: 'cross_up', cross_above: 'cross_up', crossunder: 'cross_down',
  crosses_below: 'cross_down', cross_below: 'cross_down', '+': 'add', '-': 'sub', '*': 'mul', '/': 'div', '%': 'mod', '^': 'pow',
  '**': 'pow', plus: 'add', minus: 'sub', subtract: 'sub', multiply: 'mul', divide: 'div', mean: 'avg', average: 'avg', highest: 'max',
  lowest: 'min', stdev: 'std', stddev: 'std', variance: 'var',
}; // prettier-ignore
const TIMEFRAMES: Readonly<Record<string, string>> = {
  '15': '15m', '60': '1h', '240': '4h', '15min': '15m', '60m': '1h', '60min': '1h', '1hour': '1h', hourly: '1h', '240m': '4h', '4hour': '4h',
  D: '1d', d: '1d', '1D': '1d', daily: '1d', day: '1d', '24h': '1d', '1440m': '1d',
}; // prettier-ignore
/** What people write for an indicator's argument; used only where the indicator has the one meant. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  period: ['length'], timeperiod: ['length'], window: ['length'], lookback: ['length'], n: ['length'], len: ['length'], periods: ['length'],
  fast: ['fast_length'], fastperiod: ['fast_length'], fast_period: ['fast_length'], slow: ['slow_length'], slowperiod: ['slow_length'],
  slow_period: ['slow_length'], signal: ['signal_length'], signalperiod: ['signal_length'], signal_period: ['signal_length'],
  std: ['multiplier', 'mult'], stddev: ['multiplier', 'mult'], std_dev: ['multiplier', 'mult'], nbdev: ['multiplier', 'mult'],
  mult: ['multiplier'], factor: ['multiplier'], atr_period: ['atr_length', 'length'],
}; // prettier-ignore

const own = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** The word of `values` that `word` is another name of. */
export function synonymIn(word: string, values: readonly unknown[]): string | undefined {
  const meant = own(OPERATORS, word.toLowerCase()) ?? own(TIMEFRAMES, word);
  return meant !== undefined && values.includes(meant) ? meant : undefined;
}

/** The argument among `names` that `word` is another name of. */
export function synonymousArgument(word: string, names: readonly string[]): string | undefined {
  return own(ARGUMENTS, word.toLowerCase())?.find((name) => names.includes(name));
}
