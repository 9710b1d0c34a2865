// HTTP: what one request costs, from its first byte to the last of its answer, against a real `serve` with its embedded
// Postgres; one request at a time, so that nothing waits for another.
import { Bench } from 'tinybench';
import { isShort, measure, needs, onDemand, type Unit } from './measure.ts';
import { configOf, makeVersion } from './backtests.ts';
import { caller, startServer, type Call, type Server } from './server.ts';
import { PAIRS } from './sweep.ts';

const UNIT: Unit = 'request';
const ROUNDS = isShort ? 20 : 200;
/** Backtests in the workspace before anything is measured, so that a page is full. */
const STORED = 100;
/** The configs of the queue's bench repeat after so many. */
const FIRST = 2_000_000;

/** What the requests are about. */
interface Stored {
  readonly call: Call;
  /** Of a strategy that is stored and a backtest that has ended. */
  readonly strategyId: string;
  readonly backtestId: string;
  /** A backtest from its creation to its result. */
  readonly run: () => Promise<string>;
}

async function store(server: Server): Promise<Stored> {
  const call = caller(server);
  const versionId = await makeVersion(call);
  let sent = FIRST;
  const run = async (): Promise<string> => {
    const body = { strategyVersionId: versionId, config: configOf(sent++) };
    const { id } = await call<{ id: string }>('POST', '/backtests', body);
    const { status } = await call<{ status: string }>('GET', `/backtests/${id}?wait=60`);
    if (status !== 'completed') throw new Error(`The backtest ${id} is ${status}.`);
    return id;
  };
  let backtestId = '';
  for (let stored = 0; stored < STORED; stored++) backtestId = await run();
  const { id: strategyId } = await call<{ id: string }>('POST', '/strategies', DRAFT);
  return { call, strategyId, backtestId, run };
}

const PAYLOAD = { settings: {}, strategyAst: PAIRS };
const DRAFT = { name: 'SMA', description: '', ...PAYLOAD };

/** @param start gives the server, which the caller ends */
export function suite(start: () => Promise<Server> = startServer): Bench {
  const stored = onDemand(async () => store(await start()));
  const bench = new Bench({ iterations: ROUNDS, warmupIterations: ROUNDS / 4, time: 0, warmupTime: 0 });
  const add = (name: string, run: (stored: Stored) => Promise<unknown>): void =>
    void bench.add(`http/${name}/1`, async () => run(await stored()), { ...needs(stored), async: true });
  add('the workspace', ({ call }) => call('GET', '/workspace'));
  add('a backtest', ({ call, backtestId }) => call('GET', `/backtests/${backtestId}`));
  add('a backtest, as an agent reads it', ({ call, backtestId }) => call('GET', `/backtests/${backtestId}?view=agent`));
  add('the trades of a backtest', ({ call, backtestId }) => call('GET', `/backtests/${backtestId}/artifacts/trades`));
  add('a page of 50 backtests', ({ call }) => call('GET', '/backtests?limit=50'));
  add('capabilities', ({ call }) => call('GET', '/capabilities'));
  add('validate a strategy', ({ call }) => call('POST', '/strategies/validate', PAYLOAD));
  add('explain a strategy', ({ call }) => call('POST', '/strategies/explain', PAYLOAD));
  add('store a strategy', ({ call }) => call('POST', '/strategies', DRAFT));
  add('finalize a version', ({ call, strategyId }) =>
    call('POST', `/strategies/${strategyId}/versions/finalize`, PAYLOAD),
  );
  add('a backtest, from its creation to its result', ({ run }) => run());
  return bench;
}

if (import.meta.main) {
  await using servers = new AsyncDisposableStack();
  await measure(
    suite(async () => servers.use(await startServer())),
    UNIT,
  );
}
