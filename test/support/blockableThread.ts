// A thread of heavy requests for tests: it does what the name in a body says, such as to compute without end.
import { setTimeout as after } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { FromThread, HeavyRequest, ToThread } from '../../src/api/http/heavyMessages.ts';

const say = (message: FromThread): void => parentPort!.postMessage(message);

parentPort!.on('message', (message: ToThread) => {
  if (message === 'ping') say('pong');
  else if (message === 'close') parentPort!.close();
  else void answer(message);
});
say('ready');

async function answer({ id, body, stop }: HeavyRequest): Promise<void> {
  const { name } = JSON.parse(Buffer.from(body).toString()) as { readonly name: string };
  if (name === 'commits') say({ committing: id });
  // The others have begun when a request begins to block.
  if (name === 'waits' || name === 'commits') await after(750);
  if (name === 'blocks') await after(250);
  // Until the thread is ended; `stops` reads the flag, as long work does.
  const isBlocking = (): boolean => name === 'blocks' || (name === 'stops' && Atomics.load(stop, 0) === 0);
  while (isBlocking());
  const said = Buffer.from(JSON.stringify({ valid: true, name }));
  say({ id, status: 200, headers: { 'content-type': 'application/json' }, body: new Uint8Array(said) });
}
