// candlepool token: an access token for the management API, signed with the key pair in Postgres.
import type { Command } from 'commander';
import { signLocalToken } from '../api/http/auth/tokens.ts';
import { MEMBER_ROLES, upsertMember, upsertUser } from '../db/members.ts';
import type { MemberRole } from '../db/members.ts';
import { findWorkspace } from '../db/workspaces.ts';
import { email, oneOf, uuid, wholeNumber } from './arguments.ts';
import { openDatabase } from './database.ts';
import { databaseCommandName } from './invocation.ts';
import { CommandError, printJson, printLine, withJson } from './output.ts';
import { noWorkspace } from './workspace.ts';

const DEFAULT_TTL_SECONDS = 3_600;
/** Ten years. A token cannot be revoked, so none lasts forever. */
const MAX_TTL_SECONDS = 315_360_000;

export function register(program: Command): void {
  withJson(
    program
      .command('token')
      .description(
        'create an access token for the management API, and the user and the membership if they do not exist',
      )
      .requiredOption('--workspace <id>', 'the workspace', uuid)
      .requiredOption('--role <role>', `one of ${MEMBER_ROLES.join(', ')}`, oneOf(MEMBER_ROLES))
      .requiredOption('--email <email>', 'the person', email)
      .option('--ttl <seconds>', 'seconds until it expires', wholeNumber(1, MAX_TTL_SECONDS), DEFAULT_TTL_SECONDS),
  ).action(token);
}

interface TokenOptions {
  workspace: string;
  role: MemberRole;
  email: string;
  ttl: number;
  json?: boolean;
}

async function token(options: TokenOptions): Promise<void> {
  await using database = await openDatabase();
  const { config, sql } = database;
  if (config.auth.jwksUrl !== undefined) {
    throw new CommandError(
      'AUTH_JWKS_URL is set, so tokens come from that identity provider. Get one there, and add the person with ' +
        `"${databaseCommandName()} member set --subject".`,
      'NOT_LOCAL',
    );
  }
  const user = await sql.begin(async (transaction) => {
    if ((await findWorkspace(transaction, options.workspace)) === null) throw noWorkspace(options.workspace);
    const user = await upsertUser(transaction, { email: options.email });
    await upsertMember(transaction, { workspaceId: options.workspace, userId: user.id, role: options.role });
    return user;
  });
  const token = await signLocalToken(sql, config, {
    subject: user.subject,
    email: user.email,
    ttlSeconds: options.ttl,
  });
  if (options.json) printJson({ token, userId: user.id });
  else printLine(token);
}
