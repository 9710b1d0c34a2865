// Secrets: hashes them with argon2id, and remembers which secret matched which hash, so that argon2 runs once for each.
import { hash, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { problem } from '../problems.ts';

/** OWASP's smallest recommended argon2id: 19 MiB, 2 passes, 1 lane. About 19 ms. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** A run takes a core for 19 ms; one core is left for requests whose secret is already known. */
const MAX_RUNS = Math.max(1, availableParallelism() - 1);
/** 512 waiting runs are ten seconds of one core: a client that comes later would have given up by then. */
const MAX_WAITING = 512;
/** How long a match is believed. Revocation does not wait for it: the key's row is read on every request. */
const REMEMBER_MS = 10 * 60_000;
/** A remembered match is about 200 bytes; the oldest makes room. */
const MAX_REMEMBERED = 50_000;

/**
 * Loaded when a secret is first hashed or verified. A thread that is ended while this addon works ends its whole
 * process ("terminate called after throwing an instance of 'Napi::Error'"), and the thread of heavy requests, which is
 * told who asks, needs it only to make keys.
 */
const loadArgon2 = async () => (await import('argon2')).default;

export interface Secrets {
  /** @returns the argon2id hash to store. */
  hash(secret: string): Promise<string>;
  /** Whether the secret is known to match, without running argon2: undefined means it has to be verified. */
  isRemembered(keyId: string, secret: string, secretHash: string): boolean;
  /** Whether the secret matches; runs argon2 once for all who ask for the same at the same time. */
  verify(keyId: string, secret: string, secretHash: string): Promise<boolean>;
  /** Whether such a verification is under way, so that joining it costs nothing. */
  isVerifying(keyId: string, secret: string, secretHash: string): boolean;
  /** Takes a match as known: the process that made a key has seen its secret. */
  remember(keyId: string, secret: string, secretHash: string): void;
  /** How many times argon2 has run to verify, for tests and metrics. */
  readonly verifications: number;
}

/** What is remembered is a digest under a key that only this process has: a memory dump gives no secret away. */
export function createSecrets(now: () => number = Date.now): Secrets {
  const processKey = randomBytes(32).toString('base64');
  const remembered = new Map<string, { readonly digest: string; readonly until: number }>();
  const running = new Map<string, Promise<boolean>>();
  const limit = pLimit(MAX_RUNS);
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (limit.pendingCount >= MAX_WAITING) {
      throw problem('UNAVAILABLE', { message: 'Too many API keys are being verified; try again in a moment.' });
    }
    return limit(work);
  };
  let verifications = 0;

  // SHA-512/256 cannot be extended, so a key in front makes it a MAC, in one call; createHmac takes three times as
  // long.
  const digestOf = (secret: string, secretHash: string): string =>
    hash('sha512-256', `${processKey} ${secretHash} ${secret}`, 'base64');
  const remember = (keyId: string, digest: string): void => {
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? '');
    remembered.set(keyId, { digest, until: now() + REMEMBER_MS });
  };
  const run = async (keyId: string, digest: string, secret: string, secretHash: string): Promise<boolean> => {
    const isMatch = await inTurn(async () => {
      verifications++;
      return (await loadArgon2()).verify(secretHash, secret);
    });
    if (isMatch) remember(keyId, digest);
    return isMatch;
  };

  return {
    hash: async (secret) =>
      inTurn(async () => {
        const argon2 = await loadArgon2();
        return argon2.hash(secret, { type: argon2.argon2id, ...COST });
      }),
    isRemembered: (keyId, secret, secretHash) => {
      const known = remembered.get(keyId);
      if (known === undefined) return false;
      if (known.until <= now()) {
        remembered.delete(keyId);
        return false;
      }
      // Digests under a secret key: how far two of them agree tells an observer nothing about the secret.
      return known.digest === digestOf(secret, secretHash);
    },
    isVerifying: (_keyId, secret, secretHash) => running.has(digestOf(secret, secretHash)),
    verify: async (keyId, secret, secretHash) => {
      const digest = digestOf(secret, secretHash);
      const already = running.get(digest);
      if (already !== undefined) return already;
      const mine = run(keyId, digest, secret, secretHash).finally(() => running.delete(digest));
      running.set(digest, mine);
      return mine;
    },
    remember: (keyId, secret, secretHash) => remember(keyId, digestOf(secret, secretHash)),
    get verifications() {
      return verifications;
    },
  };
}
