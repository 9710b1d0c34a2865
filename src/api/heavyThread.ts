// The thread of heavy requests: the same service, without a network. What it is asked has passed authentication and
// the rate limits; src/api/http/heavyQueue.ts asks.
import { parentPort, workerData } from 'node:worker_threads';
import type { FastifyRequest } from 'fastify';
import { connect } from '../db/connect.ts';
import { enterThrough, lowerThreadPriority } from '../engine/index.ts';
import { createLog } from '../log.ts';
import { openCatalog } from '../market/catalog.ts';
import { WorkspaceCatalogs } from '../market/workspaceCatalogs.ts';
import { offerUniverse } from '../market/universe/offerUniverse.ts';
import { buildApp } from './app.ts';
import { warmUpBatches } from './backtests/batchWarmUp.ts';
import type { FromThread, HeavyRequest, HeavyThreadData, NewHeavyRequest, ToThread } from './http/heavyMessages.ts';
import type { App } from './services.ts';

/** Connections: one for each of MAX_ACTIVE requests, and those that answerOnce leaves free. */
const CONNECTIONS = 8;
/** Bars are read here for answers only; a year of minutes is 29 MB. */
const OPENED_BYTES = 256 * 1024 * 1024;
/** The id of the request, by which its caller is found. No client can send it: only listed headers are forwarded. */
const ID_HEADER = 'x-heavy-request';
/** Headers that the thread with the connection sets itself. */
const NOT_SENT_BACK = new Set(['content-length', 'connection', 'date', 'transfer-encoding', 'keep-alive']);

/** On a busy machine the thread that answers everybody's small requests gets nine times the time of this one. */
const NICENESS = 10;

const { config, databaseUrl, gate } = workerData as HeavyThreadData;
const asked = new Map<string, HeavyRequest>();
/** True until the first message. */
let isIdle = true;

const authenticatedAs = ({ headers }: FastifyRequest) => asked.get(String(headers[ID_HEADER]));

const say = (message: FromThread, moved: ArrayBuffer[] = []): void => parentPort!.postMessage(message, moved);

function beforeCommit(request: FastifyRequest): void {
  const committing = authenticatedAs(request)?.id;
  if (committing !== undefined) say({ committing });
}

async function start(): Promise<void> {
  const log = createLog(config);
  const sql = connect(databaseUrl, { applicationName: 'candlepool api', max: CONNECTIONS });
  const stored = openCatalog(sql, config.dataDir, { storage: config.snapshotStorage, log, maxBytes: OPENED_BYTES });
  const services = {
    sql,
    // Callers are already authenticated, so it needs no pool for short reads.
    shortReads: sql,
    log,
    catalogs: new WorkspaceCatalogs(sql, offerUniverse(stored), stored.files),
    config: { ...config, rateLimits: false },
  };
  const app = await buildApp(services, { authenticatedAs, beforeCommit });
  parentPort!.on('message', (message: ToThread) => {
    if (message === 'ping') return say('pong');
    isIdle = false;
    if (message !== 'close') return void answer(app, message);
    void app
      .close()
      .then(() => sql.end({ timeout: 2 }))
      .finally(() => parentPort!.close());
  });
  say('ready');
  if (!config.warmUp) return;
  const warmUp = (request: NewHeavyRequest) => ask(app, { ...request, id: 0, stop: new Int32Array(1) });
  await warmUpBatches(warmUp, () => isIdle).catch(() => {
    // Whatever is wrong, a request will run into it and report it.
  });
}

async function ask(app: App, request: HeavyRequest) {
  const { id, method, url, headers, body } = request;
  asked.set(String(id), request);
  const response = await app.inject({
    method: method as 'POST',
    url,
    headers: { ...headers, [ID_HEADER]: String(id) },
    ...(body.byteLength > 0 && { payload: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
  });
  asked.delete(String(id));
  return response;
}

async function answer(app: App, request: HeavyRequest): Promise<void> {
  // The client left before its turn: the answer goes nowhere.
  if (Atomics.load(request.stop, 0) !== 0)
    return say({ id: request.id, status: 503, headers: {}, body: new Uint8Array() });
  const response = await ask(app, request);
  const kept = Object.entries(response.headers).filter(([name]) => !NOT_SENT_BACK.has(name));
  const answered = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
  // A copy that is all its own memory can be moved instead of copied again.
  const bytes = new Uint8Array(response.rawPayload);
  const { id } = request;
  say({ id, status: response.statusCode, headers: answered, body: bytes }, [bytes.buffer]);
}

enterThrough(gate);
lowerThreadPriority(NICENESS);
await start();
