// Strategies: all of them, and one with its versions, its editor and the form that queues a backtest of it.
import { useEffect, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { attemptTo, call, get, listOf } from './api.ts';
import { BacktestForm } from './backtestForm.ts';
import { counted, moment } from './formats.ts';
import { LabeledHeading, type Labels } from './labels.ts';
import { useLoaded, Waiting } from './loading.ts';
import { html, type Children } from './markup.ts';
import { go, linkTo, route } from './route.ts';
import { may, say } from './session.ts';
import type { VersionSummary, WholeVersion } from './strategyVersion.ts';

interface Strategy extends Labels {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly updatedAt: string;
  readonly archivedAt?: string | null;
  readonly versionCount: number;
  readonly versions: readonly VersionSummary[];
}
const MOST_STRATEGIES = 500;

export function StrategiesView(): Children {
  const { query } = route.value;
  const search = query.get('search') ?? '';
  const { value, fault } = useLoaded(
    (signal) => listOf<Strategy>('/strategies', { search, sort: '-updatedAt' }, MOST_STRATEGIES, signal),
    [search],
  );
  const find = (event: Event): void =>
    go(linkTo('strategies', { search: (event.target as HTMLInputElement).value.trim() }));
  return html`<div class="stack">
    <div class="heading-line">
      <h1>Strategies</h1>
      ${value && html`<p class="quiet">${counted(value.length, 'strategy', 'strategies')}</p>`}
      <label class="filters">
        <span class="unseen">Search</span>
        <input type="search" value=${search} placeholder="Search" onChange=${find} />
      </label>
      ${may('strategies_write') && html`<a class="button" href=${linkTo('strategies/new')}>New strategy</a>`}
    </div>
    ${
      value === undefined
        ? html`<${Waiting} fault=${fault} what="Strategies" />`
        : html`<ul class="rows">
            ${value.map(
              (strategy) =>
                html`<li class="card" key=${strategy.id}>
                  <a href=${linkTo(`strategies/${strategy.id}`)}>${strategy.name}</a>
                  <span class="faint">
                    ${counted(strategy.versionCount, 'version')}, changed ${moment(strategy.updatedAt)}
                  </span>
                  ${strategy.description && html`<p>${strategy.description}</p>`}
                  ${(strategy.tags ?? []).map((tag) => html`<span class="tag">${tag}</span>`)}
                </li>`,
            )}
            ${value.length === 0 && html`<li class="card quiet">No strategies yet.</li>`}
          </ul>`
    }
  </div>`;
}

export function StrategyView({ id }: { readonly id: string }): Children {
  if (id === 'new') return html`<${Editing} version=${null} />`;
  return html`<${OneStrategy} id=${id} />`;
}

function OneStrategy({ id }: { readonly id: string }): Children {
  const path = `/strategies/${encodeURIComponent(id)}`;
  const { query } = route.value;
  const { value, fault, reload } = useLoaded((signal) => get<Strategy>(path, {}, signal), [id]);
  const newest = value?.versions.reduce((most, { version }) => Math.max(most, version), 0);
  const number = Number(query.get('version') ?? newest ?? 0);
  const shown = useLoaded(
    async (signal) => (number === 0 ? null : get<WholeVersion>(`${path}/versions/${number}`, {}, signal)),
    [id, number],
  );
  if (value === undefined) return html`<${Waiting} fault=${fault} what="The strategy" />`;
  const version = shown.value ?? null;
  if (query.get('do') === 'edit' && version !== null) return html`<${Editing} version=${version} name=${value.name} />`;
  return html`<div class="stack">
    <div class="card">
      <p class="path"><a href=${linkTo('strategies')}>Strategies</a></p>
      <${LabeledHeading}
        path=${path}
        labels=${value}
        title=${value.name}
        mayEdit=${may('strategies_write')}
        onChange=${reload}
      />
      ${value.description && html`<p class="lead">${value.description}</p>`}
      <div class="actions">
        ${
          may('strategies_write') &&
          !value.archivedAt &&
          html`<a class="button" href=${linkTo(`strategies/${id}`, { version: String(number), do: 'edit' })}>Edit</a>
            <button class="danger" onClick=${() => archive(value)}>Archive</button>`
        }
        <a class="button" href=${linkTo('results', { strategy: id })}>Results of this strategy</a>
      </div>
      <nav class="tabs" aria-label="Versions">
        ${value.versions
          .toReversed()
          .slice(0, 12)
          .map(
            (each) =>
              html`<a
                href=${linkTo(`strategies/${id}`, { version: String(each.version) })}
                aria-current=${each.version === number ? 'page' : undefined}
                title=${moment(each.createdAt)}
                >v${each.version} ${each.status === 'draft' ? 'draft' : ''}</a
              >`,
          )}
      </nav>
    </div>
    ${
      version === null
        ? html`<${Waiting} fault=${shown.fault} what="The version" />`
        : html`${may('backtests_write') && version.status === 'ready' && html`<${BacktestForm} version=${version} />`}
            <section class="card">
              <h2>Version ${version.version}</h2>
              <pre tabindex="0">${writtenText(version)}</pre>
            </section>`
    }
  </div>`;
}

/** What the author wrote: the settings, and the graph or the tree. */
const writtenText = ({ settings, strategyAst, signalGraph }: WholeVersion): string =>
  JSON.stringify(signalGraph === null ? { settings, strategyAst } : { settings, signalGraph }, null, 2);

async function archive({ id, name }: Strategy): Promise<void> {
  if (!confirm(`Archive "${name}"? It disappears from the lists; its results are kept.`)) return;
  if (!(await attemptTo(() => call('DELETE', `/strategies/${id}`)))) return;
  say('The strategy was archived.');
  go(linkTo('strategies'));
}

const STARTING_TEXT = JSON.stringify(
  {
    settings: {},
    strategyAst: {
      protocol: 'svc.strategy',
      version: 1,
      strategy: {
        kind: 'strategy',
        entry: {
          kind: 'entry',
          trigger: {
            kind: 'cross',
            op: 'cross_up',
            left: { kind: 'indicator', indicator: 'sma', args: { length: 50 } },
            right: { kind: 'indicator', indicator: 'sma', args: { length: 200 } },
          },
          action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
        },
        risk: { stopLoss: { mode: 'percent', value: 10 } },
      },
    },
  },
  null,
  2,
);

interface EditorProps {
  readonly version: WholeVersion | null;
  readonly name?: string;
  readonly text: string;
}

/** The editor, whose modules are loaded when it is first opened. */
function Editing({ version, name }: { readonly version: WholeVersion | null; readonly name?: string }): Children {
  const [Editor, setEditor] = useState<ComponentType<EditorProps> | null>(null);
  useEffect(() => {
    void import('./editorView.ts').then(({ EditorView }) => setEditor(() => EditorView));
  }, []);
  if (Editor === null) return html`<${Waiting} what="The editor" />`;
  return html`<${Editor}
    version=${version}
    name=${name}
    text=${version === null ? STARTING_TEXT : writtenText(version)}
  />`;
}
