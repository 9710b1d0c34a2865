// Memberships: one that ends revokes the keys of its user, also keys that are being created at that moment.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/api/apiKeys/newKey.ts';
import { Secrets } from '../../src/api/http/auth/secrets.ts';
import { API_KEY_SCOPES, listApiKeys } from '../../src/db/apiKeys.ts';
import { connect } from '../../src/db/connect.ts';
import { endMember, upsertMember, upsertUser } from '../../src/db/members.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { makeTenant } from '../support/tenants.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const secrets = new Secrets();

async function makeAdmin(): Promise<{ workspaceId: string; userId: string }> {
  const { workspaceId } = await makeTenant(database.sql, 'pro');
  const { id: userId } = await upsertUser(database.sql, { email: `admin-${workspaceId}@example.com` });
  await upsertMember(database.sql, { workspaceId, userId, role: 'admin' });
  return { workspaceId, userId };
}

const newKey = (admin: { workspaceId: string; userId: string }) =>
  createKey(database.sql, secrets, {
    ...admin,
    name: 'k',
    description: null,
    role: 'member',
    scopes: API_KEY_SCOPES,
    expiresAt: null,
  });

/** Waits until as many sessions of the database wait for a lock. */
const lockWaiters = (count: number) =>
  eventually(async () => {
    const [row] = await database.sql<[{ waiting: number }]>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row.waiting >= count ? row : null;
  });

it('revokes a key whose creation began before the membership ended', async () => {
  const admin = await makeAdmin();
  const other = connect(database.url);
  await using _closed = { [Symbol.asyncDispose]: () => other.end() };
  // The creation waits with its insert, while it holds the membership.
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = database.sql.begin(async (transaction) => {
    await transaction`lock table api_keys in share mode`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const creating = newKey(admin);
  await lockWaiters(1);
  const ending = other.begin((transaction) => endMember(transaction, admin.workspaceId, admin.userId));
  await lockWaiters(2);
  release.resolve();
  await Promise.all([holding, creating]);
  expect(await ending).toBe(1);
  expect((await listApiKeys(database.sql, admin.workspaceId)).map((key) => key.status)).toEqual(['revoked']);
});

it('creates no key for a person whose membership ended while the key was being made', async () => {
  const admin = await makeAdmin();
  const ended = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const ending = database.sql.begin(async (transaction) => {
    await endMember(transaction, admin.workspaceId, admin.userId);
    ended.resolve();
    await release.promise;
  });
  await ended.promise;
  const creating = newKey(admin).catch((error: unknown) => error);
  await lockWaiters(1);
  release.resolve();
  await ending;
  expect(await creating).toMatchObject({ code: 'NOT_FOUND', message: 'Workspace not found.' });
  expect(await listApiKeys(database.sql, admin.workspaceId)).toEqual([]);
});

it('leaves no active key after any order of twenty creations and one end of the membership', async () => {
  const admin = await makeAdmin();
  const creations = Array.from({ length: 20 }, () => newKey(admin).catch(() => null));
  await creations[3];
  await database.sql.begin((transaction) => endMember(transaction, admin.workspaceId, admin.userId));
  await Promise.all(creations);
  const statuses = (await listApiKeys(database.sql, admin.workspaceId)).map((key) => key.status);
  expect(statuses).not.toContain('active');
  expect(statuses.length).toBeGreaterThan(0);
});
