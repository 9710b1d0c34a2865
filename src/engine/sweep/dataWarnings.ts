// Warnings of a sweep about its data: what its best row lacked, or could not drill into.
import { dataFindings, drillingFindings } from '../report/dataFindings.ts';
import type { RankingRows } from './rankingRows.ts';
import { prepareVariant, type SweepContext } from './shard.ts';
import { configOf } from './space.ts';

/** Variants read the same data, so that those of the best row stand for all. */
export function dataWarnings(
  context: SweepContext,
  { top: [best] }: Pick<RankingRows, 'top'>,
): readonly { readonly code: string; readonly message: string }[] {
  if (best === undefined) return [];
  const config = configOf(context.job.spec.config, context.space, best.coordinates);
  const prepared = prepareVariant(context, config);
  if ('code' in prepared) return [];
  const [run] = prepared.instruments;
  return [...drillingFindings(run), ...dataFindings(run, [])].map(({ code, message, suggestion }) => ({
    code,
    message: `${message} ${suggestion}`,
  }));
}
