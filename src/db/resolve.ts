// Which database a command works on: the operator's own, or the embedded one.
import type { Config } from '../config.ts';
import { startEmbedded, type EmbeddedOptions } from './embedded.ts';

type ResolvedDatabase = AsyncDisposable & {
  readonly url: string;
  readonly isEmbedded: boolean;
};

/**
 * DATABASE_URL if it is set, else the embedded Postgres under DATA_DIR, started or adopted. Disposing stops the
 * embedded one when nobody else uses it.
 * @throws EmbeddedDatabaseError
 */
export async function resolveDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  options: Pick<EmbeddedOptions, 'log' | 'signal'> = {},
): Promise<ResolvedDatabase> {
  if (config.databaseUrl !== undefined) {
    return { url: config.databaseUrl, isEmbedded: false, [Symbol.asyncDispose]: async () => {} };
  }
  const server = await startEmbedded(config.dataDir, options);
  return { url: server.url, isEmbedded: true, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
