// Data: the series that strategies can run on, the time they cover, their anomalies, and the upload of files.
import { useState } from 'preact/hooks';
import { ApiFault, attemptTo, call, listOf } from './api.ts';
import { count, counted, day } from './formats.ts';
import { useLoaded, Waiting } from './loading.ts';
import { html, type Children } from './markup.ts';
import { complain, may, say } from './session.ts';

interface Series {
  readonly symbol: string;
  readonly timeframe: string;
  readonly bars: number;
  readonly start: number;
  readonly end: number;
  readonly gaps: number;
  readonly owner: 'workspace' | 'shared';
  readonly synthetic: boolean;
  readonly calendar?: string;
  readonly description?: string;
}
interface Imported {
  readonly symbol: string;
  readonly timeframe: string;
  readonly bars: number;
  readonly start: number;
  readonly end: number;
  readonly gaps: number;
  readonly missingBars: number;
  readonly format: string;
  readonly outlierCount: number;
  readonly notes: readonly string[];
}

const MOST_SERIES = 2_000;
const TITLES = ['Symbol', 'Bars of', 'From', 'To', 'Coverage'];

export function DataView(): Children {
  const [search, setSearch] = useState('');
  const { value, fault, reload } = useLoaded((signal) => listOf<Series>('/market-data', {}, MOST_SERIES, signal), []);
  const rows = (value ?? []).filter(({ symbol, description = '' }) =>
    `${symbol} ${description}`.toLowerCase().includes(search.toLowerCase()),
  );
  return html`<div class="stack">
    <div class="heading-line">
      <h1>Data</h1>
      ${value && html`<p class="quiet">${counted(value.length, 'series', 'series')}</p>`}
      <label class="filters"
        ><span class="unseen">Search</span>
        <input
          type="search"
          placeholder="Search"
          value=${search}
          onInput=${(event: InputEvent) => setSearch((event.target as HTMLInputElement).value)}
        />
      </label>
    </div>
    ${may('market_data_write') && html`<${Upload} onDone=${reload} />`}
    ${
      value === undefined
        ? html`<${Waiting} fault=${fault} what="Series" />`
        : html`<section class="card" aria-label="Series"><${Catalog} rows=${rows} onChange=${reload} /></section>`
    }
  </div>`;
}

function Catalog({ rows, onChange }: { readonly rows: readonly Series[]; readonly onChange: () => void }): Children {
  const first = rows.reduce((least, { start }) => Math.min(least, start), Infinity);
  const last = rows.reduce((most, { end }) => Math.max(most, end), -Infinity);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Series">
    <table>
      <thead>
        <tr>
          ${TITLES.map((title) => html`<th scope="col" class="text">${title}</th>`)}
          <th scope="col">Bars</th>
          <th scope="col" title="Places where bars are absent">Gaps</th>
          <th scope="col" class="text">About</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr key=${`${row.symbol} ${row.timeframe}`}>
            <th scope="row">${row.symbol}</th>
            <td class="text">${row.timeframe}</td>
            <td class="text">${day(row.start)}</td>
            <td class="text">${day(row.end)}</td>
            <td class="text"><${Coverage} row=${row} first=${first} last=${last} /></td>
            <td>${count(row.bars)}</td>
            <td>${count(row.gaps)}</td>
            <td class="text about">
              ${row.owner === 'workspace' && html`<span class="tag">own</span> `}
              ${row.synthetic && html`<span class="tag">synthetic</span> `}
              ${[row.description, row.calendar].filter(Boolean).join(', ')}
              ${
                row.owner === 'workspace' &&
                may('market_data_write') &&
                html`<button class="plain" onClick=${() => remove(row, onChange)}>Delete</button>`
              }
            </td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`; // prettier-ignore
}

interface CoverageProps {
  readonly row: Series;
  readonly first: number;
  readonly last: number;
}

/** What of the time of all shown series this one covers. */
function Coverage({ row, first, last }: CoverageProps): Children {
  const xOf = (time: number): number => (100 * (time - first)) / Math.max(1, last - first);
  return html`<svg class="bar-cell coverage" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="ground" width="100" height="10" />
    <rect class="covered" x=${xOf(row.start)} width=${Math.max(1, xOf(row.end) - xOf(row.start))} height="10" />
  </svg>`;
}

async function remove({ symbol, timeframe }: Series, onDone: () => void): Promise<void> {
  if (!confirm(`Delete ${symbol} ${timeframe}? Results that used it are kept.`)) return;
  const path = `/market-data/${encodeURIComponent(symbol)}/${timeframe}`;
  if (!(await attemptTo(() => call('DELETE', path)))) return;
  say(`${symbol} ${timeframe} was deleted.`);
  onDone();
}

/** A zone to drop files of bars on, and what became of them. */
function Upload({ onDone }: { readonly onDone: () => void }): Children {
  const [isOver, setOver] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [imported, setImported] = useState<readonly Imported[]>([]);
  const [onExisting, setOnExisting] = useState('refuse');
  const upload = async (files: readonly File[]): Promise<void> => {
    setBusy(true);
    setImported([]);
    for (const file of files) {
      try {
        const query = { filename: file.name, onExisting };
        const { series } = await call<{ series: Imported[] }>('POST', '/market-data', { query, file });
        setImported((before) => [...before, ...series]);
      } catch (error) {
        if (!(error instanceof ApiFault)) throw error;
        complain(`${file.name} was not imported. ${error.message}`);
      }
    }
    setBusy(false);
    onDone();
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void upload([...(event.dataTransfer?.files ?? [])]);
  };
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  const pick = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    void upload([...(input.files ?? [])]).then(() => (input.value = ''));
  };
  return html`<section
    class=${`card drop ${isOver ? 'over' : ''}`}
    aria-labelledby="upload"
    onDrop=${drop}
    onDragOver=${over}
    onDragLeave=${() => setOver(false)}
  >
    <h2 id="upload">Add files</h2>
    <p class="lead">
      Drop files of bars here: CSV, JSON, Parquet or Arrow, plain or packed. Symbol and bars are read from the name,
      such as BTCUSDT-1h.csv. <a href="../docs/market-data.md">Accepted formats</a>
    </p>
    <div class="actions">
      <label class="button">Choose files <input type="file" multiple disabled=${isBusy} onChange=${pick} /></label>
      <label
        >If the series exists${' '}
        <select
          value=${onExisting}
          onChange=${(event: Event) => setOnExisting((event.target as HTMLSelectElement).value)}
        >
          <option value="refuse">refuse</option>
          <option value="append">append</option>
          <option value="replace">replace</option>
        </select>
      </label>
      <span role="status">${isBusy ? 'Reading …' : ''}</span>
    </div>
    ${imported.map(
      ({ symbol, timeframe, bars, start, end, gaps, missingBars, outlierCount, notes, format }) =>
        html`<div class=${`note ${notes.length + outlierCount > 0 ? 'warning' : 'info'}`}>
          <h3>${symbol} ${timeframe}: ${counted(bars, 'bar')}, ${day(start)} to ${day(end)}</h3>
          <p>
            ${`Read as ${format}; ${counted(gaps, 'gap')}, ${counted(missingBars, 'bar')} absent, `}
            ${counted(outlierCount, 'outlier')}.
          </p>
          ${notes.map((note) => html`<p>${note}</p>`)}
        </div>`,
    )}
  </section>`; // prettier-ignore
}
