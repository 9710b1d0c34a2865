// The fields of a bar as columns: those that bars have, and those that are computed from several.
import type { Bars } from '../bars/bars.ts';
import type { ValueColumn } from '../kernels/column.ts';
import type { ColumnStore } from './columnStore.ts';

/** A column of the bars; null: the field is computed from several. */
function rawField(bars: Bars, field: string): Float64Array | null {
  switch (field) {
    case 'open':
    case 'high':
    case 'low':
    case 'close':
    case 'volume':
    case 'time':
      return bars[field];
    default:
      return null;
  }
}

/** The column of a market field: a view of the bars, or a computed average of several prices (hl2, hlc3, ohlc4). */
export function fieldColumn(bars: Bars, field: string, store: ColumnStore): ValueColumn {
  const { open, high, low, close } = bars;
  const whole = (values: Float64Array): ValueColumn => ({ values, firstValid: 0, hasHoles: false });
  const raw = rawField(bars, field);
  if (raw !== null) return whole(raw);
  const out = store.allocate(bars.length);
  if (field === 'hl2') for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row]) / 2;
  else if (field === 'hlc3')
    for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row] + close[row]) / 3;
  else for (let row = 0; row < out.length; row++) out[row] = (open[row] + high[row] + low[row] + close[row]) / 4;
  return whole(out);
}
