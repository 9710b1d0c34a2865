// The key entry: the form that asks for an API key, once per tab.
import { useState } from 'preact/hooks';
import { ApiFault, call } from './api.ts';
import { html, type Children } from './markup.ts';
import { farewell, signIn } from './session.ts';

export function KeyEntry(): Children {
  const [given, setGiven] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const enter = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      signIn(given.trim(), await call('GET', '/workspace', { as: given.trim() }));
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      setFault(error.status === 403 ? `${error.message} The console needs the scope workspace_read.` : error.message);
      setBusy(false);
    }
  };
  const reason = fault ?? farewell.value;
  return html`<main class="entry" id="content">
    <form class="card" onSubmit=${enter}>
      <h1>Candlepool</h1>
      <p class="lead">Your backtests, strategies, sweeps and data. Enter an API key of your workspace.</p>
      ${reason !== null && html`<p class="fault" role="alert" id="reason">${reason}</p>`}
      <label for="key">API key</label>
      <input
        id="key"
        type="password"
        autocomplete="off"
        spellcheck=${false}
        required
        placeholder="svc_live_…"
        value=${given}
        aria-describedby=${reason === null ? 'keeping' : 'reason keeping'}
        onInput=${(event: InputEvent) => setGiven((event.target as HTMLInputElement).value)}
      />
      <button class="main" disabled=${isBusy}>${isBusy ? 'Opening …' : 'Open the workspace'}</button>
      <p class="quiet" id="keeping">
        The key stays in this tab and is gone when the tab is closed. No key yet?
        <a href="../docs/getting-started.md">Getting started</a> makes one.
      </p>
    </form>
  </main>`;
}
