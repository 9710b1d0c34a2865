// A worker in this process, for the backtests that a test queues through its API.
import type { Services } from '../../src/api/services.ts';
import { urlOf } from '../../src/db/connect.ts';
import { startWorker, type Worker } from '../../src/jobs/runner.ts';
import { quiet } from './queue.ts';

export const startApiWorker = ({ sql, catalogs }: Services, threads = 1): Promise<Worker> =>
  startWorker({ url: urlOf(sql), threads, snapshots: () => catalogs }, quiet);
