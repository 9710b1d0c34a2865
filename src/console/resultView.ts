// One result: its numbers, notable findings, the instruments of a portfolio, its report and its config.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiFault, attemptTo, call, download, eventsOf, get } from './api.ts';
import {
  anyText,
  count,
  day,
  MISSING,
  money,
  moment,
  share,
  STATISTICS,
  statisticOf,
  toneOf,
  valueText,
} from './formats.ts';
import { Instruments, type InstrumentRow } from './instrumentTable.ts';
import { LabeledHeading, type Labels } from './labels.ts';
import { LineChart } from './lineChart.ts';
import { useLoaded, Waiting } from './loading.ts';
import { html, type Children } from './markup.ts';
import { ReportFrame } from './reportFrame.ts';
import { isOpen } from './resultRows.ts';
import { go, linkTo, route } from './route.ts';
import { may, say } from './session.ts';
import { readStrategyNames, strategyName, versionText } from './strategyNames.ts';

interface Finding {
  readonly code: string;
  readonly severity?: string;
  readonly message?: string;
  readonly suggestion?: string;
}
type Summary = Readonly<Record<string, unknown>> & {
  readonly strategyTrace?: { readonly diagnosis?: readonly Finding[] };
  readonly instruments?: readonly InstrumentRow[];
  readonly equityPreview?: readonly (readonly [time: number, value: number])[];
  readonly evaluationWindow?: { readonly start?: number; readonly end?: number };
};
export interface Backtest extends Labels {
  readonly id: string;
  readonly status: string;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly config: Readonly<Record<string, unknown>> & {
    readonly timeframe?: string;
    readonly signalInstrument?: { readonly symbol: string };
    readonly instruments?: readonly { readonly symbol: string }[];
  };
  readonly progress: Progress;
  readonly warnings: readonly Finding[];
  readonly error: { readonly code: string; readonly path: string; readonly message: string } | null;
  readonly result: { readonly summaryJson: Summary } | null;
}
interface Progress {
  readonly phase: string;
  readonly pct: number;
  readonly queuePosition: number | null;
}

export function ResultView({ id }: { readonly id: string }): Children {
  const path = `/backtests/${encodeURIComponent(id)}`;
  const { value, fault, reload } = useLoaded((signal) => get<Backtest>(path, {}, signal), [id]);
  useEffect(() => readStrategyNames(), []);
  if (value === undefined) return html`<${Waiting} fault=${fault} what="The result" />`;
  const tab = route.value.query.get('tab');
  return html`<div class="stack">
    <${Head} backtest=${value} tab=${tab} onChange=${reload} />
    ${isOpen(value.status) && html`<${Live} backtest=${value} onEnd=${reload} />`}
    ${
      value.error &&
      html`<div class="card note error">
        <h2>${value.error.code}</h2>
        <p>${value.error.message}</p>
      </div>`
    }
    <${Part} tab=${tab} backtest=${value} />
  </div>`;
}

function Part({ tab, backtest }: { readonly tab: string | null; readonly backtest: Backtest }): Children {
  const { id, strategyId, config, result, warnings } = backtest;
  if (tab === 'config')
    return html`<section class="card">
      <h2>Config</h2>
      <pre tabindex="0">${JSON.stringify(config, null, 2)}</pre>
    </section>`;
  if (result === null) return null;
  if (tab !== 'report') return html`<${Overview} summary=${result.summaryJson} warnings=${warnings} />`;
  const path = `/backtests/${encodeURIComponent(id)}/artifacts/report`;
  return html`<${ReportFrame} path=${path} label=${`Report of ${strategyName(strategyId)}`} />`;
}

function Overview({
  summary,
  warnings,
}: {
  readonly summary: Summary;
  readonly warnings: readonly Finding[];
}): Children {
  const curves = useMemo(() => [{ name: 'Equity', points: summary.equityPreview ?? [] }], [summary]);
  return html`<${Headline} summary=${summary} />
    ${
      curves[0].points.length > 1 &&
      html`<section class="card" aria-labelledby="equity">
        <h2 id="equity">Equity</h2>
        <${LineChart} label="Equity over time" curves=${curves} text=${money} />
      </section>`
    }
    <${Findings} findings=${[...(summary.strategyTrace?.diagnosis ?? []), ...warnings]} />
    ${summary.instruments && html`<${Instruments} rows=${summary.instruments} />`}
    <${AllNumbers} summary=${summary} />`;
}

const TABS = [['', 'Overview'], ['report', 'Report'], ['config', 'Config']] as const; // prettier-ignore

const marketText = ({ signalInstrument, instruments, timeframe }: Backtest['config']): string =>
  `${instruments === undefined ? signalInstrument?.symbol : `${instruments.length} instruments`} ${timeframe}`;

interface HeadProps {
  readonly backtest: Backtest;
  readonly tab: string | null;
  readonly onChange: () => void;
}

