// Summaries as threads write them: the flat one as it is stored, and JSON as it is hashed.
import type { EncodedResult } from '../../src/engine/index.ts';
import { summaryOf } from '../../src/db/summaries.ts';
import { FLAT_KEYS, type FlatKey } from '../../src/engine/report/flatSummary.ts';
import { NumbersJson, type JsonPiece } from '../../src/engine/report/jsonWriter.ts';

export const summaryBytes = (flat: Readonly<Partial<Record<FlatKey, number | null>>>): Uint8Array =>
  Buffer.from(Float64Array.from(FLAT_KEYS, (key) => flat[key] ?? NaN).buffer);

export const storedSummary = ({ summary }: Pick<EncodedResult, 'summary'>): Readonly<Record<string, unknown>> =>
  summaryOf({ summary: null, summaryNumbers: [...new Float64Array(Uint8Array.from(summary).buffer)] })!;

export const jsonText = (pieces: readonly JsonPiece[]): string =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece instanceof NumbersJson ? piece.bytes() : piece))).toString();
