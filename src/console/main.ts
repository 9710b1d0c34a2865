// The console: the key entry, and after it a navigation bar above the view that the address names.
import { useEffect, useRef, useState } from 'preact/hooks';
import { render, type ComponentType } from 'preact';
import { ApiFault, call } from './api.ts';
import { CompareView } from './compareView.ts';
import { DataView } from './dataView.ts';
import { Home } from './home.ts';
import { KeyEntry } from './keyEntry.ts';
import { html, type Children } from './markup.ts';
import { ResultView } from './resultView.ts';
import { ResultsView } from './resultsView.ts';
import { go, linkTo, route } from './route.ts';
import { StrategiesView, StrategyView } from './strategiesView.ts';
import { SweepsView, SweepView } from './sweepsView.ts';
import {
  complain,
  context,
  farewell,
  isReachable,
  key,
  message,
  signIn,
  signOut,
  takeKeyFromAddress,
} from './session.ts';

/** By the first part of the address: with an id behind it, and without. */
const VIEWS: Readonly<Record<string, { readonly list?: ComponentType; readonly one?: ComponentType<{ id: string }> }>> =
  {
    '': { list: Home },
    results: { list: ResultsView, one: ResultView },
    compare: { list: CompareView },
    strategies: { list: StrategiesView, one: StrategyView },
    sweeps: { list: SweepsView, one: SweepView },
    data: { list: DataView },
  };
const LINKS = [
  ['', 'Home'],
  ['results', 'Results'],
  ['compare', 'Compare'],
  ['strategies', 'Strategies'],
  ['sweeps', 'Sweeps'],
  ['data', 'Data'],
] as const;

function Console(): Children {
  const [isOpening, setOpening] = useState(key.value !== null);
  useEffect(() => void openWith(takeKeyFromAddress() ?? key.value).finally(() => setOpening(false)), []);
  useEffect(() => {
    // Another link with a key, in a tab that is open already.
    const take = (): void => void openWith(takeKeyFromAddress());
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  if (isOpening && context.value === null)
    return html`<${Reachability} />
      <p class="quiet centered" role="status">Opening the workspace …</p>`;
  if (context.value === null) return html`<${Reachability} /><${KeyEntry} />`;
  return html`<${Bar} /><${Reachability} /><${View} /><${Foot} /><${Message} />`;
}

async function openWith(given: string | null): Promise<void> {
  if (given === null) return;
  try {
    signIn(given, await call('GET', '/workspace', { as: given }));
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    signOut(error.message);
  }
}

function Bar(): Children {
  const { workspace, apiKey, subscription } = context.value!;
  const [here = ''] = route.value.path;
  return html`<header class="bar">
    <a class="skip" href="#content" onClick=${focusContent}>Skip to the content</a>
    <span class="brand">Candlepool</span>
    <nav aria-label="Views">
      ${LINKS.map(
        ([name, title]) =>
          html`<a href=${linkTo(name)} aria-current=${here === name ? 'page' : undefined}>${title}</a>`,
      )}
      <a href="../docs">Guides</a>
    </nav>
    <div class="who">
      <span title=${`Key ${apiKey.name}, ${apiKey.role}, tier ${subscription.tier}`}>${workspace.name}</span>
      ${apiKey.role === 'viewer' && html`<span class="tag">viewer</span>`}
      <button class="plain" onClick=${() => signOut(null)}>Leave</button>
    </div>
  </header>`;
}

function focusContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** The view of the address. A new one takes the focus, so that Tab goes on from its beginning. */
function View(): Children {
  const { path } = route.value;
  const [name = '', id] = path;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const address = path.join('/');
  useEffect(() => {
    document.title = `${LINKS.find(([each]) => each === name)?.[1] ?? 'Not found'} · Candlepool`;
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
    scrollTo(0, 0);
  }, [address]);
  const { list, one } = VIEWS[name] ?? {};
  const view = id === undefined ? list && html`<${list} />` : one && html`<${one} id=${id} key=${id} />`;
  return html`<main id="content" tabindex="-1" ref=${main}>
    ${
      view ??
      html`<div class="card">
        <h1>There is no such page</h1>
        <p><a href=${linkTo('')}>Home</a></p>
      </div>`
    }
  </main>`;
}

function Reachability(): Children {
  if (isReachable.value) return null;
  return html`<p class="banner" role="alert">The service does not answer. The console asks again until it does.</p>`;
}

function Foot(): Children {
  return html`<footer>
    <p>Charts: <a href="https://www.tradingview.com/">TradingView Lightweight Charts™</a>, © TradingView, Inc.</p>
  </footer>`;
}

/** The last message; Escape and a click take it away. */
function Message(): Children {
  const shown = message.value;
  useEffect(() => {
    if (shown === null) return;
    const hide = (event: KeyboardEvent): void => void (event.key === 'Escape' && (message.value = null));
    addEventListener('keydown', hide);
    const timer = shown.isFault ? 0 : setTimeout(() => (message.value = null), 6_000);
    return () => {
      removeEventListener('keydown', hide);
      clearTimeout(timer);
    };
  }, [shown]);
  return html`<div class="messages" role=${shown?.isFault ? 'alert' : 'status'}>
    ${
      shown &&
      html`<div class=${shown.isFault ? 'message fault' : 'message'}>
        <span>${shown.text}</span
        ><button class="plain" aria-label="Hide" onClick=${() => (message.value = null)}>×</button>
      </div>`
    }
  </div>`;
}

addEventListener('unhandledrejection', ({ reason }) => {
  if (reason instanceof ApiFault) complain(reason.message);
});
// Escape leaves a single result, strategy or sweep for its list, unless something is being typed.
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, dialog, .editor');
  const [name, id] = route.value.path;
  if (event.key === 'Escape' && !isTyping && id !== undefined && message.value === null && farewell.value === null)
    go(linkTo(name));
});
render(html`<${Console} />`, document.getElementById('console')!);