function Head({ backtest, tab, onChange }: HeadProps): Children {
  const { id, status, strategyId, strategyVersionId, config, createdAt, finishedAt, result } = backtest;
  const window_ = result?.summaryJson.evaluationWindow;
  const period = window_?.start === undefined ? '' : ` · ${day(window_.start)} to ${day(window_.end)}`;
  const when = finishedAt === null ? `queued ${moment(createdAt)}` : `ended ${moment(finishedAt)}`;
  return html`<div class="card">
    <p class="path"><a href=${linkTo('results')}>Results</a></p>
    <${LabeledHeading}
      path=${`/backtests/${id}`}
      labels=${backtest}
      title=${strategyName(strategyId)}
      mayEdit=${may('backtests_write')}
      onChange=${onChange}
    />
    <p class="lead">
      <a href=${linkTo(`strategies/${strategyId}`)}>${strategyName(strategyId)} ${versionText(strategyVersionId)}</a>
      ${` · ${marketText(config)}${period} · ${when} · `}
      <span class=${`state ${status}`}>${status}</span>
    </p>
    <${Actions} id=${id} status=${status} onChange=${onChange} />
    <nav class="tabs" aria-label="Parts of the result">
      ${TABS.map(
        ([name, title]) => html`<a
          href=${linkTo(`results/${id}`, { tab: name })}
          aria-current=${(tab ?? '') === name ? 'page' : undefined}
          >${title}</a
        >`,
      )}
    </nav>
  </div>`; // prettier-ignore
}

/** Only what the key may do. */
function Actions({
  id,
  status,
  onChange,
}: {
  readonly id: string;
  readonly status: string;
  readonly onChange: () => void;
}): Children {
  const mayWrite = may('backtests_write');
  const table = (name: string): void =>
    void attemptTo(() => download(`/backtests/${id}/artifacts/${name}`, { format: 'csv' }, `${name}-${id}.csv`));
  const remove = async (): Promise<void> => {
    if (!confirm('Delete this backtest with its result? This cannot be undone.')) return;
    if (!(await attemptTo(() => call('DELETE', `/backtests/${id}`)))) return;
    say('The backtest was deleted.');
    go(linkTo('results'));
  };
  return html`<div class="actions">
    ${
      status === 'completed' &&
      html`<button onClick=${() => table('trades')}>Trades as CSV</button>
        <button onClick=${() => table('equity')}>Equity as CSV</button>`
    }
    ${
      mayWrite &&
      isOpen(status) &&
      html`<button onClick=${() => attemptTo(() => call('POST', `/backtests/${id}/cancel`)).then(onChange)}>
        Cancel
      </button>`
    }
    ${mayWrite && !isOpen(status) && html`<button class="danger" onClick=${remove}>Delete</button>`}
  </div>`;
}

/** The progress of a run, from its stream of events. */
function Live({ backtest, onEnd }: { readonly backtest: Backtest; readonly onEnd: () => void }): Children {
  const [progress, setProgress] = useState(backtest.progress);
  useEffect(() => {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const event of eventsOf<Backtest>(`/backtests/${backtest.id}/events`, stop.signal))
        setProgress(event.progress);
    };
    // A stream that breaks off is read again by the view that reads the result.
    follow().catch((error: unknown) => {
      if (!stop.signal.aborted && !(error instanceof TypeError) && !(error instanceof ApiFault)) throw error;
    }).finally(() => stop.signal.aborted || onEnd()); // prettier-ignore
    return () => stop.abort();
  }, [backtest]);
  const { phase, pct, queuePosition } = progress;
  const waiting = `waiting${queuePosition ? `, ${count(queuePosition)} before it` : ''}`;
  return html`<div class="card live" role="status">
    <progress max="1" value=${pct} aria-label="Progress" />
    <span>${phase === 'queued' ? waiting : `${phase} ${share(pct)}`}</span>
  </div>`;
}

const HEADLINE = [
  'returnPct', 'buyHoldReturnPct', 'cagr', 'sharpeRatio', 'maxDrawdown', 'totalPositions', 'winRate', 'profitFactor',
  'totalFees', 'finalEquity',
]; // prettier-ignore

function Headline({ summary }: { readonly summary: Summary }): Children {
  return html`<dl class="cards">
    ${HEADLINE.map(
      (key) =>
        html`<div class="card figure" title=${statisticOf(key)?.about}>
          <dt>${statisticOf(key)?.name}</dt>
          <dd class=${toneOf(key, summary[key])}>${valueText(key, summary[key])}</dd>
        </div>`,
    )}
  </dl>`;
}

function Findings({ findings }: { readonly findings: readonly Finding[] }): Children {
  const distinct = [...new Map(findings.map((finding) => [`${finding.code} ${finding.message}`, finding])).values()];
  if (distinct.length === 0) return null;
  return html`<section class="card" aria-labelledby="findings">
    <h2 id="findings">What stands out</h2>
    ${distinct.map(
      ({ code, severity, message, suggestion }) =>
        html`<div class=${`note ${severity ?? 'info'}`}>
          <h3>${message ?? code}</h3>
          <p>${suggestion} <code>${code}</code></p>
        </div>`,
    )}
  </section>`;
}

function AllNumbers({ summary }: { readonly summary: Summary }): Children {
  return html`<details class="card">
    <summary>All numbers</summary>
    <dl class="numbers">
      ${STATISTICS.map(
        ({ key, name, about }) =>
          html`<div title=${about}>
            <dt>${name}</dt>
            <dd class=${toneOf(key, summary[key])}>
              ${summary[key] === undefined ? MISSING : valueText(key, summary[key])}
            </dd>
          </div>`,
      )}
    </dl>
    <p class="faint">${anyText(summary.conventions)}</p>
  </details>`;
}
