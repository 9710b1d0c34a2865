// The attackers, in a thread of their own: what they compute must not delay the neighbor whose time is taken.
import { parentPort, workerData } from 'node:worker_threads';
import { attack, type Target } from './attacks.ts';

const stop = new AbortController();
const parent = parentPort!;
parent.on('message', () => stop.abort());
const target = { ...(workerData as Omit<Target, 'signal'>), signal: stop.signal };
parent.postMessage(await attack(target, () => parent.postMessage('ready')));
parent.close();
