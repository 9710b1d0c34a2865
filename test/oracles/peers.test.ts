// The indicators TA-Lib lacks against pandas-ta-classic, ta and tulipy, on the same bars.
import { describe, expect, it } from 'vitest';
import type { Args } from '../../src/engine/indicators/definition.ts';
import { findIndicator } from '../../src/engine/indicators/registry.ts';
import { argsOf, computeIndicator } from '../support/indicators.ts';
import { readOracle } from './shared.ts';

interface PeerCase {
  readonly lib: string;
  readonly fn: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, readonly (number | null)[]>>;
}
/** One of our indicators beside one case of a peer; `outputs` pairs our output names with the peer's columns. */
interface Pairing {
  readonly id: string;
  readonly args?: Args;
  readonly lib: 'pandas_ta_classic' | 'ta' | 'tulipy';
  readonly fn: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, string>>;
  /** Rows a peer with another seed needs to forget it; default: compared from our first value on. */
  readonly warmUp?: number;
  /** Ours over theirs. */
  readonly scale?: number;
  readonly tolerance?: number;
}

const PTA = 'pandas_ta_classic';
const squeezeFlags = { on: 'SQZ_ON', off: 'SQZ_OFF' };
const cloud = (conversion: number, base: number) => ({
  conversion: `ITS_${conversion}`,
  base: `IKS_${base}`,
  span_a: `ISA_${conversion}`,
  span_b: `ISB_${base}`,
});

const PAIRINGS: readonly Pairing[] = [
  // pandas-ta counts the weights from the latest bar: its 0.85 is our 0.15.
  { id: 'alma', args: { length: 10, offset: 0.15 }, lib: PTA, fn: 'alma', outputs: { value: 'ALMA_10_6.0_0.85' } },
  { id: 'ichimoku', lib: PTA, fn: 'ichimoku', outputs: cloud(9, 26) },
  {
    id: 'ichimoku',
    args: { conversion_length: 20, base_length: 60, span_b_length: 120, displacement: 60 },
    lib: PTA,
    fn: 'ichimoku',
    params: { tenkan: 20, kijun: 60, senkou: 120 },
    outputs: cloud(20, 60),
  },
  {
    id: 'ichimoku',
    lib: 'ta',
    fn: 'Ichimoku',
    params: { visual: false },
    outputs: { lead_a: 'ichimoku_a', lead_b: 'ichimoku_b' },
  },
  { id: 'keltner_range', lib: PTA, fn: 'kc', outputs: { lower: 'KCLe_20_2', middle: 'KCBe_20_2', upper: 'KCUe_20_2' } },
  {
    id: 'keltner_range',
    args: { multiplier: 1.5, ma_type: 'sma' },
    lib: PTA,
    fn: 'kc',
    params: { length: 20, scalar: 1.5, mamode: 'sma' },
    outputs: { lower: 'KCLs_20_1.5', middle: 'KCBs_20_1.5', upper: 'KCUs_20_1.5' },
  },
  {
    id: 'keltner_range',
    args: { use_true_range: false },
    lib: PTA,
    fn: 'kc',
    params: { length: 20, scalar: 2, tr: false },
    outputs: { lower: 'KCLe_20_2.0', middle: 'KCBe_20_2.0', upper: 'KCUe_20_2.0' },
  },
  {
    id: 'keltner_original',
    args: { length: 20 },
    lib: 'ta',
    fn: 'KeltnerChannelOriginal',
    params: { window: 20, original_version: true },
    outputs: {
      middle: 'keltner_channel_mband',
      upper: 'keltner_channel_hband',
      lower: 'keltner_channel_lband',
    },
  },
  {
    id: 'donchian_split',
    args: { upper_length: 55, lower_length: 10 },
    lib: PTA,
    fn: 'donchian',
    params: { lower_length: 10, upper_length: 55 },
    outputs: { upper: 'DCU_10_55', middle: 'DCM_10_55', lower: 'DCL_10_55' },
  },
  { id: 'chandelier_exit', lib: PTA, fn: 'ce', outputs: { long: 'CE_L_22_3.0', short: 'CE_S_22_3.0' } },
  {
    id: 'chandelier_exit',
    args: { length: 14 },
    lib: PTA,
    fn: 'ce',
    params: { length: 14 },
    outputs: { long: 'CE_L_14_3.0', short: 'CE_S_14_3.0' },
  },
  // TA-Lib's function, smoothed as charting sites do.
  {
    id: 'stoch_rsi',
    args: { k_smooth: 3 },
    lib: PTA,
    fn: 'stochrsi',
    outputs: { k: 'STOCHRSIk_14_14_3_3', d: 'STOCHRSId_14_14_3_3' },
  },
  {
    id: 'stoch_rsi',
    args: { k_smooth: 5 },
    lib: PTA,
    fn: 'stochrsi',
    params: { length: 14, rsi_length: 14, k: 5, d: 3 },
    outputs: { k: 'STOCHRSIk_14_14_5_3', d: 'STOCHRSId_14_14_5_3' },
  },
  { id: 'fisher', lib: PTA, fn: 'fisher', outputs: { fisher: 'FISHERT_9_1', signal: 'FISHERTs_9_1' } },
  {
    id: 'fisher',
    args: { length: 10, signal_offset: 2 },
    lib: PTA,
    fn: 'fisher',
    params: { length: 10, signal: 2 },
    outputs: { fisher: 'FISHERT_10_2', signal: 'FISHERTs_10_2' },
  },
  {
    id: 'fisher',
    lib: 'tulipy',
    fn: 'fisher',
    params: { period: 9 },
    outputs: { fisher: 'fisher', signal: 'fisher_signal' },
    warmUp: 100,
  },
  { id: 'kst', lib: 'ta', fn: 'KST', outputs: { kst: 'kst', signal: 'kst_sig' }, warmUp: 55 },
  {
    id: 'kst',
    lib: PTA,
    fn: 'kst',
    outputs: { kst: 'KST_10_15_20_30_10_10_10_15', signal: 'KSTs_9' },
    scale: 1 / 100,
  },
  {
    id: 'qqe',
    lib: PTA,
    fn: 'qqe',
    outputs: {
      line: 'QQE_14_5_4.236',
      rsi_ma: 'QQE_14_5_4.236_RSIMA',
      long: 'QQEb_l_14_5_4.236',
      short: 'QQEb_s_14_5_4.236',
      trend: 'QQEd_14_5_4.236',
    },
  },
  { id: 'tsi_signal', lib: PTA, fn: 'tsi', outputs: { tsi: 'TSI_13_25_13', signal: 'TSIs_13_25_13' } },
  {
    id: 'squeeze_momentum',
    lib: PTA,
    fn: 'squeeze',
    params: { lazybear: true },
    outputs: { momentum: 'SQZ_20_2.0_20_1.5_LB', ...squeezeFlags },
  },
  { id: 'ttm_squeeze', lib: PTA, fn: 'squeeze', outputs: { momentum: 'SQZ_20_2.0_20_1.5', ...squeezeFlags } },
  { id: 'vwap_session', lib: PTA, fn: 'vwap', outputs: { value: 'VWAP_D' } },
  {
    id: 'vwap_session',
    args: { anchor: 'week' },
    lib: PTA,
    fn: 'vwap',
    params: { anchor: 'W' },
    outputs: { value: 'VWAP_W' },
  },
  { id: 'vwap_bands', lib: PTA, fn: 'vwap', outputs: { middle: 'VWAP_D' } },
  {
    id: 'vwap_rolling',
    lib: 'ta',
    fn: 'VWAP14',
    params: { window: 14 },
    outputs: { value: 'volume_weighted_average_price' },
  },
  { id: 'eom', lib: PTA, fn: 'eom', outputs: { value: 'EOM_14_100000000' } },
  { id: 'eom', args: { length: 1 }, lib: 'ta', fn: 'EoM', outputs: { value: 'ease_of_movement' } },
  { id: 'kvo', lib: PTA, fn: 'kvo', outputs: { kvo: 'KVO_34_55_13', signal: 'KVOs_34_55_13' } },
  { id: 'hist_vol', lib: PTA, fn: 'hvol', outputs: { value: 'HVOL_20' } },
  { id: 'chop', lib: PTA, fn: 'chop', outputs: { value: 'CHOP_14_1_100' } },
  {
    id: 'chop',
    args: { length: 20 },
    lib: PTA,
    fn: 'chop',
    params: { length: 20 },
    outputs: { value: 'CHOP_20_1_100' },
  },
  { id: 'zscore', lib: PTA, fn: 'zscore', outputs: { value: 'ZS_30' } },
];

