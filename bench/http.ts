// HTTP: what one request costs, from its first byte to the last of its answer, against a real `serve` with its embedded
// Postgres; one request at a time, so that nothing waits for another.
import { Bench } from 'tinybench';
import { isShort, measure, type Unit } from './measure.ts';
import { configOf, makeVersion } from './backtests.ts';
import { caller, startServer, type Server } from './server.ts';
import { PAIRS } from './sweep.ts';

export const UNIT: Unit = 'request';
const ROUNDS = isShort ? 20 : 200;
/** Backtests in the workspace before anything is measured, so that a page is full. */
const STORED = 100;
/** The configs of the queue's bench repeat after so many. */
const FIRST = 2_000_000;

async function suite(server: Server): Promise<Bench> {
  const call = caller(server);
  const versionId = await makeVersion(call);
  let sent = FIRST;
  const create = (): Promise<{ id: string }> =>
    call('POST', '/backtests', { strategyVersionId: versionId, config: configOf(sent++) });
  const ended = (id: string): Promise<{ status: string }> => call('GET', `/backtests/${id}?wait=60`);
  const run = async (): Promise<string> => {
    const { id } = await create();
    const { status } = await ended(id);
    if (status !== 'completed') throw new Error(`The backtest ${id} is ${status}.`);
    return id;
  };
  let id = '';
  for (let stored = 0; stored < STORED; stored++) id = await run();
  const payload = { settings: {}, strategyAst: PAIRS };
  const draft = { name: 'SMA', description: '', ...payload };
  const strategy = await call<{ id: string }>('POST', '/strategies', draft);

  const bench = new Bench({ iterations: ROUNDS, warmupIterations: ROUNDS / 4, time: 0, warmupTime: 0 });
  const get = (name: string, path: string): void => void bench.add(`http/${name}/1`, () => call('GET', path));
  const post = (name: string, path: string, body: object): void =>
    void bench.add(`http/${name}/1`, () => call('POST', path, body));
  get('the workspace', '/workspace');
  get('a backtest', `/backtests/${id}`);
  get('a backtest, as an agent reads it', `/backtests/${id}?view=agent`);
  get('the trades of a backtest', `/backtests/${id}/artifacts/trades`);
  get('a page of 50 backtests', '/backtests?limit=50');
  get('capabilities', '/capabilities');
  post('validate a strategy', '/strategies/validate', payload);
  post('explain a strategy', '/strategies/explain', payload);
  post('store a strategy', '/strategies', draft);
  post('finalize a version', `/strategies/${strategy.id}/versions/finalize`, payload);
  bench.add('http/a backtest, from its creation to its result/1', run);
  return bench;
}

if (import.meta.main) {
  await using server = await startServer();
  await measure(await suite(server), UNIT);
}
