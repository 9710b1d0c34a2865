// Home: live progress of running and waiting runs, the latest results, and how much of the tier is used.
import { useEffect, useState } from 'preact/hooks';
import { call, get, type Page } from './api.ts';
import { bytes, count, counted, moment, share, toneOf, valueText } from './formats.ts';
import { useRepeated } from './loading.ts';
import { html, type Children } from './markup.ts';
import { isOpen, type ResultRow } from './resultRows.ts';
import { symbolText, titleOf } from './resultsView.ts';
import { linkTo } from './route.ts';
import { context, may } from './session.ts';
import { readStrategyNames, strategies, strategyName } from './strategyNames.ts';

interface Run {
  readonly id: string;
  readonly status: string;
  readonly strategyId: string;
  readonly createdAt: string;
}
interface SweepRow extends Run {
  readonly method: string;
  readonly variants: number;
  readonly name?: string | null;
}
interface Progress {
  readonly pct: number;
  readonly secondsLeft?: number | null;
}
interface Seen {
  readonly running: Page<ResultRow>;
  readonly queued: Page<ResultRow>;
  readonly sweeps: readonly SweepRow[];
  readonly progress: ReadonlyMap<string, Progress>;
  readonly latest: Page<ResultRow>;
}

/** Runs whose progress is asked for one by one. */
const FOLLOWED = 5;
const SHOWN_WAITING = 5;
const SHOWN_LATEST = 12;
/** While something runs; else once in a while. A key that may ask little is looked at less often. */
const LOOK_MS = { busy: 1_000, idle: 4_000, sparing: 5_000 };
const FEW_REQUESTS = 1_000;

export function Home(): Children {
  const [seen, setSeen] = useState<Seen | null>(null);
  useEffect(() => readStrategyNames(), []);
  useRepeated(async (signal) => {
    if (!may('backtests_read')) return null;
    const now = await look(signal);
    setSeen(now);
    const known = strategies.value;
    if (known.size > 0 && now.latest.data.some(({ strategyId }) => !known.has(strategyId))) readStrategyNames(true);
    const isSparing = (context.value?.subscription.limits.requestsPerMinute ?? 0) < FEW_REQUESTS;
    const isBusy = now.running.data.length + now.queued.data.length + now.sweeps.length > 0;
    return isSparing ? LOOK_MS.sparing : isBusy ? LOOK_MS.busy : LOOK_MS.idle;
  }, []);
  if (!may('backtests_read'))
    return html`<div class="card">
      <h1>Home</h1>
      <p>This key lacks the scope backtests_read, so no results are shown.</p>
    </div>`;
  return html`<div class="columns">
    <h1 class="unseen">Home</h1>
    <${Open} seen=${seen} />
    <${Latest} seen=${seen} />
    <${Usage} />
  </div>`;
}

/** One look at what runs. */
async function look(signal: AbortSignal): Promise<Seen> {
  const backtests = (status: string | undefined, limit: number, sort: string) =>
    get<Page<ResultRow>>('/backtests', { status, limit, sort }, signal);
  const openSweeps = async (status: string) =>
    (await get<Page<SweepRow>>('/sweeps', { status, limit: FOLLOWED }, signal)).data;
  const [running, queued, latest, context_, ...sweeps] = await Promise.all([
    backtests('running', FOLLOWED, 'createdAt'),
    backtests('queued', SHOWN_WAITING, 'createdAt'),
    backtests('completed', SHOWN_LATEST, '-finishedAt'),
    call<NonNullable<typeof context.value>>('GET', '/workspace', { signal }),
    openSweeps('running'),
    openSweeps('queued'),
  ]);
  context.value = context_;
  const open = sweeps.flat();
  const followed = [
    ...running.data.map(({ id }) => `/backtests/${id}`),
    ...open.slice(0, FOLLOWED).map(({ id }) => `/sweeps/${id}`),
  ];
  const states = await Promise.all(
    // A run that has just been deleted has no progress.
    followed.map((path) => get<{ id: string; progress: Progress }>(path, { view: 'agent' }, signal).catch(() => null)),
  );
  const progress = new Map(states.flatMap((state) => (state === null ? [] : [[state.id, state.progress] as const])));
  return { running, queued, sweeps: open, progress, latest };
}

