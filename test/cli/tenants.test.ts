// The commands that make workspaces, members, tokens and keys, as issue and API have them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_API_KEY_SCOPES } from '../../src/db/apiKeys.ts';
import { callCommand } from '../support/command.ts';
import type { CommandResult } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { makeTenant } from '../support/tenants.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const UNKNOWN = '01a1fc4d-9d3e-7ebf-8c33-03e134b5943e';
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const run = (...args: string[]): Promise<CommandResult> => callCommand(args, { DATABASE_URL: database.url });
async function json<Answer>(...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  return JSON.parse(stdout) as Answer;
}
interface Made {
  id: string;
  tier: string;
  name: string;
  owner: { id: string; email: string };
}

describe('workspace', () => {
  it('answers create with {id,…} and makes the owner, owner@localhost by default', async () => {
    const made = await json<Made>('workspace', 'create', '--name', 'Desk');
    expect(made).toMatchObject({ name: 'Desk', tier: 'free', owner: { email: 'owner@localhost' } });
    const members = await database.sql`
      select u.email, m.role from members m join users u on u.id = m.user_id where workspace_id = ${made.id}`;
    expect([...members]).toEqual([{ email: 'owner@localhost', role: 'owner' }]);
  });

  it('creates with tier and owner, updates the tier, and lists it', async () => {
    const made = await json<Made>(
      'workspace',
      'create',
      '--name',
      'Pro',
      '--tier',
      'pro',
      '--owner-email',
      'a@b.example',
    );
    expect(made).toMatchObject({ tier: 'pro', owner: { email: 'a@b.example' } });
    expect(await json('workspace', 'update', made.id, '--tier', 'plus')).toMatchObject({ id: made.id, tier: 'plus' });
    const { data } = await json<{ data: Made[] }>('workspace', 'list');
    expect(data.find((row) => row.id === made.id)).toMatchObject({ tier: 'plus', name: 'Pro' });
    const { stdout } = await run('workspace', 'list');
    expect(stdout).toContain(`${made.id}\tPro\tplus\t`);
  });

  it('fails with 1 for an unknown workspace and says where to look', async () => {
    const { code, stdout, stderr } = await run('workspace', 'update', UNKNOWN, '--tier', 'pro');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`error: There is no workspace ${UNKNOWN}. "`);
    expect(stderr).toContain('candlepool workspace list" shows all of them.');
  });

  it.each([
    [['workspace', 'create'], /--name/],
    [['workspace', 'create', '--name', ''], /1 to 200 characters/],
    [['workspace', 'create', '--name', 'x', '--tier', 'gold'], /free, plus, pro/],
    [['workspace', 'create', '--name', 'x', '--owner-email', 'nobody'], /e-mail/],
    [['workspace', 'update', UNKNOWN], /--tier or --name/],
    [['workspace', 'update', '7'], /Give an id/],
    [['workspace', 'burn'], /unknown command/],
  ])('exits with 2 for the invalid call %j', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe('token and member', () => {
  it('answers token with {token, userId}, creates user and membership, and sets the expiry', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    const made = await json<{ token: string; userId: string }>(
      'token',
      '--workspace',
      id,
      '--role',
      'admin',
      '--email',
      'Ann@Example.com',
      '--ttl',
      '60',
    );
    const claims = JSON.parse(Buffer.from(made.token.split('.')[1], 'base64url').toString()) as Record<string, unknown>;
    expect(claims).toMatchObject({ iss: 'candlepool', aud: 'candlepool', sub: made.userId, email: 'Ann@Example.com' });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(60);
    const again = await json<{ userId: string }>(
      'token',
      '--workspace',
      id,
      '--role',
      'member',
      '--email',
      'ann@example.com',
    );
    expect(again.userId).toBe(made.userId);
    const [row] = await database.sql`select role from members where workspace_id = ${id} and user_id = ${made.userId}`;
    expect(row.role).toBe('member');
  });

  it('refuses token if there is an identity provider, and names member set --subject', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    const env = { DATABASE_URL: database.url, AUTH_JWKS_URL: 'https://id.example/jwks' };
    const args = ['token', '--workspace', id, '--role', 'admin', '--email', 'x@example.com', '--json'];
    const refused = await callCommand(args, env);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'NOT_LOCAL' } });
    const set = [
      'member',
      'set',
      '--workspace',
      id,
      '--email',
      'x@example.com',
      '--subject',
      'auth0|7',
      '--role',
      'admin',
    ];
    const { code, stdout } = await callCommand([...set, '--json'], env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ workspaceId: id, subject: 'auth0|7', role: 'admin' });
  });

  it('ends the membership with member set --role none', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    await json('member', 'set', '--workspace', id, '--email', 'gone@example.com', '--role', 'admin');
    await json('member', 'set', '--workspace', id, '--email', 'gone@example.com', '--role', 'none');
    const [row] = await database.sql`
      select ended_at from members m join users u on u.id = m.user_id
      where workspace_id = ${id} and u.email = 'gone@example.com'`;
    expect(row.ended_at).not.toBeNull();
  });

  it('revokes every key of a person whose membership ends, and of nobody else, and says how many', async () => {
    const tenant = await makeTenant(database.sql, 'pro');
    const { workspaceId: id } = tenant;
    const set = (role: string) => ['member', 'set', '--workspace', id, '--email', 'left@example.com', '--role', role];
    await json(...set('admin'));
    const create = ['keys', 'create', '--workspace', id, '--name'];
    await json(...create, 'first', '--email', 'left@example.com');
    await json(...create, 'second', '--email', 'left@example.com');
    await json(...create, 'of the owner');
    expect(await json(...set('none'))).toMatchObject({ role: 'none', revokedKeys: 2 });
    await json(...set('admin'));
    const { data } = await json<{ data: { name: string; status: string }[] }>('keys', 'list', '--workspace', id);
    expect(data.map((key) => `${key.name}: ${key.status}`)).toEqual([
      'of the owner: active',
      'second: revoked',
      'first: revoked',
    ]);
    const { stdout } = await run(...set('none'));
    expect(stdout).toBe('left@example.com is no longer a member. No API key had to be revoked.\n');
  });

  it('refuses one subject for two people', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    const set = (email: string) =>
      run('member', 'set', '--workspace', id, '--email', email, '--subject', 'one-subject', '--role', 'member');
    expect((await set('first@example.com')).code).toBe(0);
    const second = await set('second@example.com');
    expect(second.code).toBe(1);
    expect(second.stderr).toContain('belongs to another person');
  });
});

