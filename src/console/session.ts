// The session: the key of this tab, the workspace that it opens, and what it may do there.
import { computed, signal } from '@preact/signals';

interface WorkspaceContext {
  readonly workspace: { readonly id: string; readonly name: string };
  readonly apiKey: {
    readonly name: string;
    readonly role: 'viewer' | 'member';
    readonly scopes: readonly string[];
    readonly expiresAt: string | null;
  };
  readonly subscription: {
    readonly tier: string;
    readonly limits: Readonly<Record<string, number>>;
    readonly usage: Readonly<Record<string, number>>;
  };
}

/** Of the tab alone: another tab, and the next start of the browser, ask for the key again. */
const STORED_AS = 'candlepool.key';

export const key = signal<string | null>(sessionStorage.getItem(STORED_AS));
export const context = signal<WorkspaceContext | null>(null);
/** Why the key has to be entered again. */
export const farewell = signal<string | null>(null);
/** Whether the service answered last time. */
export const isReachable = signal(true);
/** The last thing that the console did or could not do, in a sentence; read out by screen readers. */
export const message = signal<{ readonly text: string; readonly isFault: boolean } | null>(null);

export const say = (text: string): void => void (message.value = { text, isFault: false });
export const complain = (text: string): void => void (message.value = { text, isFault: true });

export function signIn(given: string, found: WorkspaceContext): void {
  sessionStorage.setItem(STORED_AS, given);
  key.value = given;
  context.value = found;
  farewell.value = null;
}

export function signOut(reason: string | null): void {
  sessionStorage.removeItem(STORED_AS);
  key.value = null;
  context.value = null;
  message.value = null;
  farewell.value = reason;
}

/**
 * The key that another program hands over in the address, behind `#key=`. It leaves the address at once, so that it is
 * neither bookmarked nor shown; a fragment is never sent to the service.
 */
export function takeKeyFromAddress(): string | null {
  const [, given] = /^#key=([\w-]+)$/.exec(location.hash) ?? [];
  if (given === undefined) return null;
  history.replaceState(null, '', location.pathname + location.search);
  // The browser tells nobody of this change, and the route has read the key as the name of a view.
  dispatchEvent(new Event('hashchange'));
  return given;
}

const held = computed(() => {
  const { role = 'viewer', scopes = [] } = context.value?.apiKey ?? {};
  return new Set(scopes.filter((scope) => role === 'member' || !scope.endsWith('_write')));
});

/** Whether the key may use what needs this scope. A viewer's key cannot write, whatever its scopes are. */
export const may = (scope: string): boolean => held.value.has(scope);