function Open({ seen }: { readonly seen: Seen | null }): Children {
  const isIdle = seen !== null && seen.running.data.length + seen.queued.data.length + seen.sweeps.length === 0;
  return html`<section class="card" aria-labelledby="open">
    <h2 id="open">Running and waiting</h2>
    ${seen === null && html`<p class="quiet">Loading …</p>`}
    ${isIdle && html`<p class="quiet">Nothing is running or waiting.</p>`}
    ${
      seen !== null &&
      !isIdle &&
      html`<p class="lead" role="status">
          ${counted(seen.running.pagination.total, 'backtest')} running, ${count(seen.queued.pagination.total)}
          waiting${seen.sweeps.length > 0 && `, ${counted(seen.sweeps.length, 'sweep')}`}
        </p>
        <ul class="runs">
          ${seen.sweeps.map(
            (sweep) =>
              html`<${OpenRun}
                key=${sweep.id}
                href=${linkTo(`sweeps/${sweep.id}`)}
                title=${sweep.name || `Sweep of ${strategyName(sweep.strategyId)}`}
                about=${counted(sweep.variants, 'variant')}
                run=${sweep}
                progress=${seen.progress.get(sweep.id)}
              />`,
          )}
          ${[...seen.running.data, ...seen.queued.data].map(
            (row) =>
              html`<${OpenRun}
                key=${row.id}
                href=${linkTo(`results/${row.id}`)}
                title=${titleOf(row)}
                about=${`${row.symbol} ${row.timeframe}`}
                run=${row}
                progress=${seen.progress.get(row.id)}
              />`,
          )}
        </ul>`
    }
  </section>`;
}

interface OpenRunProps {
  readonly href: string;
  readonly title: string;
  readonly about: string;
  readonly run: Run;
  readonly progress: Progress | undefined;
}

function OpenRun({ href, title, about, run, progress }: OpenRunProps): Children {
  const { pct = 0, secondsLeft } = progress ?? {};
  const left = typeof secondsLeft === 'number' ? `, ${counted(Math.ceil(secondsLeft), 'second')} left` : '';
  return html`<li>
    <a href=${href}>${title}</a> <span class="faint">${about}</span>
    ${
      run.status === 'queued'
        ? html`<span class="state queued">waiting</span>`
        : html`<progress max="1" value=${pct} aria-label=${`Progress of ${title}`} />
            <span class="faint">${share(pct)}${left}</span>`
    }
  </li>`;
}

function Latest({ seen }: { readonly seen: Seen | null }): Children {
  if (seen === null) return null;
  const { data, pagination } = seen.latest;
  const isEmpty = data.length === 0 && !isOpen(seen.running.data[0]?.status);
  return html`<section class="card" aria-labelledby="latest">
    <h2 id="latest">Latest results</h2>
    ${
      isEmpty
        ? html`<p class="quiet">None yet.</p>`
        : html`<p class="lead"><a href=${linkTo('results')}>All ${count(pagination.total)} completed</a></p>
            <div class="scroll" tabindex="0" role="region" aria-label="Latest results">
              <table>
                <thead>
                  <tr>
                    <th scope="col" class="text">Name</th>
                    <th scope="col" class="text">Market</th>
                    <th scope="col">Return</th>
                    <th scope="col">Sharpe</th>
                    <th scope="col">Drawdown</th>
                    <th scope="col">Positions</th>
                    <th scope="col">Ended</th>
                  </tr>
                </thead>
                <tbody>
                  ${data.map(
                    (row) =>
                      html`<tr key=${row.id}>
                        <td class="text name"><a href=${linkTo(`results/${row.id}`)}>${titleOf(row)}</a></td>
                        <td class="text">${symbolText(row)} ${row.timeframe}</td>
                        ${['returnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions'].map(
                          (key) => html`<td class=${toneOf(key, row[key])}>${valueText(key, row[key])}</td>`,
                        )}
                        <td>${moment(row.finishedAt)}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
    }
  </section>`;
}

/** The limits that fill up, in the order in which they matter to a person. */
const SHOWN_LIMITS: readonly (readonly [name: string, title: string, text: (value: number) => string])[] = [
  ['queuedBacktests', 'Backtests queued or running', count],
  ['strategies', 'Strategies', count],
  ['keptBacktests', 'Backtests kept', count],
  ['keptSweeps', 'Sweeps kept', count],
  ['backtestResultBytes', 'Results of backtests', bytes],
  ['sweepResultBytes', 'Results of sweeps', bytes],
  ['marketDataBytes', 'Own market data', bytes],
];

function Usage(): Children {
  const { tier, limits, usage } = context.value!.subscription;
  const rows = SHOWN_LIMITS.filter(([name]) => usage[name] !== undefined && limits[name] > 0);
  return html`<section class="card" aria-labelledby="usage">
    <h2 id="usage">Usage of the ${tier} tier</h2>
    <dl class="usage">
      ${rows.map(
        ([name, title, text]) =>
          html`<dt>${title}</dt>
            <dd>
              <meter min="0" max="1" high="0.8" value=${usage[name] / limits[name]} aria-label=${title}></meter>
              <span>${text(usage[name])} of ${text(limits[name])}</span>
            </dd>`,
      )}
    </dl>
  </section>`;
}
