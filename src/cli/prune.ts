// candlepool prune: deletes backtests and sweeps that are past the retention of their tier, and snapshots that nothing
// refers to.
import type { Command } from 'commander';
import { countExpired, listUnusedSnapshots } from '../db/retention.ts';
import { pruneResults } from '../jobs/pruning.ts';
import { openCatalog } from '../market/catalog.ts';
import { TIER_LIMITS } from '../tiers.ts';
import { openDatabase } from './database.ts';
import { printJson, printLine, withJson } from './output.ts';

interface PruneCommandOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  withJson(
    program
      .command('prune')
      .description(
        'delete backtests and sweeps past the retention of their tier, and market data that nothing refers to',
      )
      .option('--dry-run', 'delete nothing; print what would be deleted'),
  ).action(prune);
}

async function prune({ dryRun = false, json = false }: PruneCommandOptions): Promise<void> {
  await using database = await openDatabase();
  const { sql, config } = database;
  const catalog = openCatalog(sql, config.dataDir, { storage: config.snapshotStorage });
  const expired = await countExpired(sql, TIER_LIMITS);
  const sumOf = (kind: 'backtests' | 'sweeps'): number => expired.reduce((sum, each) => sum + each[kind], 0);
  const { backtests, sweeps } = dryRun
    ? { backtests: sumOf('backtests'), sweeps: sumOf('sweeps') }
    : await pruneResults(sql);
  const snapshots = dryRun ? await listUnusedSnapshots(sql) : await catalog.prune();
  if (json) return printJson({ dryRun, backtests, sweeps, workspaces: expired, snapshots });
  for (const { workspaceId, name, tier, ...past } of expired) {
    const { retentionDays, keptBacktests, keptSweeps } = TIER_LIMITS[tier];
    const limits = `${retentionDays} days, ${keptBacktests} backtests, ${keptSweeps} sweeps`;
    printLine(
      `${workspaceId} ${name} (${tier}: ${limits}): ${past.backtests} backtests and ${past.sweeps} sweeps past that`,
    );
  }
  for (const { sha256, symbol, timeframe, byteLength } of snapshots)
    printLine(`snapshot ${sha256} of ${symbol} ${timeframe}, ${byteLength} bytes: nothing refers to it`);
  const verb = dryRun ? 'Would delete' : 'Deleted';
  const bytes = snapshots.reduce((sum, { byteLength }) => sum + byteLength, 0);
  printLine(`${verb} ${backtests} backtests, ${sweeps} sweeps and ${snapshots.length} snapshots of ${bytes} bytes.`);
}
