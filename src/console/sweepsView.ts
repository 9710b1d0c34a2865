// Sweeps: the list, and one sweep with its verdict, heatmap, parallel coordinates and variants, which can be run.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { attemptTo, call, eventsOf, get, listOf, ApiFault } from './api.ts';
import { anyText, count, counted, moment, share, statisticOf, toneOf, valueText } from './formats.ts';
import { LabeledHeading, type Labels } from './labels.ts';
import { useLoaded, useRepeated, Waiting } from './loading.ts';
import { html, type Children } from './markup.ts';
import { ReportFrame } from './reportFrame.ts';
import { isOpen } from './resultRows.ts';
import { go, linkTo, route } from './route.ts';
import { may, say } from './session.ts';
import { readStrategyNames, strategyName } from './strategyNames.ts';
import { Heatmap, type Cell } from './sweepHeatmap.ts';
import { ParallelCoordinates } from './sweepParallel.ts';
import { shortName, type SweepRow } from './sweepRow.ts';
import { VirtualTable, type Column } from './virtualTable.ts';

interface SweepHead extends Labels {
  readonly id: string;
  readonly status: string;
  readonly strategyId: string;
  readonly method?: string;
  readonly variants: number;
  readonly createdAt: string;
  readonly best: { readonly variant: number; readonly value: number; readonly params: Params } | null;
  readonly verdict?: string | null;
}
type Params = Readonly<Record<string, unknown>>;
interface Progress {
  readonly pct: number;
  readonly variantsDone: number;
  readonly secondsLeft: number | null;
}
interface Sweep extends SweepHead {
  readonly progress: Progress;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly spec: {
    readonly space: Readonly<Record<string, unknown>>;
    readonly objective: string | { readonly key: string };
  };
  readonly result: {
    readonly verdict: { readonly code: string; readonly text: string };
    readonly warnings: readonly { readonly code: string; readonly message: string }[];
    readonly top: readonly { readonly variant: number; readonly params: Params; readonly metrics: Params }[];
  } | null;
}

/** More rows are read as the best ones only. */
const MOST_ROWS = 10_000;
const LOOK_MS = 3_000;
const MOST_SWEEPS = 500;

export function SweepsView(): Children {
  const [sweeps, setSweeps] = useState<readonly SweepHead[] | null>(null);
  useEffect(() => readStrategyNames(), []);
  useRepeated(async (signal) => {
    const rows = await listOf<SweepHead>('/sweeps', {}, MOST_SWEEPS, signal);
    setSweeps(rows);
    return rows.some(({ status }) => isOpen(status)) ? LOOK_MS : null;
  }, []);
  if (sweeps === null) return html`<${Waiting} what="Sweeps" />`;
  return html`<div class="stack">
    <div class="heading-line">
      <h1>Sweeps</h1>
      <p class="quiet">${counted(sweeps.length, 'sweep')}</p>
    </div>
    <ul class="rows">
      ${sweeps.map(
        (sweep) => html`<li class="card" key=${sweep.id}>
          <a href=${linkTo(`sweeps/${sweep.id}`)}>${titleOf(sweep)}</a>${' '}
          <span class="faint">
            ${`${sweep.method}, ${counted(sweep.variants, 'variant')}, ${moment(sweep.createdAt)} `}
          </span>
          <span class=${`state ${sweep.status}`}>${sweep.status}</span>
          ${
            sweep.best &&
            html`<p>
              ${`Best ${anyText(sweep.best.value)} with ${paramsText(sweep.best.params)}`}
              ${sweep.verdict && `, ${sweep.verdict === 'luck' ? 'which may be luck' : 'more than luck'}`}
            </p>`
          }
        </li>`,
      )}
      ${sweeps.length === 0 && html`<li class="card quiet">No sweeps yet.</li>`}
    </ul>
  </div>`; // prettier-ignore
}

const titleOf = ({ name, strategyId }: SweepHead): string => name || `Sweep of ${strategyName(strategyId)}`;
const paramsText = (params: Params): string =>
  Object.entries(params).map(([name, value]) => `${shortName(name)} ${anyText(value)}`).join(', '); // prettier-ignore

export function SweepView({ id }: { readonly id: string }): Children {
  const path = `/sweeps/${encodeURIComponent(id)}`;
  const { value, fault, reload } = useLoaded((signal) => get<Sweep>(path, {}, signal), [id]);
  useEffect(() => readStrategyNames(), []);
  if (value === undefined) return html`<${Waiting} fault=${fault} what="The sweep" />`;
  const tab = route.value.query.get('tab');
  return html`<div class="stack">
    <div class="card">
      <p class="path"><a href=${linkTo('sweeps')}>Sweeps</a></p>
      <${LabeledHeading}
        path=${path}
        labels=${value}
        title=${titleOf(value)}
        mayEdit=${may('backtests_write')}
        onChange=${reload}
      />
      <p class="lead">
        <a href=${linkTo(`strategies/${value.strategyId}`)}>${strategyName(value.strategyId)}</a>
        ${` · ${counted(value.variants, 'variant')} · ${moment(value.createdAt)} · `}
        <span class=${`state ${value.status}`}>${value.status}</span>
      </p>
      ${value.result && html`<p>${value.result.verdict.text}</p>`}
      <nav class="tabs" aria-label="Parts of the sweep">
        <a href=${linkTo(`sweeps/${id}`)} aria-current=${tab === null ? 'page' : undefined}>Variants</a>
        <a
          href=${linkTo(`sweeps/${id}`, { tab: 'report' })}
          aria-current=${tab === 'report' ? 'page' : undefined}
          >Report</a
        >
      </nav>
    </div>
    ${isOpen(value.status) && html`<${Live} sweep=${value} onEnd=${reload} />`}
    ${value.error && html`<div class="card note error"><p>${value.error.message}</p></div>`}
    ${
      value.result !== null &&
      (tab === 'report'
        ? html`<${ReportFrame} path=${`${path}/report`} label=${`Report of ${titleOf(value)}`} />`
        : html`<${Variants} sweep=${value} />`)
    }
  </div>`; // prettier-ignore
}

