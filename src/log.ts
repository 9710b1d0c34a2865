// The log: one pino logger, JSON lines on stderr, so that stdout carries only a command's answer.
import { destination, pino } from 'pino';
import type { Logger } from 'pino';
import type { Config } from './config.ts';

export type Log = Logger;

/** Headers and members that would let a log reader act as the caller. */
const SECRETS = ['req.headers.authorization', 'req.headers["x-api-key"]', 'apiKey', 'token', 'secret'];

/** A logger at the configured level; secrets are replaced by [Redacted]. */
export function createLog(config: Pick<Config, 'logLevel'>): Log {
  return pino({ level: config.logLevel, redact: SECRETS }, destination({ fd: 2, sync: true }));
}
