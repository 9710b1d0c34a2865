// candlepool workspace: creates a workspace with its owner, changes it, lists all of them.
import type { Command } from 'commander';
import { upsertMember, upsertUser } from '../db/members.ts';
import { insertWorkspace, listWorkspaces, updateWorkspace } from '../db/workspaces.ts';
import type { Workspace } from '../db/workspaces.ts';
import { TIERS } from '../tiers.ts';
import type { Tier } from '../tiers.ts';
import { email, shortText, tier, uuid } from './arguments.ts';
import { openDatabase } from './database.ts';
import { databaseCommandName } from './invocation.ts';
import { CommandError, printJson, printLine, printTable, UsageError, withJson } from './output.ts';

const TIER_HELP = `one of ${TIERS.join(', ')}`;

export function register(program: Command): void {
  const workspace = program.command('workspace').description('create, update and list workspaces');
  withJson(
    workspace
      .command('create')
      .description('create a workspace and its owner')
      .requiredOption('--name <name>', '1 to 200 characters', shortText(200))
      .option('--tier <tier>', TIER_HELP, tier, 'free')
      .option('--owner-email <email>', 'e-mail address of its owner', email, 'owner@localhost'),
  ).action(create);
  withJson(
    workspace
      .command('update')
      .description('change the tier or the name of a workspace')
      .argument('<id>', 'the workspace', uuid)
      .option('--tier <tier>', TIER_HELP, tier)
      .option('--name <name>', '1 to 200 characters', shortText(200)),
  ).action(update);
  withJson(workspace.command('list').description('list all workspaces, oldest first')).action(list);
}

interface CreateOptions {
  name: string;
  tier: Tier;
  ownerEmail: string;
  json?: boolean;
}

async function create(options: CreateOptions): Promise<void> {
  await using database = await openDatabase();
  const made = await database.sql.begin(async (transaction) => {
    const workspace = await insertWorkspace(transaction, options);
    const owner = await upsertUser(transaction, { email: options.ownerEmail });
    await upsertMember(transaction, { workspaceId: workspace.id, userId: owner.id, role: 'owner' });
    return { ...workspace, owner: { id: owner.id, email: owner.email } };
  });
  if (options.json) return printJson(made);
  printLine(`Workspace ${made.id} (${made.name}, ${made.tier}), owned by ${made.owner.email}.`);
  printLine(`Create a key for it: ${databaseCommandName()} keys create --workspace ${made.id} --name first`);
}

async function update(id: string, options: { tier?: Tier; name?: string; json?: boolean }): Promise<void> {
  if (options.tier === undefined && options.name === undefined) {
    throw new UsageError('There is nothing to change. Give --tier or --name.');
  }
  await using database = await openDatabase();
  const workspace = await updateWorkspace(database.sql, id, options);
  if (workspace === null) throw noWorkspace(id);
  if (options.json) printJson(workspace);
  else printLine(`Workspace ${workspace.id}: ${workspace.name}, ${workspace.tier}.`);
}

async function list(options: { json?: boolean }): Promise<void> {
  await using database = await openDatabase();
  const workspaces = await listWorkspaces(database.sql);
  if (options.json) return printJson({ data: workspaces });
  printTable<Workspace>(
    [
      { title: 'id', value: (row) => row.id },
      { title: 'name', value: (row) => row.name },
      { title: 'tier', value: (row) => row.tier },
      { title: 'created', value: (row) => row.createdAt.toISOString() },
    ],
    workspaces,
  );
}

/** The failure that every command with --workspace reports. */
export function noWorkspace(id: string): CommandError {
  return new CommandError(
    `There is no workspace ${id}. "${databaseCommandName()} workspace list" shows all of them.`,
    'NOT_FOUND',
  );
}