function Live({ sweep, onEnd }: { readonly sweep: Sweep; readonly onEnd: () => void }): Children {
  const [progress, setProgress] = useState(sweep.progress);
  useEffect(() => {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const event of eventsOf<Sweep>(`/sweeps/${sweep.id}/events`, stop.signal)) setProgress(event.progress);
    };
    follow()
      .catch((error: unknown) => {
        if (!stop.signal.aborted && !(error instanceof TypeError) && !(error instanceof ApiFault)) throw error;
      })
      .finally(() => stop.signal.aborted || onEnd());
    return () => stop.abort();
  }, [sweep]);
  const { pct, variantsDone, secondsLeft } = progress;
  const left = secondsLeft === null ? '' : `, about ${counted(Math.ceil(secondsLeft), 'second')} left`;
  return html`<div class="card live" role="status">
    <progress max="1" value=${pct} aria-label="Progress" />
    <span>${share(pct)}, ${counted(variantsDone, 'variant')} done${left}</span>
  </div>`;
}

/** Every row, or the best ones of a sweep that has too many. */
async function rowsOf({ id, variants, result }: Sweep, signal: AbortSignal): Promise<readonly SweepRow[]> {
  if (variants <= MOST_ROWS) return get<SweepRow[]>(`/sweeps/${id}/results`, { format: 'json' }, signal);
  return result!.top.map(({ variant, params, metrics }) => ({ variant, ...params, ...metrics }));
}

function Variants({ sweep }: { readonly sweep: Sweep }): Children {
  const { id, spec, variants } = sweep;
  const { value: rows, fault } = useLoaded((signal) => rowsOf(sweep, signal), [id]);
  const [cell, setCell] = useState<Cell | null>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const objective = typeof spec.objective === 'string' ? spec.objective : spec.objective.key;
  const [sort, setSort] = useState(`${statisticOf(objective)?.better === 'lower' ? '' : '-'}${objective}`);
  const names = Object.keys(spec.space);
  const shown = useMemo(() => {
    const kept = (rows ?? []).filter((row) =>
      chosen === null ? cell === null || cell.holds(row) : row.variant === chosen,
    );
    const key = sort.replace(/^-/, '');
    const sign = sort.startsWith('-') ? -1 : 1;
    return kept.toSorted((a, b) => sign * compared(a[key], b[key])).map((row) => ({ id: String(row.variant), row }));
  }, [rows, cell, chosen, sort]);
  if (rows === undefined) return html`<${Waiting} fault=${fault} what="The variants" />`;
  const run = (variant: string): void => void (may('backtests_write') ? runRow(sweep, variant) : undefined);
  const isCut = cell !== null || chosen !== null;
  const showAll = (): void => {
    setCell(null);
    setChosen(null);
  };
  return html`${
      names.length > 1 && html`<${Heatmap} sweepId=${id} names=${names} objective=${objective} onChoose=${setCell} />`
    }
    <${ParallelCoordinates} rows=${rows} names=${names} objective=${objective} chosen=${chosen} onChoose=${setChosen} />
    <section class="card" aria-labelledby="rows">
      <h2 id="rows">Variants</h2>
      <p class="lead">
        ${`${count(shown.length)} of ${counted(variants, 'variant')}. `}
        ${may('backtests_write') && 'Opening a row runs it as a full backtest with report and trades. '}
        ${isCut && html`<button class="plain" onClick=${showAll}>Show all</button>`}
      </p>
      <${VirtualTable}
        label="Variants"
        columns=${columnsOf(names, objective)}
        items=${shown}
        sort=${sort}
        onSort=${(key: string) => setSort(sort === `-${key}` ? key : `-${key}`)}
        onOpen=${run}
        empty="No variant is here."
      />
    </section>`;
}

/** Rows without a value come last in a descending order. */
function compared(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number' || typeof b === 'number') return typeof a === 'number' ? 1 : -1;
  return anyText(a) < anyText(b) ? -1 : 1;
}

function columnsOf(names: readonly string[], objective: string): Column<SweepRow>[] {
  const metrics = [...new Set([objective, 'returnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions'])];
  return [
    { key: 'variant', title: 'Variant', width: 80, isNumber: true, cell: ({ variant }) => count(variant) },
    ...names.map((name): Column<SweepRow> => ({
      key: name,
      title: shortName(name),
      about: name,
      width: 120,
      isNumber: true,
      cell: (row) => anyText(row[name]),
    })),
    ...metrics.map((key): Column<SweepRow> => ({
      key,
      title: statisticOf(key)?.name ?? key,
      width: 128,
      isNumber: true,
      cell: (row) => valueText(key, row[key]),
      tone: (row) => toneOf(key, row[key]),
    })),
  ];
}

/** Queues the full backtest of a row; its tag finds all that came from the sweep. */
async function runRow(sweep: Sweep, variant: string): Promise<void> {
  await attemptTo(async () => {
    const { id } = await call<{ id: string }>('POST', `/sweeps/${sweep.id}/rows/${variant}/backtest`);
    const body = { name: `${titleOf(sweep)}, variant ${variant}`.slice(0, 200), tags: [`sweep ${sweep.id.slice(-6)}`] };
    await call('PATCH', `/backtests/${id}`, { body });
    say('The variant is queued as a backtest.');
    go(linkTo(`results/${id}`));
  });
}
