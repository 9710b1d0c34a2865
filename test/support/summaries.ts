// Flat summaries as threads encode them, made and read by tests.
import type { EncodedResult } from '../../src/engine/index.ts';
import { summaryOf } from '../../src/db/summaries.ts';
import { flatNumbersOf } from '../../src/engine/report/flatJson.ts';

export const summaryBytes = (flat: Parameters<typeof flatNumbersOf>[0]): Uint8Array =>
  Buffer.from(flatNumbersOf(flat).buffer);

export const storedSummary = ({ summary }: Pick<EncodedResult, 'summary'>): Readonly<Record<string, unknown>> =>
  summaryOf({ summary: null, summaryNumbers: [...new Float64Array(Uint8Array.from(summary).buffer)] })!;
