// The public API as the console calls it: with the key of the tab, retrying while the service restarts or limits the
// rate, and returning to the key entry when the key no longer works.
import { complain, isReachable, key, signOut } from './session.ts';

export interface Issue {
  readonly code: string;
  readonly path: string;
  readonly severity?: string;
  readonly message: string;
  readonly suggestion?: string;
  readonly patch?: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
}

/** An answer that is not a success. */
export class ApiFault extends Error {
  readonly status: number;
  readonly issues: readonly Issue[];
  constructor(status: number, message: string, issues: readonly Issue[] = []) {
    super(message);
    this.status = status;
    this.issues = issues;
  }
}

export type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;
interface Call {
  readonly query?: Query;
  readonly body?: unknown;
  /** A file, sent as it is. */
  readonly file?: Blob;
  readonly signal?: AbortSignal;
  /** Another key than that of the tab. */
  readonly as?: string;
}

/** Relative to /console/. */
const BASE = '../public/v1';
const LONGEST_WAIT_MS = 5_000;
/** Of the requests that a minute allows, the console leaves so many to other programs with the same key. */
const SPARED_REQUESTS = 40;

/** When the rest of the minute's requests is nearly used up: the time from which on more may be sent. */
let nextMinuteAt = 0;

/** Sends a request whose answer is JSON. */
export async function call<Answer>(method: string, path: string, options: Call = {}): Promise<Answer> {
  const response = await send(method, path, options);
  return (await response.json()) as Answer;
}

export const get = <Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> =>
  call<Answer>('GET', path, { query, signal });

/** A file of the API as text: a report, or a table as CSV. */
export async function getText(path: string, query: Query, signal?: AbortSignal): Promise<string> {
  const response = await send('GET', path, { query, signal });
  return response.text();
}

/** @throws ApiFault; an AbortError when `signal` is aborted */
async function send(method: string, path: string, options: Call): Promise<Response> {
  const isRead = method === 'GET';
  for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    const response = await attempt(method, path, options);
    if (response !== null && response.status !== 503 && response.status !== 429) {
      isReachable.value = true;
      if (response.ok) return response;
      throw await faultOf(response, options);
    }
    if (response === null || response.status === 503) isReachable.value = false;
    if (!isRead) {
      if (response !== null) throw await faultOf(response, options);
      throw new ApiFault(0, 'The service does not answer. Nothing was changed, as far as the console knows.');
    }
    const asked = Number(response?.headers.get('retry-after') ?? 0) * 1_000;
    await pause(Math.max(wait, asked), options.signal);
  }
}

/** Null: the service cannot be reached. */
async function attempt(
  method: string,
  path: string,
  { query, body, file, signal, as }: Call,
): Promise<Response | null> {
  const address = `${BASE}${path}${queryText(query)}`;
  const headers: Record<string, string> = { 'x-api-key': as ?? key.value ?? '' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (file !== undefined) headers['content-type'] = 'application/octet-stream';
  try {
    const response = await fetch(address, {
      method,
      headers,
      body: file ?? (body === undefined ? null : JSON.stringify(body)),
      signal,
    });
    noteLimit(response.headers.get('ratelimit'));
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    return null;
  }
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat())
      if (each !== undefined && each !== null && each !== '') parameters.append(name, String(each));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Reads `"minute";r=42;t=17`: 42 requests are left for 17 seconds. */
function noteLimit(header: string | null): void {
  const [, left, seconds] = /r=(\d+);t=(\d+)/.exec(header ?? '') ?? [];
  if (left !== undefined && Number(left) < SPARED_REQUESTS) nextMinuteAt = Date.now() + 1_000 * Number(seconds);
}

/** Waits until the minute's limit has room for what nobody is waiting for, such as further pages of a list. */
async function whenThereIsRoom(signal?: AbortSignal): Promise<void> {
  const wait = nextMinuteAt - Date.now();
  if (wait > 0) await pause(wait, signal);
}

async function faultOf(response: Response, { as }: Call): Promise<ApiFault> {
  const body = (await response.json().catch(() => ({}))) as { readonly message?: string; readonly issues?: Issue[] };
  const text = body.message ?? `The service answered ${response.status}.`;
  if (response.status === 401 && as === undefined) signOut(`This key no longer works. ${text}`);
  return new ApiFault(response.status, text, body.issues);
}

export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });

/** Does what a button asks for; a fault is said, not thrown. @returns whether it was done */
export async function attemptTo(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    const [first] = error.issues;
    complain(first === undefined ? error.message : `${error.message} ${first.path}: ${first.message}`);
    return false;
  }
}

/** Saves a file of the API under a name of its own: a link could not send the key. */
export async function download(path: string, query: Query, name: string): Promise<void> {
  const response = await send('GET', path, { query });
  const address = URL.createObjectURL(await response.blob());
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly nextCursor: string | null; readonly total: number };
}

/** The pages of a list, one after the other, within the limit of the minute. */
export async function* pagesOf<Row>(path: string, query: Query, signal?: AbortSignal): AsyncGenerator<Page<Row>> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    if (cursor !== undefined) await whenThereIsRoom(signal);
    const page: Page<Row> = await get(path, { ...query, limit: 100, cursor }, signal);
    yield page;
    cursor = page.pagination.nextCursor;
  }
}

/** Every row of a short list, at most `most`. */
export async function listOf<Row>(path: string, query: Query = {}, most = 1_000, signal?: AbortSignal): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const { data } of pagesOf<Row>(path, query, signal)) {
    for (const row of data) rows.push(row);
    if (rows.length >= most) break;
  }
  return rows.slice(0, most);
}

/** The server-sent events of a run, from the first to the end of the run; EventSource could not send the key. */
export async function* eventsOf<Data>(path: string, signal: AbortSignal): AsyncGenerator<Data> {
  const response = await send('GET', path, { signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split('\n\n');
    text = events.pop()!;
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as Data;
    }
  }
}
