// The query of something that is queued and then runs: how long to wait for its end, and which view of it to answer.
import { z } from 'zod';

/** The longest wait. Hosts end requests after about a minute; to wait longer, send another request. */
const MAX_WAIT_SECONDS = 60;
/** How many bytes an agent view may be given. */
export const AGENT_BYTES = { min: 1_000, default: 8_000, max: 200_000 };

/** @param what as the description names it, such as "backtest" */
export const detailQuery = (what: string) =>
  z
    .strictObject({
      wait: z.coerce
        .number()
        .int()
        .min(0)
        .max(MAX_WAIT_SECONDS)
        .default(0)
        .meta({ type: 'integer', description: `Answers when the ${what} is terminal, or after this many seconds.` }),
      view: z.enum(['full', 'agent']).default('full').meta({ description: '`agent`: ranked and bounded by maxBytes.' }),
      maxBytes: z.coerce
        .number()
        .int()
        .min(AGENT_BYTES.min)
        .max(AGENT_BYTES.max)
        .optional()
        .meta({
          type: 'integer',
          description: `Of the agent view, as JSON in UTF-8. Default: ${AGENT_BYTES.default}.`,
        }),
    })
    .refine(({ view, maxBytes }) => view === 'agent' || maxBytes === undefined, {
      message: 'Only the agent view is bounded by maxBytes. Add view=agent, or leave out maxBytes.',
      path: ['maxBytes'],
      params: { code: 'OUT_OF_RANGE' },
    });

/** The view of `detail` that the query asks for. @param agentView cuts it to a number of bytes */
export const viewOf = <Detail extends object>(
  { view, maxBytes = AGENT_BYTES.default }: z.infer<ReturnType<typeof detailQuery>>,
  detail: Detail,
  agentView: (detail: Detail, maxBytes: number) => object,
): object => (view === 'agent' ? agentView(detail, maxBytes) : detail);
