// Arithmetic of the language by its definitions: what has no finite value is missing.
export function mathOracle(op: string, args: readonly number[]): number {
  const [a, b, c] = args;
  const value = args.some(Number.isNaN) ? NaN : valueOf(op, args, a, b, c);
  return Number.isFinite(value) ? value : NaN;
}

function valueOf(op: string, args: readonly number[], a: number, b: number, c: number): number {
  const rest = args.slice(1);
  switch (op) {
    case 'add':
      return rest.reduce((sum, x) => sum + x, a);
    case 'sub':
      return rest.reduce((sum, x) => sum - x, a);
    case 'mul':
      return rest.reduce((product, x) => product * x, a);
    case 'div':
      return rest.reduce((quotient, x) => quotient / x, a);
    case 'min':
      return args.toSorted((x, y) => x - y)[0];
    case 'max':
      return args.toSorted((x, y) => y - x)[0];
    case 'abs':
      return a < 0 ? -a : a;
    case 'neg':
      return 0 - a;
    case 'pow':
      return a ** b;
    case 'log':
      return Math.log(a);
    case 'exp':
      return Math.exp(a);
    case 'sqrt':
      return Math.sqrt(a);
    case 'sign':
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case 'round':
      return a < 0 ? -Math.round(-a) : Math.round(a);
    case 'floor':
      return Math.floor(a);
    case 'ceil':
      return Math.ceil(a);
    case 'mod':
      return a - b * Math.floor(a / b);
    case 'clamp':
      // Of crossed bounds the lower one wins.
      return Math.min(a, c) < b ? b : Math.min(a, c);
    default:
      throw new Error(`No oracle for ${op}.`);
  }
}
