// A thread of its own that compresses as the stand-in of nativeCallRunner.ts does.
import { parentPort, workerData } from 'node:worker_threads';
import { enterThrough } from '../../src/engine/index.ts';
import { compressAgainAndAgain } from './nativeCallRunner.ts';

const { gate, params } = workerData as { gate: Int32Array; params: { inside: SharedArrayBuffer } };
enterThrough(gate);
compressAgainAndAgain(params.inside, () => parentPort!.postMessage('inside'));
