// The tool that changes the labels of a strategy, a backtest or a sweep, archives it or deletes it.
import { z } from 'zod';
import { RunLabelsBody } from '../http/labelShapes.ts';
import { patch, remove, segment, writeTool, type Tool } from './tool.ts';
import { bodyMembers } from './toolArguments.ts';

const PATHS = { strategy: 'strategies', backtest: 'backtests', sweep: 'sweeps' } as const;

const label = writeTool(
  'label',
  'Label, archive or delete',
  'Names, tags, annotates, archives or deletes; null removes a label.',
  {
    kind: z.enum(['strategy', 'backtest', 'sweep']),
    id: z.string().describe('Its id.'),
    ...bodyMembers(RunLabelsBody.shape),
    delete: z
      .boolean()
      .default(false)
      .describe('Deletes it for good: a run that has ended, or a strategy that nothing has run.'),
  },
  ({ kind, id, delete: isGone, ...labels }, { call }) => {
    const path = `/${PATHS[kind as keyof typeof PATHS]}/${segment(id)}`;
    if (isGone !== true) return call(patch(path, labels));
    return call(remove(kind === 'strategy' ? `${path}?permanently=true` : path));
  },
);

export const labelTool: Tool = { ...label, isDestructive: true, isIdempotent: true };
