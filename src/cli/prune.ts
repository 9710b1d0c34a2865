// candlepool prune: deletes backtests that are past the retention of their tier, and snapshots that nothing refers to.
import type { Command } from 'commander';
import { countExpired, listUnusedSnapshots } from '../db/retention.ts';
import { pruneBacktests } from '../jobs/pruning.ts';
import { openCatalogue } from '../market/catalogue.ts';
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
      .description('delete backtests past the retention of their tier, and market data that nothing refers to')
      .option('--dry-run', 'delete nothing; print what would be deleted'),
  ).action(prune);
}

async function prune({ dryRun = false, json = false }: PruneCommandOptions): Promise<void> {
  await using database = await openDatabase();
  const { sql, config } = database;
  const catalogue = openCatalogue(sql, config.dataDir, { storage: config.snapshotStorage });
  const expired = await countExpired(sql, TIER_LIMITS);
  const backtests = dryRun ? expired.reduce((sum, each) => sum + each.backtests, 0) : await pruneBacktests(sql);
  const snapshots = dryRun ? await listUnusedSnapshots(sql) : await catalogue.prune();
  if (json) return printJson({ dryRun, backtests, workspaces: expired, snapshots });
  for (const { workspaceId, name, tier, backtests: count } of expired) {
    const { retentionDays, keptBacktests } = TIER_LIMITS[tier];
    printLine(
      `${workspaceId} ${name} (${tier}: ${retentionDays} days, ${keptBacktests} backtests): ${count} backtests past that`,
    );
  }
  for (const { sha256, symbol, timeframe, byteLength } of snapshots)
    printLine(`snapshot ${sha256} of ${symbol} ${timeframe}, ${byteLength} bytes: nothing refers to it`);
  const verb = dryRun ? 'Would delete' : 'Deleted';
  const bytes = snapshots.reduce((sum, { byteLength }) => sum + byteLength, 0);
  printLine(`${verb} ${backtests} backtests and ${snapshots.length} snapshots of ${bytes} bytes.`);
}
