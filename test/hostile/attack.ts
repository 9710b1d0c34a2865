// An attack: what it is told and what it may send, and the strategies that several attacks send.
import type { Signer } from './identity.ts';
import type { OpenApi } from './largeBodies.ts';
import type { Tenant } from './service.ts';

export interface Target {
  readonly url: string;
  readonly openapi: OpenApi;
  readonly free: Tenant;
  readonly pro: Tenant;
  /** Of the identity provider that the service believes. */
  readonly signer: Signer;
  readonly seed: number;
  /** The name of the attack to send; null: all of them at once. */
  readonly only: string | null;
  /** Aborted when it is over. */
  readonly signal: AbortSignal;
}
interface Options {
  readonly key?: string;
  readonly token?: string;
  readonly method?: string;
  /** Bytes are sent as they are; making a large body again for each request would cost more than sending it. */
  readonly body?: object | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}
export type Send = (path: string, options?: Options) => Promise<{ status: number; text: string }>;
export interface Attack {
  readonly name: string;
  /** Of it at the same time. */
  readonly parallel: number;
  /** Prepares what it sends. */
  readonly prepare: (send: Send, target: Target) => Promise<() => Promise<unknown>>;
}

export const CONFIG = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
export const condition = (length: number) => ({
  kind: 'compare',
  op: 'gt',
  left: { kind: 'indicator', indicator: 'sma', args: { length } },
  right: { kind: 'const', value: 1 },
});
export const astOf = (items: readonly object[], more: object = {}) => ({
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    entry: {
      kind: 'entry',
      trigger: { kind: 'any', items },
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 10 } },
    },
    exits: [{ kind: 'exit', when: condition(2) }],
  },
  ...more,
});
export async function readyVersion(send: Send, key: string, strategyAst: object): Promise<string> {
  const made = await send('/public/v1/strategies', { key, body: { name: 'x', settings: {}, strategyAst } });
  const { id } = JSON.parse(made.text) as { id?: string };
  if (id === undefined) throw new Error(`An attack's strategy is refused: ${made.text.slice(0, 500)}`);
  const ready = await send(`/public/v1/strategies/${id}/versions/finalize`, {
    key,
    body: { version: 1, ignoreWarnings: true },
  });
  return (JSON.parse(ready.text) as { id: string }).id;
}
