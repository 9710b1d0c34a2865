// The neighbor of hostile tenants: a workspace that reads, runs small backtests and small sweeps beside attacks, and
// measures how long each takes.
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CROSSING } from '../support/sweeps.ts';
import type { FromAttackers } from './attackProcess.ts';
import type { Tally } from './attacks.ts';
import type { OpenApi } from './largeBodies.ts';
import { readMetric, type Service, type Tenant } from './service.ts';

interface Timed {
  readonly ms: number;
  readonly status: number;
}
/** The answers to attacks, the neighbor's times beside them, and the most that the service's processes needed. */
export interface Measured {
  readonly tallies: Record<string, Tally>;
  readonly reads: readonly Timed[];
  readonly backtests: readonly Timed[];
  readonly sweeps: readonly Timed[];
  readonly most: { readonly api: number; readonly worker: number; readonly loopDelay: number };
}

export class Neighbor {
  readonly #service: Service;
  readonly #tenant: Tenant;
  readonly #openapi: OpenApi;
  #backtested = '';
  #swept = '';
  /** Different in each request, so that no kept result answers one. */
  #balance = 10_000;

  private constructor(service: Service, tenant: Tenant, openapi: OpenApi) {
    [this.#service, this.#tenant, this.#openapi] = [service, tenant, openapi];
  }

  static async of(service: Service): Promise<Neighbor> {
    const openapi = (await (await fetch(`${service.url}/public/v1/openapi.json`)).json()) as OpenApi;
    const neighbor = new Neighbor(service, await service.tenant('plus'), openapi);
    const copied = await neighbor.#call('/system-strategies/golden_cross/copy', {});
    neighbor.#backtested = await neighbor.#finalize(copied.body.id as string, { version: 1 });
    const crossing = { settings: {}, strategyAst: CROSSING };
    const made = await neighbor.#call('/strategies', { name: 'crossing', ...crossing });
    neighbor.#swept = await neighbor.#finalize(made.body.id as string, crossing);
    return neighbor;
  }

  /**
   * Measures beside attacks of two tenants that did not exist before.
   * @param only the name of the attack; null: all at once
   */
  async measureBeside(only: string | null, seconds: number, seed: number): Promise<Measured> {
    const { url, signer } = this.#service;
    const [free, pro] = [await this.#service.tenant('free'), await this.#service.tenant('pro')];
    const attackers = fork(new URL('./attackProcess.ts', import.meta.url), { detached: true });
    const prepared = Promise.withResolvers<void>();
    const tallied = Promise.withResolvers<Record<string, Tally>>();
    attackers.on('message', (message: FromAttackers) =>
      message === 'ready' ? prepared.resolve() : tallied.resolve(message),
    );
    attackers.once('exit', (code) => {
      const error = new Error(`The attackers ended with code ${code}; their output says why.`);
      prepared.reject(error);
      tallied.reject(error);
    });
    attackers.send({ url, openapi: this.#openapi, free, pro, signer, seed, only });
    await prepared.promise;
    const end = performance.now() + seconds * 1_000;
    const most = { api: 0, worker: 0, loopDelay: 0 };
    const repeat = async (pauseMs: number, work: () => Promise<number>): Promise<Timed[]> => {
      const times: Timed[] = [];
      for (; performance.now() < end; await sleep(pauseMs)) {
        const begun = performance.now();
        const status = await work();
        times.push({ ms: performance.now() - begun, status });
      }
      return times;
    };
    const [reads, backtests, sweeps] = await Promise.all([
      repeat(20, async () => (await this.#call('/workspace')).status),
      repeat(500, () => this.#smallBacktest()),
      repeat(500, () => this.#smallSweep()),
      repeat(1_000, async () => {
        for (const command of ['api', 'worker'] as const)
          most[command] = Math.max(most[command], this.#service.residentBytes(command));
        most.loopDelay = Math.max(most.loopDelay, await readMetric(url, 'nodejs_eventloop_lag_p99_seconds'));
        return 200;
      }),
    ]);
    attackers.send('stop');
    return { tallies: await tallied.promise, reads, backtests, sweeps, most };
  }

  /** A backtest over 24 years of daily bars, from its request to its result. */
  async #smallBacktest(): Promise<number> {
    const body = { strategyVersionId: this.#backtested, config: this.#config() };
    return this.#resultOf(await this.#call('/backtests', body), '/backtests');
  }

  /** A sweep of 100 variants, from its request to its result. */
  async #smallSweep(): Promise<number> {
    const space = { fast: { min: 2, max: 11 }, slow: { min: 20, max: 29 } };
    const body = { strategyVersionId: this.#swept, config: this.#config(), space, method: 'grid' };
    return this.#resultOf(await this.#call('/sweeps', body), '/sweeps');
  }

  #config() {
    return { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: this.#balance++ };
  }

  async #resultOf(queued: { status: number; body: Record<string, unknown> }, path: string): Promise<number> {
    if (queued.status !== 201) return queued.status;
    const ended = await this.#call(`${path}/${queued.body.id as string}?wait=60`);
    return ended.body.status === 'completed' ? 200 : 599;
  }

  async #finalize(id: string, body: object): Promise<string> {
    return (await this.#call(`/strategies/${id}/versions/finalize`, body)).body.id as string;
  }

  async #call(path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.#service.url}/public/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': this.#tenant.key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
}
