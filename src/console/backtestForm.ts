// The form "Backtest this": the data, period and trading costs for a backtest of a version, as a config of the API.
import { useState } from 'preact/hooks';
import { attemptTo, call, listOf } from './api.ts';
import { fieldText } from './labels.ts';
import { useLoaded } from './loading.ts';
import { html, type Children } from './markup.ts';
import { go, linkTo } from './route.ts';
import { say } from './session.ts';
import type { Param, WholeVersion } from './strategyVersion.ts';

interface Series {
  readonly symbol: string;
  readonly timeframe: string;
}

const TIMEFRAMES = ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w'];
const PERCENT = 100;
const BASIS_POINTS = 10_000;

export function BacktestForm({ version }: { readonly version: WholeVersion }): Children {
  const { value: series = [] } = useLoaded((signal) => listOf<Series>('/market-data', {}, 1_000, signal), []);
  const [symbols, setSymbols] = useState('');
  const [isBusy, setBusy] = useState(false);
  const params = (version.signalGraph ?? version.strategyAst).strategy?.params ?? [];
  const listed = symbols.split(',').map((each) => each.trim()).filter(Boolean); // prettier-ignore
  const own = series.find(({ symbol }) => symbol === listed[0])?.timeframe;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const body = { strategyVersionId: version.id, config: configOf(form, listed, params) };
    setBusy(true);
    await attemptTo(async () => {
      const { id } = await call<{ id: string }>('POST', '/backtests', { body });
      say('The backtest is queued.');
      go(linkTo(`results/${id}`));
    });
    setBusy(false);
  };
  return html`<section class="card" aria-labelledby="run">
    <h2 id="run">Backtest this</h2>
    <form class="fields grid" onSubmit=${submit}>
      <label
        >Symbols, with commas for a portfolio
        <input
          name="symbols"
          list="series"
          required
          value=${symbols}
          onInput=${(event: InputEvent) => setSymbols((event.target as HTMLInputElement).value)}
        />
        <datalist id="series">${series.map(({ symbol }) => html`<option value=${symbol} />`)}</datalist>
      </label>
      <label
        >Bars
        <select name="timeframe">
          ${TIMEFRAMES.map((each) => html`<option selected=${each === (own ?? '1d')}>${each}</option>`)}
        </select>
      </label>
      <label>From <input name="start" type="date" /></label>
      <label>To <input name="end" type="date" /></label>
      <label>Balance <input name="balance" type="number" min="1" step="any" value="10000" required /></label>
      <label>Fee in % <input name="fee" type="number" min="0" step="any" value="0.05" required /></label>
      <label
        >Slippage in basis points <input name="slippage" type="number" min="0" step="any" value="1" required
      /></label>
      ${listed.length > 1 && html`<label>Slots <input name="slots" type="number" min="1" step="1" value="1" /></label>`}
      ${params.map(
        ({ name, default: usual }) =>
          html`<label>${name} <input name=${`param ${name}`} placeholder=${JSON.stringify(usual)} /> </label>`,
      )}
      <div class="actions"><button class="main" disabled=${isBusy}>Queue the backtest</button></div>
    </form>
  </section>`;
}

function configOf(form: FormData, symbols: readonly string[], params: readonly Param[]): object {
  const text = (name: string): string => fieldText(form, name);
  const rate = Number(text('fee')) / PERCENT;
  const bps = Number(text('slippage'));
  const [start, end] = [text('start'), text('end')];
  const given = params.flatMap(({ name }) => {
    const value = text(`param ${name}`);
    return value === '' ? [] : [[name, valueOf(value)] as const];
  });
  return {
    timeframe: text('timeframe'),
    ...(symbols.length === 1
      ? { signalInstrument: { symbol: symbols[0] } }
      : { instruments: symbols.map((symbol) => ({ symbol })) }),
    ...(symbols.length > 1 && text('slots') !== '' && { portfolio: { slots: Number(text('slots')) } }),
    ...((start !== '' || end !== '') && { range: { ...(start && { start }), ...(end && { end }) } }),
    initialBalance: Number(text('balance')),
    execution: {
      feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: rate, takerRate: rate }] },
      slippage: bps > 0 ? { kind: 'fixed', unit: 'bps', value: Math.min(bps, BASIS_POINTS) } : { kind: 'none' },
    },
    ...(given.length > 0 && { params: Object.fromEntries(given) }),
  };
}

/** A number or a boolean as it is written, anything else as text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
