// Result rows: the backtests of a list as the console holds them, read page by page in the background.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFault, get, pagesOf, type Page, type Query } from './api.ts';
import { useRepeated } from './loading.ts';

export interface ResultRow {
  readonly id: string;
  readonly status: string;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly symbol: string;
  readonly instruments?: number;
  readonly timeframe: string;
  readonly name?: string | null;
  readonly tags?: readonly string[];
  readonly note?: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly params: Readonly<Record<string, unknown>>;
  readonly diagnosis: string | null;
  /** Numbers of the summary, by their keys. */
  readonly [key: string]: unknown;
}

interface ResultRows {
  readonly rows: readonly ResultRow[];
  /** How many there are; the console holds at most MOST_ROWS of them. */
  readonly total: number | null;
  readonly isComplete: boolean;
  readonly fault: ApiFault | undefined;
  readonly reload: () => void;
}

/** The table stays quick, and the memory of the tab small. */
export const MOST_ROWS = 10_000;
/** How often a list is asked whether it has changed. */
const LOOK_EVERY_MS = 3_000;
export const isOpen = (status: unknown): boolean => status === 'queued' || status === 'running';

export function useResultRows(query: Query): ResultRows {
  const [state, setState] = useState<Omit<ResultRows, 'reload'>>({
    rows: [],
    total: null,
    isComplete: false,
    fault: undefined,
  });
  const [turn, setTurn] = useState(0);
  const text = JSON.stringify(query);
  const shown = useRef(state);
  shown.current = state;
  const isReading = useRef(false);
  useEffect(() => {
    const stop = new AbortController();
    isReading.current = true;
    void readRows(query, shown.current.rows.length, stop.signal, setState).finally(() => {
      if (!stop.signal.aborted) isReading.current = false;
    });
    return () => stop.abort();
  }, [text, turn]);
  // Runs end, and other programs queue more.
  useRepeated(
    async (signal) => {
      const { total, rows, isComplete } = shown.current;
      if (isReading.current || total === null) return LOOK_EVERY_MS;
      const page = await get<Page<ResultRow>>('/backtests', { ...query, limit: 1 }, signal);
      const isChanged = page.pagination.total !== total || page.data[0]?.id !== rows[0]?.id;
      if (isChanged || (isComplete && rows.some(({ status }) => isOpen(status)))) setTurn((before) => before + 1);
      return LOOK_EVERY_MS;
    },
    [text],
  );
  return { ...state, reload: () => setTurn((before) => before + 1) };
}

/** Shows rows as they come; rows that are shown already stay until as many new ones are there. */
async function readRows(
  query: Query,
  shownCount: number,
  signal: AbortSignal,
  show: (state: Omit<ResultRows, 'reload'>) => void,
): Promise<void> {
  const rows: ResultRow[] = [];
  try {
    for await (const { data, pagination } of pagesOf<ResultRow>('/backtests', query, signal)) {
      if (signal.aborted) return;
      for (const row of data) if (rows.length < MOST_ROWS) rows.push(row);
      const isComplete = pagination.nextCursor === null || rows.length >= MOST_ROWS;
      if (isComplete || rows.length >= shownCount)
        show({ rows: [...rows], total: pagination.total, isComplete, fault: undefined });
      if (rows.length >= MOST_ROWS) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiFault)) throw error;
    show({ rows, total: rows.length, isComplete: true, fault: error });
  }
}
