// Internal errors: what the log says about a bug in the engine, and what the customer is told.
import type { RunError } from '../engine/index.ts';
import type { Log } from '../log.ts';

/**
 * Logs a bug with its stack and returns the error that the customer sees: no stack, no path of this machine. Any other
 * error is passed through.
 * @param what such as `sweep`
 * @param ids for the log
 */
export function maskInternalError(log: Log, what: string, ids: object, error: RunError): RunError {
  if (error.code !== 'INTERNAL_ERROR') return error;
  log.error({ ...ids, stack: error.message }, `a ${what} failed because of a bug in the engine`);
  return {
    code: error.code,
    path: '',
    message: `The ${what} failed because of an error in the service. It has been logged; report it with its id.`,
  };
}
