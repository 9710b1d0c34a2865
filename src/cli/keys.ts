// candlepool keys: creates, lists and revokes API keys, with the same answers as the API.
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { createKey } from '../api/apiKeys/newKey.ts';
import { Secrets } from '../api/http/auth/secrets.ts';
import { apiKeyAnswer } from '../api/apiKeys/keyAnswer.ts';
import { API_KEY_ROLES, API_KEY_SCOPES, DEFAULT_API_KEY_SCOPES, listApiKeys, revokeApiKey } from '../db/apiKeys.ts';
import type { ApiKeyRole, ApiKeyScope } from '../db/apiKeys.ts';
import { findActingMember, MANAGING_ROLES } from '../db/members.ts';
import { findWorkspace } from '../db/workspaces.ts';
import { email, oneOf, shortText, uuid } from './arguments.ts';
import { openDatabase } from './database.ts';
import type { CommandDatabase } from './database.ts';
import { databaseCommandName } from './invocation.ts';
import { CommandError, printJson, printLine, printTable, withJson } from './output.ts';
import { noWorkspace } from './workspace.ts';

/** The scopes that a key has only when they are named. */
const NAMED_SCOPES = API_KEY_SCOPES.filter((scope) => !DEFAULT_API_KEY_SCOPES.some((each) => each === scope));
const DEFAULT_TEXT = `all but ${NAMED_SCOPES.join(', ')}`;

export function register(program: Command): void {
  const keys = program.command('keys').description('create, list and revoke API keys');
  withJson(
    keys
      .command('create')
      .description('create a key; it is shown only once')
      .requiredOption('--workspace <id>', 'the workspace', uuid)
      .requiredOption('--name <name>', '1 to 100 characters', shortText(100))
      .option('--description <text>', 'up to 500 characters', shortText(500))
      .option('--email <email>', 'the owner or admin on whose behalf the key acts; default: the oldest owner', email)
      .option('--role <role>', `one of ${API_KEY_ROLES.join(', ')}`, oneOf(API_KEY_ROLES), 'member')
      .option('--scopes <list>', `with commas, some of ${API_KEY_SCOPES.join(', ')}; default: ${DEFAULT_TEXT}`, scopes)
      .option('--expires-at <time>', 'ISO 8601, in the future; default: never', futureTime),
  ).action(create);
  withJson(
    keys
      .command('list')
      .description('list all keys of a workspace, newest first')
      .requiredOption('--workspace <id>', 'the workspace', uuid),
  ).action(list);
  withJson(
    keys
      .command('revoke')
      .description('revoke a key, immediately and permanently')
      .argument('<id>', "the key's id, as list shows it", uuid)
      .requiredOption('--workspace <id>', 'the workspace', uuid),
  ).action(revoke);
}

interface CreateOptions {
  workspace: string;
  name: string;
  description?: string;
  email?: string;
  role: ApiKeyRole;
  scopes?: ApiKeyScope[];
  expiresAt?: Date;
  json?: boolean;
}

async function create(options: CreateOptions): Promise<void> {
  await using database = await openDatabase();
  await requireWorkspace(database, options.workspace);
  const actor = await findActingMember(database.sql, options.workspace, options.email);
  if (actor === null || !MANAGING_ROLES.includes(actor.role)) {
    const fault =
      options.email === undefined
        ? `No member of workspace ${options.workspace} is an owner or admin.`
        : `${options.email} is not an owner or admin of workspace ${options.workspace}.`;
    throw new CommandError(
      `${fault} Make one with "${databaseCommandName()} member set", or give another --email.`,
      'INSUFFICIENT_ROLE',
    );
  }
  const created = await createKey(database.sql, new Secrets(), {
    workspaceId: options.workspace,
    userId: actor.id,
    name: options.name,
    description: options.description ?? null,
    role: options.role,
    scopes: options.scopes ?? DEFAULT_API_KEY_SCOPES,
    expiresAt: options.expiresAt ?? null,
  });
  if (options.json) return printJson(created);
  printLine(created.apiKey);
  process.stderr.write('Keep it: it is not shown again. Send it in the x-api-key header.\n');
}

async function list(options: { workspace: string; json?: boolean }): Promise<void> {
  await using database = await openDatabase();
  await requireWorkspace(database, options.workspace);
  const answers = (await listApiKeys(database.sql, options.workspace)).map(apiKeyAnswer);
  if (options.json) return printJson({ data: answers });
  printTable(
    [
      { title: 'id', value: (key) => key.id },
      { title: 'name', value: (key) => key.name },
      { title: 'key', value: (key) => key.tokenPreview },
      { title: 'role', value: (key) => key.role },
      { title: 'status', value: (key) => key.status },
      { title: 'last used', value: (key) => key.lastUsedAt },
      { title: 'expires', value: (key) => key.expiresAt },
      { title: 'by', value: (key) => key.createdBy.email },
    ],
    answers,
  );
}

async function revoke(id: string, options: { workspace: string; json?: boolean }): Promise<void> {
  await using database = await openDatabase();
  await requireWorkspace(database, options.workspace);
  const revokedAt = await revokeApiKey(database.sql, options.workspace, id);
  if (revokedAt === null) {
    throw new CommandError(
      `There is no API key ${id} in workspace ${options.workspace}. "${databaseCommandName()} keys list --workspace ` +
        `${options.workspace}" shows all of them.`,
      'NOT_FOUND',
    );
  }
  if (options.json) printJson({ success: true, revokedAt: revokedAt.toISOString() });
  else printLine(`Revoked at ${revokedAt.toISOString()}.`);
}

async function requireWorkspace(database: CommandDatabase, id: string): Promise<void> {
  if ((await findWorkspace(database.sql, id)) === null) throw noWorkspace(id);
}

function scopes(text: string): ApiKeyScope[] {
  const given = text.split(',').map((each) => each.trim());
  const unknown = given.filter((each) => !API_KEY_SCOPES.includes(each as ApiKeyScope));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(`Unknown scopes: ${unknown.join(', ')}. Choose from ${API_KEY_SCOPES.join(', ')}.`);
  }
  return [...new Set(given)] as ApiKeyScope[];
}

function futureTime(text: string): Date {
  const time = new Date(text);
  if (!(time.getTime() > Date.now())) throw new InvalidArgumentError('Give an ISO 8601 time in the future.');
  return time;
}
