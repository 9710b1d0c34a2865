// candlepool member: gives a person a role in a workspace, or removes the person.
import type { Command } from 'commander';
import { endMember, MEMBER_ROLES, upsertMember, upsertUser } from '../db/members.ts';
import type { MemberRole } from '../db/members.ts';
import { isDuplicate } from '../db/sqlErrors.ts';
import { lockWorkspace } from '../db/workspaces.ts';
import { email, oneOf, shortText, uuid } from './arguments.ts';
import { openDatabase } from './database.ts';
import { CommandError, printJson, printLine, withJson } from './output.ts';
import { noWorkspace } from './workspace.ts';

const ROLES = [...MEMBER_ROLES, 'none'] as const;

export function register(program: Command): void {
  const member = program.command('member').description('add, change and remove members of a workspace');
  withJson(
    member
      .command('set')
      .description('set the role of a person; none removes the person and revokes every key they created')
      .requiredOption('--workspace <id>', 'the workspace', uuid)
      .requiredOption('--email <email>', 'the person', email)
      .option('--subject <sub>', "`sub` of the person's tokens, if an identity provider issues them", shortText(255))
      .requiredOption('--role <role>', `one of ${ROLES.join(', ')}`, oneOf(ROLES)),
  ).action(set);
}

interface SetOptions {
  workspace: string;
  email: string;
  subject?: string;
  role: MemberRole | 'none';
  json?: boolean;
}

async function set(options: SetOptions): Promise<void> {
  const { workspace: workspaceId, role } = options;
  await using database = await openDatabase();
  const { user, revokedKeys } = await database.sql
    .begin(async (transaction) => {
      if ((await lockWorkspace(transaction, workspaceId)) === null) throw noWorkspace(workspaceId);
      const user = await upsertUser(transaction, options);
      if (role === 'none') return { user, revokedKeys: await endMember(transaction, workspaceId, user.id) };
      await upsertMember(transaction, { workspaceId, userId: user.id, role });
      return { user, revokedKeys: 0 };
    })
    .catch((error: unknown) => {
      if (!isDuplicate(error)) throw error;
      throw new CommandError(
        `The subject "${options.subject}" belongs to another person. Give each person a different one.`,
      );
    });
  const { id: userId, email, subject } = user;
  if (role !== 'none') {
    if (options.json) return printJson({ workspaceId, userId, email, subject, role });
    return printLine(`${email} is now ${role}.`);
  }
  if (options.json) return printJson({ workspaceId, userId, email, subject, role, revokedKeys });
  printLine(`${email} is no longer a member. ${revocation(revokedKeys)}`);
}

function revocation(keys: number): string {
  if (keys === 0) return 'No API key had to be revoked.';
  return keys === 1 ? '1 API key was revoked.' : `${keys} API keys were revoked.`;
}
