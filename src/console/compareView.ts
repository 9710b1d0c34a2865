// Results side by side: settings that differ, metrics, growth in one chart, trades, and the correlation of returns.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, pause } from './api.ts';
import { anyText, count, counted, day, MISSING, money, ratio, statisticOf, toneOf, valueText } from './formats.ts';
import { LineChart } from './lineChart.ts';
import { useLoaded, Waiting } from './loading.ts';
import { html, type Children } from './markup.ts';
import { linkTo, route } from './route.ts';

interface Compared {
  readonly id: string;
  readonly label: string;
  readonly symbol: string;
  readonly timeframe: string;
  readonly start: number | null;
  readonly end: number | null;
}
interface TradesOfOne {
  readonly count: number;
  readonly outsidePeriod: number;
  readonly pnl: number;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}
interface TradePair {
  readonly a: number;
  readonly b: number;
  readonly both: number;
  readonly changed: number;
  readonly onlyA: TradesOfOne;
  readonly onlyB: TradesOfOne;
}
type Matrix = readonly (readonly (number | null)[])[];
interface Comparison {
  readonly status: 'complete' | 'pending';
  readonly backtests: readonly Compared[];
  readonly settings: readonly { readonly path: string; readonly text: string; readonly values: readonly unknown[] }[];
  readonly metrics: readonly { readonly key: string; readonly values: readonly unknown[] }[];
  readonly trades: readonly TradePair[] | null;
  readonly correlations: { readonly status: string; readonly message?: string; readonly returns?: Matrix } | null;
  readonly equity: { readonly time: readonly number[]; readonly backtests: Matrix } | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

const EQUITY_POINTS = 800;
const WAIT_SECONDS = 20;

export function CompareView(): Children {
  const ids = (route.value.query.get('ids') ?? '').split(',').filter(Boolean);
  const [shown, setShown] = useState<Comparison | undefined>();
  const compare = (wait: number, signal: AbortSignal): Promise<Comparison> => {
    const body = { backtestIds: ids, equityPoints: EQUITY_POINTS, wait };
    return call('POST', '/backtests/compare', { body, signal });
  };
  const { fault } = useLoaded(
    async (signal) => {
      // What needs no rerun is there at once; correlations and curves follow.
      for (let wait = 0; ; wait = WAIT_SECONDS) {
        const answer = await compare(wait, signal);
        setShown(answer);
        if (answer.status === 'complete') return answer;
        await pause(500, signal);
      }
    },
    [ids.join()],
  );
  useEffect(() => setShown(undefined), [ids.join()]);
  if (ids.length < 2)
    return html`<div class="card">
      <h1>Compare</h1>
      <p>
        Choose two to six rows of the <a href=${linkTo('results')}>table of results</a> with their boxes or with Space.
      </p>
    </div>`;
  if (shown === undefined || fault !== undefined) return html`<${Waiting} fault=${fault} what="The comparison" />`;
  return html`<div class="stack">
    <div class="card">
      <h1>Side by side</h1>
      <${Names} backtests=${shown.backtests} />
      ${shown.warnings.map(({ code, message }) => html`<div class="note warning" key=${code}><p>${message}</p></div>`)}
    </div>
    <${Curves} comparison=${shown} />
    <${Table} title="Metrics" backtests=${shown.backtests} rows=${metricRows(shown)} />
    <${Table} title="Settings that differ" backtests=${shown.backtests} rows=${settingRows(shown)} />
    <${Trades} comparison=${shown} />
    <${Correlations} comparison=${shown} />
  </div>`;
}

/** `A`, `B`, …: short enough for the headings of tables. */
const letter = (index: number): string => String.fromCodePoint(65 + index);

function Names({ backtests }: { readonly backtests: readonly Compared[] }): Children {
  return html`<ol class="names">
    ${backtests.map(
      ({ id, label, symbol, timeframe, start, end }, index) =>
        html`<li>
          <b>${letter(index)}</b> <a href=${linkTo(`results/${id}`)}>${label}</a>${' '}
          <span class="faint">${symbol} ${timeframe}, ${day(start)} to ${day(end)}</span>
        </li>`,
    )}
  </ol>`;
}

function Curves({ comparison }: { readonly comparison: Comparison }): Children {
  const { equity, backtests, correlations } = comparison;
  const curves = useMemo(
    () =>
      backtests.map(({ label }, index) => ({
        name: `${letter(index)} ${label}`,
        points: equity?.time.map((time, at) => [time, equity.backtests[index][at]] as const) ?? [],
      })),
    [equity],
  );
  const waiting = correlations?.message ?? 'The curves are being made …';
  return html`<section class="card" aria-labelledby="growth">
    <h2 id="growth">Growth</h2>
    <p class="lead">Equity of each result, divided by its initial balance.</p>
    ${
      equity === null
        ? html`<p class="quiet" role="status">${waiting}</p>`
        : html`<${LineChart} label="Growth of each result" curves=${curves} text=${ratio} />`
    }
  </section>`;
}

interface CompareRow {
  readonly title: string;
  readonly about?: string;
  readonly texts: readonly string[];
  readonly tones: readonly string[];
  /** The place of the best value. */
  readonly best: number | null;
}

function metricRows({ metrics }: Comparison): CompareRow[] {
  return metrics.map(({ key, values }) => {
    const statistic = statisticOf(key);
    const numbers = values.map((value) => (typeof value === 'number' ? value : null));
    const held = numbers.filter((value) => value !== null);
    const isRanked = statistic !== undefined && ['percent', 'ratio', 'money'].includes(statistic.written);
    const wanted = held.reduce(
      (a, b) => (statistic?.better === 'lower' ? Math.min(a, b) : Math.max(a, b)),
      held[0] ?? 0,
    );
    const isTied = held.length < 2 || held.every((value) => value === held[0]);
    return {
      title: statistic?.name ?? key,
      about: statistic?.about,
      texts: values.map((value) => valueText(key, value)),
      tones: values.map((value) => toneOf(key, value)),
      best: isRanked && !isTied ? numbers.indexOf(wanted) : null,
    };
  });
}

const settingRows = ({ settings }: Comparison): CompareRow[] =>
  settings.map(({ text, path, values }) => ({
    title: text,
    about: path,
    texts: values.map(anyText),
    tones: values.map(() => ''),
    best: null,
  }));

interface TableProps {
  readonly title: string;
  readonly backtests: readonly Compared[];
  readonly rows: readonly CompareRow[];
}

function Table({ title, backtests, rows }: TableProps): Children {
  return html`<section class="card" aria-label=${title}>
    <h2>${title}</h2>
    ${
      rows.length === 0
        ? html`<p class="quiet">None.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label=${title}>
            <table>
              <thead>
                <tr>
                  <th scope="col" class="text"><span class="unseen">Name</span></th>
                  ${backtests.map(({ label }, index) => html`<th scope="col" title=${label}>${letter(index)}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${rows.map(
                  ({ title: name, about, texts, tones, best }) =>
                    html`<tr>
                      <th scope="row" title=${about}>${name}</th>
                      ${texts.map(
                        (text, index) =>
                          html`<td class=${tones[index]}>${index === best ? html`<b>${text}</b>` : text}</td>`,
                      )}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
  </section>`;
}

function Trades({ comparison }: { readonly comparison: Comparison }): Children {
  const { trades } = comparison;
  if (trades === null) return null;
  return html`<section class="card" aria-labelledby="trades">
    <h2 id="trades">Trades that only one of two results has</h2>
    <p class="lead">Two positions match if they have the same instrument, side and entry time.</p>
    ${trades.map((pair) => html`<${Pair} pair=${pair} />`)}
  </section>`;
}

function Pair({ pair }: { readonly pair: TradePair }): Children {
  const { a, b, both, changed, onlyA, onlyB } = pair;
  const names = [letter(a), letter(b)];
  return html`<details class="pair">
    <summary>
      ${names.join(' and ')}: ${counted(both, 'position')} in both, ${count(changed)} with another exit or profit;
      ${` ${count(onlyA.count)} only in ${names[0]}, ${count(onlyB.count)} only in ${names[1]}`}
    </summary>
    ${[onlyA, onlyB].map(
      (only, index) =>
        html`<h3>Only in ${names[index]}: ${count(only.count)}, ${money(only.pnl)}</h3>
          ${only.rows.length > 0 && html`<${TradeRows} rows=${only.rows} label=${`Only in ${names[index]}`} />`}
          ${only.count > only.rows.length && html`<p class="quiet">${count(only.rows.length)} of them are shown.</p>`}`,
    )}
  </details>`;
}

const TRADE_TITLES = ['Symbol', 'Side', 'Entry', 'Exit', 'Reason'];

function TradeRows({ rows, label }: { readonly rows: TradesOfOne['rows']; readonly label: string }): Children {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead>
        <tr>
          ${TRADE_TITLES.map((title) => html`<th scope="col" class="text">${title}</th>`)}
          <th scope="col">Profit</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ symbol, side, entryTime, exitTime, exitReason, pnl }) =>
            html`<tr>
              ${[symbol, side, day(entryTime), day(exitTime), exitReason].map(
                (value) => html`<td class="text">${anyText(value)}</td>`,
              )}
              <td class=${toneOf('returnPct', pnl)}>${money(pnl)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function Correlations({ comparison }: { readonly comparison: Comparison }): Children {
  const { correlations, backtests } = comparison;
  const returns = correlations?.returns;
  return html`<section class="card" aria-labelledby="correlations">
    <h2 id="correlations">Correlation of daily returns</h2>
    ${
      returns === undefined
        ? html`<p class="quiet" role="status">${correlations?.message ?? 'Being computed …'}</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Correlations">
            <table class="matrix">
              <thead>
                <tr>
                  <th scope="col"><span class="unseen">Result</span></th>
                  ${backtests.map((_, index) => html`<th scope="col">${letter(index)}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${returns.map(
                  (row, index) =>
                    html`<tr>
                      <th scope="row">${letter(index)}</th>
                      ${row.map((value) => html`<td>${value === null ? MISSING : ratio(value)}</td>`)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
  </section>`;
}
