// The synthetic universe as a catalog offers it: 48 daily series that are listed from data/universe.json, and made when
// a run first reads them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../../config.ts';
import type { Snapshot } from '../../engine/bars/arrow.ts';
import type { CatalogEntry } from '../catalog.ts';
import { summarizeSeries } from '../import/importReport.ts';
import type { BarsTable } from '../import/importReport.ts';
import { makeSnapshot } from '../snapshotFiles.ts';
import { generateMember } from './generate.ts';
import { instrumentOfMember, MEMBERS } from './members.ts';

const TIMEFRAME = '1d';

/** data/universe.json, as test/market/universe.test.ts writes it: what the bars are, known before any is made. */
const Row = z.strictObject({
  symbol: z.string(),
  bars: z.int(),
  start: z.int(),
  end: z.int(),
  gaps: z.int(),
  missingBars: z.int(),
  sha256: z.string(),
});
const rows = z.array(Row).parse(JSON.parse(readFileSync(join(ROOT, 'data', 'universe.json'), 'utf8')));

const members = new Map(MEMBERS.map((member) => [member.symbol, member]));
const entries = new Map(rows.map((row) => [row.symbol, entryOfRow(row)]));
const descriptions = new Map(MEMBERS.map(({ symbol, description }) => [symbol, description]));

function entryOfRow(row: z.infer<typeof Row>): CatalogEntry {
  const instrument = instrumentOfMember(members.get(row.symbol)!);
  return { ...row, timeframe: TIMEFRAME, instrument, synthetic: true };
}

/** By symbol. */
export const listUniverse = (): readonly CatalogEntry[] => [...entries.values()];

export const findUniverseEntry = (symbol: string): CatalogEntry | undefined => entries.get(symbol);

/** What a series of the universe is, in a sentence; null for other bars, even under the same symbol. */
export function describeUniverseEntry({ symbol, sha256 }: Pick<CatalogEntry, 'symbol' | 'sha256'>): string | null {
  return entries.get(symbol)?.sha256 === sha256 ? descriptions.get(symbol)! : null;
}

/** The bars of a member as an import would read them. */
export function universeBars(symbol: string): BarsTable {
  const columns = generateMember(members.get(symbol)!);
  const report: BarsTable['report'] = {
    ...summarizeSeries(columns, TIMEFRAME),
    isTimeframeInferred: false,
    isCloseOnly: false,
    format: 'arrow',
    time: { column: 'time', unit: 'ms', zone: 'UTC', is: 'open' },
    series: [],
    ignored: [],
    notes: [descriptions.get(symbol)!],
  };
  return { columns, report };
}

const snapshots = new Map<string, Snapshot>();

/** The bars of a member in memory. All of them together take 8 MB, so they are kept. */
export function universeSnapshot(symbol: string): Snapshot {
  let snapshot = snapshots.get(symbol);
  if (snapshot === undefined) {
    const member = members.get(symbol)!;
    const about = { symbol, timeframe: TIMEFRAME, instrument: instrumentOfMember(member) } as const;
    snapshots.set(symbol, (snapshot = makeSnapshot(generateMember(member), about)));
  }
  return snapshot;
}
