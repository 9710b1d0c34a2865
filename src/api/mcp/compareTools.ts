// Tools that compare several finished backtests, or combine them into one account.
import { z } from 'zod';
import { CombineBody, CompareBody } from '../backtests/compareSchemas.ts';
import { toSignificant } from '../http/significant.ts';
import type { ApiAnswer } from './apiCall.ts';
import { MAX_WAIT_SECONDS } from './runTools.ts';
import { answering, post, readTool } from './tool.ts';
import { bodyMembers } from './toolArguments.ts';

const WAIT = z
  .int()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .default(20)
  .describe('Seconds to wait for daily equity; while it is pending, call again.');
/** Rows of two backtests fit into an answer beside all the rest; those of the 45 pairs of ten do not. */
const ROWS_OF_A_PAIR = 5;

const { equityPoints: _points, wait: _wait, tradeRows, ...compared } = CompareBody.shape;
const compareBacktests = readTool(
  'compare_backtests',
  'Compare backtests',
  'Of 2 to 10 completed backtests: settings that differ, metrics, trades that only one has, correlation of returns.',
  {
    ...bodyMembers({ ...compared, tradeRows: tradeRows.unwrap().optional() }),
    wait: WAIT,
  },
  async (args, { call }) => {
    const isPair = Array.isArray(args.backtestIds) && args.backtestIds.length === 2;
    return shortened(await call(post('/backtests/compare', { tradeRows: isPair ? ROWS_OF_A_PAIR : 0, ...args })));
  },
);

const { equityPoints: _equityPoints, wait: _combineWait, ...combined } = CombineBody.shape;
const combineBacktests = readTool(
  'combine_backtests',
  'Combine backtests',
  'Backtests as one account with weights: contributions, correlations, joint drawdown.',
  { ...bodyMembers(combined), wait: WAIT },
  async (args, { call }) => shortened(await call(post('/backtests/combine', { ...args, equityPoints: 0 }))),
);

/** Numbers with the digits that are read. */
const shortened = (answer: ApiAnswer): ApiAnswer =>
  answer.status < 300 ? { ...answer, body: toSignificant(answer.body) } : answer;

export const COMPARE_TOOLS = [compareBacktests, combineBacktests].map((tool) => answering({ status: 'string' }, tool));
