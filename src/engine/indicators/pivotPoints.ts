// Pivot points: levels of today from the high, low and close of the period before.
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';
import { periodArg, periodOf, periodStarts } from './sessions.ts';

/** The levels in the order of the outputs, from the last period's high, low and close. */
type Levels = (high: number, low: number, close: number) => readonly number[];

const names = (count: number): string[] => [
  'pivot',
  ...Array.from({ length: count }, (_, i) => `r${i + 1}`),
  ...Array.from({ length: count }, (_, i) => `s${i + 1}`),
];

function pivotPoints(
  kind: string,
  aliases: readonly string[],
  count: number,
  formula: string,
  levels: Levels,
): IndicatorDefinition {
  const outputs = names(count).map((name): OutputDefinition => ({ name, kind: 'price' }));
  return {
    id: `pivots_${kind}`,
    aliases,
    name: `Pivot Points, ${kind}`,
    category: 'price',
    inputs: ['time', 'high', 'low', 'close'],
    args: [periodArg('period')],
    outputs,
    formula: `of the last period's high H, low L and close C, P = (H+L+C)/3: ${formula}; missing in the first period`,
    // A second period can begin with the second bar; how many bars a period has, the kernel cannot know.
    lookback: () => 1,
    compute: ([time, high, low, close], args, columns) => {
      const starts = periodStarts(time, periodOf(args, 'period'));
      let current: readonly number[] = outputs.map(() => NaN);
      let highest = -Infinity;
      let lowest = Infinity;
      for (let row = 0; row < time.length; row++) {
        if (starts[row] === 1 && row > 0) {
          current = levels(highest, lowest, close[row - 1]);
          highest = -Infinity;
          lowest = Infinity;
        }
        if (high[row] > highest) highest = high[row];
        if (low[row] < lowest) lowest = low[row];
        if (row >= 1) for (let i = 0; i < columns.length; i++) columns[i][row] = current[i];
      }
    },
  };
}

export const pivotsClassic = pivotPoints(
  'classic',
  ['pivots', 'pivot_points', 'pivots_floor'],
  4,
  'R1 = 2P-L, S1 = 2P-H, R2, S2 = P ± (H-L), R3 = H+2(P-L), S3 = L-2(H-P), R4 = H+3(P-L), S4 = L-3(H-P) (floor ' +
    'traders; pandas-ta cpr classic)',
  (high, low, close) => {
    const pivot = (high + low + close) / 3;
    const range = high - low;
    const up = pivot - low;
    const down = high - pivot;
    const resistances = [2 * pivot - low, pivot + range, high + 2 * up, high + 3 * up];
    const supports = [2 * pivot - high, pivot - range, low - 2 * down, low - 3 * down];
    return [pivot, ...resistances, ...supports];
  },
);

const FIBONACCI = [0.382, 0.618, 1];

export const pivotsFibonacci = pivotPoints(
  'fibonacci',
  [],
  3,
  'R and S = P ± 0.382, 0.618 and 1 times (H-L) (pandas-ta cpr fibonacci)',
  (high, low, close) => {
    const pivot = (high + low + close) / 3;
    const range = high - low;
    return [
      pivot,
      ...FIBONACCI.map((share) => pivot + range * share),
      ...FIBONACCI.map((share) => pivot - range * share),
    ];
  },
);

const CAMARILLA = [12, 6, 4, 2];

export const pivotsCamarilla = pivotPoints(
  'camarilla',
  ['camarilla'],
  4,
  'R and S = C ± 1.1·(H-L)/12, /6, /4 and /2 (Stott 1989; pandas-ta cpr camarilla)',
  (high, low, close) => {
    const range = (high - low) * 1.1;
    const steps = CAMARILLA.map((divisor) => range / divisor);
    return [(high + low + close) / 3, ...steps.map((step) => close + step), ...steps.map((step) => close - step)];
  },
);
