// The report of a run: a whole page of the API, shown in a frame that cannot reach the console, its key or the network.
import { useEffect, useRef, useState } from 'preact/hooks';
import { getText } from './api.ts';
import { useLoaded, Waiting } from './loading.ts';
import { html, type Children } from './markup.ts';

const MOST_PIXELS = 40_000;
const FIRST_PIXELS = 900;

/** @param path of the API, such as /backtests/{id}/artifacts/report */
export function ReportFrame({ path, label }: { readonly path: string; readonly label: string }): Children {
  const { value, fault } = useLoaded((signal) => getText(path, {}, signal), [path]);
  if (value === undefined) return html`<${Waiting} fault=${fault} what="The report" />`;
  return html`<${Frame} report=${value} label=${label} />`;
}

function Frame({ report, label }: { readonly report: string; readonly label: string }): Children {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(FIRST_PIXELS);
  useEffect(() => {
    const hear = ({ source, data }: MessageEvent<unknown>): void => {
      const inner = frame.current?.contentWindow;
      if (inner === null || inner === undefined || source !== inner) return;
      const told = data as { readonly ready?: unknown; readonly height?: unknown } | null;
      // Its origin is opaque, so it has no other name than `*`; only this frame gets the message.
      if (told?.ready === true) inner.postMessage(report, '*');
      if (typeof told?.height === 'number') setHeight(Math.min(MOST_PIXELS, Math.ceil(told.height)));
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, [report]);
  return html`<iframe
    ref=${frame}
    class="report"
    src="report"
    title=${label}
    sandbox="allow-scripts allow-downloads"
    style=${{ height: `${height}px` }}
  />`;
}