describe('keys', () => {
  interface Key {
    id: string;
    apiKey: string;
    keyPrefix: string;
  }

  it('creates like the API, lists without the plaintext, and revokes idempotently', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    const made = await json<Key>('keys', 'create', '--workspace', id, '--name', 'first');
    expect(made).toEqual({
      id: expect.any(String),
      name: 'first',
      description: null,
      role: 'member',
      scopes: [...DEFAULT_API_KEY_SCOPES],
      keyPrefix: expect.stringMatching(/^svc_live_\w{12}$/),
      expiresAt: null,
      createdAt: expect.stringMatching(ISO),
      apiKey: expect.stringMatching(/^svc_live_\w{12}_\w{38}$/),
    });
    const { stdout } = await run('keys', 'list', '--workspace', id, '--json');
    expect(stdout).not.toContain(made.apiKey);
    expect(JSON.parse(stdout)).toMatchObject({
      data: [
        {
          id: made.id,
          status: 'active',
          tokenPreview: `${made.keyPrefix}…`,
          createdBy: { email: `owner-${id}@example.com` },
        },
      ],
    });
    const revoked = await json<{ revokedAt: string }>('keys', 'revoke', made.id, '--workspace', id);
    expect(revoked).toEqual({ success: true, revokedAt: expect.stringMatching(ISO) });
    expect(await json('keys', 'revoke', made.id, '--workspace', id)).toEqual(revoked);
  });

  it('creates with role, scopes and expiry, and prints the bare key in a pipe', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const options = ['--role', 'viewer', '--scopes', 'workspace_read,backtests_read', '--expires-at', expiresAt];
    expect(await json('keys', 'create', '--workspace', id, '--name', 'v', ...options)).toMatchObject({
      role: 'viewer',
      scopes: ['workspace_read', 'backtests_read'],
      expiresAt,
    });
    const { stdout } = await run('keys', 'create', '--workspace', id, '--name', 'bare');
    expect(stdout).toMatch(/^svc_live_\w{12}_\w{38}\n$/);
  });

  it('creates on behalf of the given member, who must be an owner or admin', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    await json('member', 'set', '--workspace', id, '--email', 'admin@example.com', '--role', 'admin');
    await json('member', 'set', '--workspace', id, '--email', 'plain@example.com', '--role', 'member');
    const create = (email: string) =>
      run('keys', 'create', '--workspace', id, '--name', 'k', '--email', email, '--json');
    expect((await create('admin@example.com')).code).toBe(0);
    const refused = await create('plain@example.com');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'INSUFFICIENT_ROLE' } });
    const { data } = await json<{ data: { createdBy: { email: string } }[] }>('keys', 'list', '--workspace', id);
    expect(data.map((key) => key.createdBy.email)).toEqual(['admin@example.com']);
  });

  it('refuses the sixth key on free with the exact text and exit code 1', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    await database.sql`
      insert into api_keys (workspace_id, key_id, secret_hash, name, role, scopes, created_by)
      select ${id}, 'quota' || n || left(${id}, 8), 'x', 'k', 'member', '{workspace_read}', user_id
      from generate_series(1, 5) n, members where workspace_id = ${id}`;
    const { code, stderr } = await run('keys', 'create', '--workspace', id, '--name', 'k', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'API_KEY_LIMIT_REACHED',
        message: 'API key limit (5) reached. Revoke unused keys or upgrade your plan.',
      },
    });
  });

  it.each([
    [['--scopes', 'workspace_read,all'], /Unknown scopes: all/],
    [['--role', 'owner'], /member, viewer/],
    [['--expires-at', '2001-01-01T00:00:00Z'], /in the future/],
    [['--name', 'x'.repeat(101)], /1 to 100 characters/],
  ])('exits with 2 for the invalid call create %j', async (options, message) => {
    const { code, stderr } = await run('keys', 'create', '--workspace', UNKNOWN, '--name', 'k', ...options);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('fails with 1 for an unknown workspace or key', async () => {
    const { workspaceId: id } = await makeTenant(database.sql);
    for (const args of [
      ['create', '--workspace', UNKNOWN, '--name', 'k'],
      ['list', '--workspace', UNKNOWN],
      ['revoke', UNKNOWN, '--workspace', id],
    ]) {
      const { code, stderr } = await run('keys', ...args, '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } });
    }
  });
});
