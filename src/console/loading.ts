// Loading: what a view shows while it waits for an answer, and when the answer is an error.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFault, pause } from './api.ts';
import { html, type Children } from './markup.ts';

interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly fault: ApiFault | undefined;
  readonly reload: () => void;
}

/** Reads a value when the view opens and whenever `inputs` change. */
export function useLoaded<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; fault?: ApiFault }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    read(stop.signal).then(
      (value) => stop.signal.aborted || setState({ value }),
      (error: unknown) => stop.signal.aborted || setState({ fault: asFault(error) }),
    );
    return () => stop.abort();
  }, [...inputs, turn]);
  return { value: state.value, fault: state.fault, reload: () => setTurn((before) => before + 1) };
}

/** Calls `look` again and again while the view is open and its tab is visible; `look` says after how many ms. */
export function useRepeated(look: (signal: AbortSignal) => Promise<number | null>, inputs: readonly unknown[]): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    const stop = new AbortController();
    void repeat(latest, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted && !(error instanceof ApiFault)) throw error;
    });
    return () => stop.abort();
  }, inputs);
}

async function repeat(
  look: { readonly current: (signal: AbortSignal) => Promise<number | null> },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const wait = await look.current(signal);
    if (wait === null) return;
    await pause(wait, signal);
    if (document.hidden) await untilVisible(signal);
  }
}

const untilVisible = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => document.addEventListener('visibilitychange', () => resolve(), { once: true, signal }));

function asFault(error: unknown): ApiFault {
  if (error instanceof ApiFault) return error;
  throw error;
}

/** What stands in place of a value that is not there yet. */
export function Waiting({ fault, what }: { readonly fault: ApiFault | undefined; readonly what: string }): Children {
  if (fault !== undefined)
    return html`<div class="card note error" role="alert">
      <h2>${what} cannot be shown</h2>
      <p>${fault.message}</p>
    </div>`;
  return html`<p class="quiet" role="status">Loading ${what.toLowerCase()} …</p>`;
}
