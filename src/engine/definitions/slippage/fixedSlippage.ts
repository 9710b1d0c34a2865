// `fixed`: the same fraction of the price or number of ticks for every fill (semantics §4.4).
import { z } from 'zod';
import { slippageKind } from './slippageKind.ts';

const UNITS = ['bps', 'ticks'] as const;

export const fixedSlippage = slippageKind({
  kind: 'fixed',
  members: { unit: z.enum(UNITS), value: z.number().min(0).max(10_000) },
  note: 'fixed has unit bps or ticks.',
  shown: ({ unit, value }, text) => `slippage ${text(value)} ${unit}`,
  isFree: ({ value }) => value === 0,
  multiplied: (slippage, factor) => ({ ...slippage, value: slippage.value * factor }),
  atrPeriod: () => null,
  tickMember: ({ unit }) => (unit === 'ticks' ? { member: 'unit', suggestion: 'Use bps.' } : null),
  // {"kind": "bps", "value": 5} and {"ticks": 2}.
  meant: (written) => {
    const { kind } = written;
    const unit = UNITS.find((each) => kind === each || typeof written[each] === 'number');
    if (unit === undefined || (kind !== undefined && kind !== unit)) return null;
    const value = written[unit] ?? written.value;
    if (typeof value !== 'number') return null;
    return { value: { kind: 'fixed', unit, value }, message: `Slippage in ${unit} is of kind "fixed" with that unit.` };
  },
  bind: ({ unit, value }, { instrument: { symbol, tickSize } }) => {
    if (unit === 'bps') {
      const fraction = value / 1e4;
      return (price, direction) => Math.max(0, price * (1 + direction * fraction));
    }
    if (tickSize === null)
      throw new Error(`Slippage in ticks needs a tickSize, and ${symbol} has none; refuse the config before.`);
    const distance = value * tickSize;
    return (price, direction) => Math.max(0, price + direction * distance);
  },
});
