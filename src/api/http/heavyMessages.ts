// What the queue of heavy requests and its thread say to each other.
import type { Config } from '../../config.ts';
import type { Membership } from '../../db/members.ts';
import type { Caller } from './auth/keyCheck.ts';

/** The `workerData` of the thread. */
export interface HeavyThreadData {
  readonly config: Config;
  readonly databaseUrl: string;
  /** It is closed before the thread is ended (engine/pool/nativeCalls.ts). */
  readonly gate: Int32Array;
}
/** A request as it is sent to the thread. Credentials stay here: the thread is told who the caller is. */
export interface NewHeavyRequest {
  readonly method: string;
  /** The pattern of the path, for the log. */
  readonly route: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: Caller | null;
  readonly member: Membership | null;
  readonly body: Uint8Array;
  /** Whether it may compute for many seconds. */
  readonly isLong?: boolean;
}
export interface HeavyRequest extends NewHeavyRequest {
  readonly id: number;
  /** One number in shared memory: not 0 once nobody waits for the answer. */
  readonly stop: Int32Array;
}
export interface HeavyAnswer {
  readonly id: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
export type ToThread = HeavyRequest | 'ping' | 'close';
/** `committing`: from now on, what the request stores may be in the database. */
export type FromThread = HeavyAnswer | { readonly committing: number } | 'ready' | 'pong';