const { cases } = readOracle<{ cases: PeerCase[] }>('peers-BTCUSDT-1h');
const { bars } = readOracle<{ bars: Record<string, number[]> }>('talib-BTCUSDT-1h');
const columns = new Map(Object.entries(bars).map(([name, values]) => [name, Float64Array.from(values)]));
const TOLERANCE = 1e-9;

describe('the engine, compared with other libraries,', () => {
  for (const pairing of PAIRINGS) {
    const given = JSON.stringify(pairing.args ?? {});
    it(`computes ${pairing.id} ${given} as ${pairing.lib} ${pairing.fn}`, () => expectEqual(pairing));
  }
});

function expectEqual(pairing: Pairing): void {
  const { id, lib, fn, params = {}, scale = 1, tolerance = TOLERANCE } = pairing;
  const indicator = findIndicator(id)!;
  const args = argsOf(indicator, pairing.args);
  const wanted = JSON.stringify(params);
  const peer = cases.find((one) => one.lib === lib && one.fn === fn && JSON.stringify(one.params) === wanted);
  if (peer === undefined) throw new Error(`the oracle has no case ${lib} ${fn} ${wanted}`);
  const outputs = computeIndicator(indicator, args, indicator.inputs.map(inputColumn));
  const first = Math.max(indicator.lookback(args), pairing.warmUp ?? 0);
  for (const [ours, theirs] of Object.entries(pairing.outputs)) {
    const values = outputs[indicator.outputs.findIndex(({ name }) => name === ours)];
    const expected = peer.outputs[theirs];
    expect(expected, theirs).toBeDefined();
    for (let row = first; row < values.length; row++) {
      const want = scale * (expected[row] ?? NaN);
      const error = Math.abs(values[row] - want) / Math.max(1, Math.abs(want));
      if (!(error <= tolerance)) throw new Error(`${ours}[${row}] is ${values[row]}, ${lib} has ${want}`);
    }
  }
}

function inputColumn(name: string): Float64Array {
  const named = name === 'time' ? 'timestamp' : name === 'source' ? 'close' : name;
  return columns.get(named)!;
}
