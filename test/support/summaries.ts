// Summaries as threads write them: the flat one as it is stored, and JSON as it is hashed.
import type { EncodedResult } from '../../src/engine/index.ts';
import { summaryOf } from '../../src/db/summaries.ts';
import { flatNumbersOf } from '../../src/engine/report/flatJson.ts';
import { NumbersJson, type JsonPiece } from '../../src/engine/report/jsonWriter.ts';

export const summaryBytes = (flat: Parameters<typeof flatNumbersOf>[0]): Uint8Array =>
  Buffer.from(flatNumbersOf(flat).buffer);

export const storedSummary = ({ summary }: Pick<EncodedResult, 'summary'>): Readonly<Record<string, unknown>> =>
  summaryOf({ summary: null, summaryNumbers: [...new Float64Array(Uint8Array.from(summary).buffer)] })!;

export const jsonText = (pieces: readonly JsonPiece[]): string =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece instanceof NumbersJson ? piece.bytes() : piece))).toString();
