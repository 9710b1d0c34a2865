// Samples of a portfolio run: bars of any of its instruments, each with the values of its own columns.
import { nextBit } from '../../kernels/bits.ts';
import { TRADE, TRADE_WIDTH } from '../../simulate/tradeLog.ts';
import type { NearMiss } from '../nearMisses.ts';
import type { InstrumentRun, PortfolioRun } from '../reportInput.ts';
import {
  inJsonOrder,
  MAX_SAMPLES,
  nodeValues,
  SAMPLED_MISSES,
  SAMPLED_TRADES,
  Samples,
  type Sample,
} from '../samples.ts';
import type { InstrumentBits } from './summedConditions.ts';

interface SampledBar {
  readonly kind: Sample['kind'];
  readonly instrument: InstrumentRun;
  readonly row: number;
}

/**
 * The first trigger of any instrument, the decisions of the first trades, the nearest misses and the last bar, at most
 * MAX_SAMPLES.
 * @param traced in the order of symbols
 */
export function sampledInstruments(
  { instruments, simulation, bySymbol, isNamed }: PortfolioRun,
  traced: readonly (InstrumentBits & { readonly instrument: InstrumentRun })[],
  misses: readonly { readonly miss: NearMiss; readonly instrument: InstrumentRun }[],
): Samples {
  const places: SampledBar[] = [];
  const add = (kind: Sample['kind'], instrument: InstrumentRun, row: number): void => {
    if (places.length < MAX_SAMPLES - 1) places.push({ kind, instrument, row });
  };
  const last = lastBar(bySymbol.map((index) => instruments[index]));
  if (last !== null) {
    const trigger = firstTrigger(traced);
    if (trigger !== null) add('first_trigger', trigger.instrument, trigger.row);
    const { tradeLog, tradeInstruments } = simulation;
    for (let trade = 0; trade < Math.min(tradeLog.length, SAMPLED_TRADES); trade++) {
      const instrument = instruments[tradeInstruments[trade]];
      // The bar that explains a fill is the one on which it was decided, not the one in which it filled.
      add('entry', instrument, tradeLog.numbers[trade * TRADE_WIDTH + TRADE.entryDecisionRow]);
      add('exit', instrument, tradeLog.numbers[trade * TRADE_WIDTH + TRADE.exitDecisionRow]);
    }
    for (const { miss, instrument } of misses.slice(0, SAMPLED_MISSES))
      add('near_miss', instrument, miss.bar + instrument.firstRow);
    places.push({ kind: 'last_bar', ...last });
  }
  return samplesAt(places, instruments[0], isNamed);
}

function samplesAt(places: readonly SampledBar[], first: InstrumentRun, isNamed: boolean): Samples {
  const { compared, named } = first.evaluated.plan;
  return new Samples({
    kinds: places.map(({ kind }) => kind),
    bars: Int32Array.from(places, ({ row, instrument }) => row - instrument.firstRow),
    times: Float64Array.from(places, ({ row, instrument }) => instrument.input.bars.time[row]),
    symbols: isNamed ? places.map(({ instrument }) => instrument.symbol) : null,
    nodes: inJsonOrder([...compared, ...named]).map(({ nodeId, type, slot }) => ({
      nodeId,
      type,
      values: Float64Array.from(places, ({ row, instrument }) => {
        return nodeValues(instrument.evaluated, type, slot, Int32Array.of(row))[0];
      }),
    })),
  });
}

/** The first bar on which a trigger or a `when` was true; of equal ones that of the first symbol. */
function firstTrigger(
  traced: readonly (InstrumentBits & { readonly instrument: InstrumentRun })[],
): Pick<SampledBar, 'instrument' | 'row'> | null {
  let found: Pick<SampledBar, 'instrument' | 'row'> | null = null;
  let earliest = Infinity;
  for (const { bits, window, instrument } of traced) {
    const trigger = bits.find(({ node }) => (node.role === 'trigger' || node.role === 'when') && node.parent === null);
    const row = trigger ? nextBit(trigger.isTrue, window.start, window.end) : window.end;
    if (row >= window.end || instrument.input.bars.time[row] >= earliest) continue;
    earliest = instrument.input.bars.time[row];
    found = { instrument, row };
  }
  return found;
}

/** The last bar of any instrument; of equal ones that of the first symbol. */
function lastBar(instruments: readonly InstrumentRun[]): Pick<SampledBar, 'instrument' | 'row'> | null {
  let found: Pick<SampledBar, 'instrument' | 'row'> | null = null;
  let latest = -Infinity;
  for (const instrument of instruments) {
    const { start, end, bars } = instrument.input;
    if (end <= start || bars.time[end - 1] <= latest) continue;
    latest = bars.time[end - 1];
    found = { instrument, row: end - 1 };
  }
  return found;
}
