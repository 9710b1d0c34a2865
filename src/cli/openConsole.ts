// --open: opens the console in the browser of this machine with a key of a demo workspace. Without a browser, it prints
// the address.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createKey } from '../api/apiKeys/newKey.ts';
import { Secrets } from '../api/http/auth/secrets.ts';
import { hasScreen } from '../config.ts';
import { API_KEY_SCOPES, listApiKeys, revokeApiKey } from '../db/apiKeys.ts';
import { connect } from '../db/connect.ts';
import { findActingMember, upsertMember, upsertUser } from '../db/members.ts';
import { insertWorkspace, listWorkspaces } from '../db/workspaces.ts';
import { printJson, printLine } from './output.ts';

/** What the console can use; webhooks send data to other addresses, which no view does. */
const CONSOLE_SCOPES = API_KEY_SCOPES.filter((scope) => scope !== 'webhooks_write');
const WORKSPACE = 'Demo';
const KEY_NAME = 'console of serve --open';
/** Longer than a day of work; the address with the key stays in the history of the terminal. */
const CONSOLE_KEY_MS = 12 * 3_600_000;

/**
 * A key of the workspace Demo, which is made if there is none; it expires by itself, and the one before it ends now.
 */
export async function createConsoleKey(databaseUrl: string): Promise<string> {
  const sql = connect(databaseUrl, { max: 1 });
  try {
    const found = (await listWorkspaces(sql)).find(({ name }) => name === WORKSPACE);
    const { id: workspaceId } = found ?? (await insertWorkspace(sql, { name: WORKSPACE, tier: 'pro' }));
    const actor = await findActingMember(sql, workspaceId, undefined);
    const owner = actor ?? (await upsertUser(sql, { email: 'owner@localhost' }));
    if (actor === null) await upsertMember(sql, { workspaceId, userId: owner.id, role: 'owner' });
    for (const key of await listApiKeys(sql, workspaceId))
      if (key.name === KEY_NAME && key.status === 'active') await revokeApiKey(sql, workspaceId, key.id);
    const { apiKey } = await createKey(sql, new Secrets(), {
      workspaceId,
      userId: owner.id,
      name: KEY_NAME,
      description: null,
      role: 'member',
      scopes: CONSOLE_SCOPES,
      expiresAt: new Date(Date.now() + CONSOLE_KEY_MS),
    });
    return apiKey;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Opens the console, and says so. The key is behind the #, which browsers keep to themselves. */
export async function openConsole(url: string, apiKey: string, isJson: boolean): Promise<void> {
  const address = `${url}/console/#key=${apiKey}`;
  const isOpened = await openBrowser(address);
  if (isJson) printJson({ event: 'console', url: address, opened: isOpened });
  else if (isOpened) printLine(`The console is open in your browser: ${url}/console/`);
  else printLine(`Open the console in a browser: ${address}`);
}

/** The command of the platform; the package `open` would bring six others for it. @returns whether it worked */
async function openBrowser(address: string): Promise<boolean> {
  if (!hasScreen()) return false;
  const commands: Partial<Record<NodeJS.Platform, readonly string[]>> = {
    darwin: ['open'],
    win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  };
  const [command, ...before] = commands[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...before, address], { stdio: 'ignore', detached: true });
  // xdg-open may last as long as the browser that it starts.
  const opened = Promise.race([
    once(child, 'exit').then(([code]) => code === 0),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(true), LONGEST_START_MS).unref()),
  ]);
  return opened.catch(() => false).finally(() => child.unref());
}

const LONGEST_START_MS = 3_000;
