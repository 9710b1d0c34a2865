// Secrets: hashes them with argon2id, and remembers which secret matched which hash, so that argon2 runs once for each.
import { hash, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { problem } from '../problems.ts';

/** OWASP's smallest recommended argon2id: 19 MiB, 2 passes, 1 lane. About 19 ms. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Runs of argon2 at a time. One takes a core for 19 ms; one core is left for requests whose secret is known. */
const MAX_RUNS = Math.max(1, availableParallelism() - 1);
/** 512 waiting runs are ten seconds of one core: a client that comes later would have given up by then. */
const MAX_WAITING = 512;
/** How long a match is believed. Revocation does not wait for it: the key's row is read on every request. */
const REMEMBER_MS = 10 * 60_000;
/** A remembered match is about 200 bytes; the oldest makes room. */
const MAX_REMEMBERED = 50_000;

/**
 * Loaded when a secret is first hashed or verified. Terminating a thread while this addon works ends the whole process
 * ("terminate called after throwing an instance of 'Napi::Error'"), and the thread of heavy requests, whose callers are
 * authenticated elsewhere, needs it only to make keys.
 */
const loadArgon2 = async () => (await import('argon2')).default;

/** What is remembered is a digest under a key that only this process has: a memory dump gives no secret away. */
export class Secrets {
  readonly #now: () => number;
  readonly #processKey = randomBytes(32).toString('base64');
  /** What each key, by its id, was last verified with. */
  readonly #remembered = new Map<string, { readonly digest: string; readonly until: number }>();
  /** Verifications under way, by digest. */
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #limit = pLimit(MAX_RUNS);
  #verifications = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** How many times argon2 has run to verify, for tests and metrics. */
  get verifications(): number {
    return this.#verifications;
  }

  /** @returns the argon2id hash to store. */
  async hash(secret: string): Promise<string> {
    return this.#inTurn(async () => {
      const argon2 = await loadArgon2();
      return argon2.hash(secret, { type: argon2.argon2id, ...COST });
    });
  }

  /** Whether the secret is known to match, without running argon2; if not, it has to be verified. */
  isRemembered(keyId: string, secret: string, secretHash: string): boolean {
    const known = this.#remembered.get(keyId);
    if (known === undefined) return false;
    if (known.until <= this.#now()) {
      this.#remembered.delete(keyId);
      return false;
    }
    // Digests under a secret key: how far two of them agree tells an observer nothing about the secret.
    return known.digest === this.#digestOf(secret, secretHash);
  }

  /** Whether the secret is being verified against this hash already, so that asking again runs no argon2. */
  isVerifying(secret: string, secretHash: string): boolean {
    return this.#running.has(this.#digestOf(secret, secretHash));
  }

  /**
   * Whether the secret matches; runs argon2 once for all who ask for the same at the same time.
   * @throws UNAVAILABLE when too many wait
   */
  async verify(keyId: string, secret: string, secretHash: string): Promise<boolean> {
    const digest = this.#digestOf(secret, secretHash);
    const running = this.#running.get(digest);
    if (running !== undefined) return running;
    const started = this.#run(keyId, digest, secret, secretHash).finally(() => this.#running.delete(digest));
    this.#running.set(digest, started);
    return started;
  }

  /** Takes a match as known: the process that made a key has seen its secret. */
  remember(keyId: string, secret: string, secretHash: string): void {
    this.#remember(keyId, this.#digestOf(secret, secretHash));
  }

  async #run(keyId: string, digest: string, secret: string, secretHash: string): Promise<boolean> {
    const isMatch = await this.#inTurn(async () => {
      this.#verifications++;
      return (await loadArgon2()).verify(secretHash, secret);
    });
    if (isMatch) this.#remember(keyId, digest);
    return isMatch;
  }

  #remember(keyId: string, digest: string): void {
    if (!this.#remembered.has(keyId) && this.#remembered.size >= MAX_REMEMBERED)
      this.#remembered.delete(this.#remembered.keys().next().value ?? '');
    this.#remembered.set(keyId, { digest, until: this.#now() + REMEMBER_MS });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#limit.pendingCount >= MAX_WAITING) {
      throw problem('UNAVAILABLE', { message: 'Too many API keys are being verified; try again in a moment.' });
    }
    return this.#limit(work);
  }

  /**
   * SHA-512/256 cannot be extended, so a key in front makes it a MAC, in one call; createHmac takes three times as
   * long.
   */
  #digestOf(secret: string, secretHash: string): string {
    return hash('sha512-256', `${this.#processKey} ${secretHash} ${secret}`, 'base64');
  }
}
