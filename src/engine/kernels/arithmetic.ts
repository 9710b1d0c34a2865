// Arithmetic on columns. A result without a finite value is missing: division by zero, the log of a number not above
// zero, the root of a negative number.

export const MATH_OPS = [
  'add', 'sub', 'mul', 'div', 'min', 'max', 'abs', 'neg', 'pow', 'log', 'exp', 'sqrt', 'sign', 'round', 'floor', 'ceil',
  'mod', 'clamp',
] as const; // prettier-ignore
export type MathOp = (typeof MATH_OPS)[number];

const finite = (value: number): number => (value - value === 0 ? value : NaN);
/** Rounds halves away from zero, as spreadsheets and TA platforms do. */
const roundHalfAway = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

interface MathFunction {
  readonly minArgs: number;
  readonly maxArgs: number;
  readonly apply: (args: readonly number[]) => number;
}

/**
 * The number of arguments of each operation and its value for single numbers; NaN in gives NaN out, as does an
 * undefined result.
 */
export const MATH_FUNCTIONS: Readonly<Record<MathOp, MathFunction>> = {
  add: { minArgs: 1, maxArgs: 64, apply: (args) => args.reduce((a, b) => a + b) },
  sub: { minArgs: 2, maxArgs: 64, apply: (args) => args.reduce((a, b) => a - b) },
  mul: { minArgs: 1, maxArgs: 64, apply: (args) => args.reduce((a, b) => a * b) },
  div: { minArgs: 2, maxArgs: 64, apply: (args) => args.reduce((a, b) => (b === 0 ? NaN : a / b)) },
  min: { minArgs: 1, maxArgs: 64, apply: (args) => Math.min(...args) },
  max: { minArgs: 1, maxArgs: 64, apply: (args) => Math.max(...args) },
  abs: { minArgs: 1, maxArgs: 1, apply: ([a]) => Math.abs(a) },
  neg: { minArgs: 1, maxArgs: 1, apply: ([a]) => -a },
  pow: { minArgs: 2, maxArgs: 2, apply: ([a, b]) => (a !== a || b !== b ? NaN : a ** b) },
  log: { minArgs: 1, maxArgs: 1, apply: ([a]) => (a > 0 ? Math.log(a) : NaN) },
  exp: { minArgs: 1, maxArgs: 1, apply: ([a]) => Math.exp(a) },
  sqrt: { minArgs: 1, maxArgs: 1, apply: ([a]) => Math.sqrt(a) },
  sign: { minArgs: 1, maxArgs: 1, apply: ([a]) => Math.sign(a) },
  round: { minArgs: 1, maxArgs: 1, apply: ([a]) => roundHalfAway(a) },
  floor: { minArgs: 1, maxArgs: 1, apply: ([a]) => Math.floor(a) },
  ceil: { minArgs: 1, maxArgs: 1, apply: ([a]) => Math.ceil(a) },
  /** The sign of the divisor, as a mathematical modulo. */
  mod: { minArgs: 2, maxArgs: 2, apply: ([a, b]) => (b === 0 ? NaN : a - b * Math.floor(a / b)) },
  clamp: {
    minArgs: 3,
    maxArgs: 3,
    apply: ([a, low, high]) => (low !== low || high !== high ? NaN : Math.max(low, Math.min(high, a))),
  },
};

/** One operation on numbers; NaN where it has no finite value. */
export const mathOf = (op: MathOp, args: readonly number[]): number => finite(MATH_FUNCTIONS[op].apply(args) + 0);

/** An operand: a column, or one number for every row. */
type Operand = Float64Array | number;

/** Writes `op` over operands row by row; the four common binary forms have their own loops. */
export function applyMath(op: MathOp, operands: readonly Operand[], out: Float64Array): void {
  if (operands.length === 2 && (op === 'add' || op === 'sub' || op === 'mul' || op === 'div'))
    binary(op, operands[0], operands[1], out);
  else general(op, operands, out);
}

function binary(op: 'add' | 'sub' | 'mul' | 'div', left: Operand, right: Operand, out: Float64Array): void {
  const a = typeof left === 'number' ? new Float64Array(1).fill(left) : left;
  const b = typeof right === 'number' ? new Float64Array(1).fill(right) : right;
  const stepA = typeof left === 'number' ? 0 : 1;
  const stepB = typeof right === 'number' ? 0 : 1;
  const n = out.length;
  if (op === 'add') for (let row = 0; row < n; row++) out[row] = finite(a[row * stepA] + b[row * stepB] + 0);
  else if (op === 'sub') for (let row = 0; row < n; row++) out[row] = finite(a[row * stepA] - b[row * stepB] + 0);
  else if (op === 'mul') for (let row = 0; row < n; row++) out[row] = finite(a[row * stepA] * b[row * stepB] + 0);
  else for (let row = 0; row < n; row++) out[row] = finite(a[row * stepA] / b[row * stepB] + 0);
}

function general(op: MathOp, operands: readonly Operand[], out: Float64Array): void {
  const { apply } = MATH_FUNCTIONS[op];
  const args = new Array<number>(operands.length);
  for (let row = 0; row < out.length; row++) {
    for (let a = 0; a < args.length; a++) {
      const operand = operands[a];
      args[a] = typeof operand === 'number' ? operand : operand[row];
    }
    out[row] = finite(apply(args) + 0);
  }
}
