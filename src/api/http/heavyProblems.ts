// What a heavy request is told that gets no answer of the thread, and the limits that refuse it.
import { problem } from './problems.ts';

/**
 * How many requests of all workspaces may wait; a workspace has at most those it may have in flight
 * (requestsInFlight.ts). Beyond this, each workspace may still have one, so that others cannot keep it out.
 */
export const MAX_WAITING = 256;
/** How long a workspace waits whose request has stopped the thread: it must not be able to do so again and again. */
export const REFUSED_FOR_MS = 60_000;

export const stopping = () =>
  problem('UNAVAILABLE', { message: 'The process is stopping. Send the same request again in a moment.' });

export const nobodyWaits = () => problem('UNAVAILABLE', { message: 'The client has gone.' });

export const perhapsStored = () =>
  problem('UNAVAILABLE', {
    message:
      'The answer was lost, and the request may have stored something. List what the workspace has before sending it ' +
      'again.',
  });

/** @param limitSeconds how long a thread may be silent */
export const stoppedRequest = (isCommitting: boolean, limitSeconds: number) =>
  problem('REQUEST_STOPPED', {
    message:
      `The request was stopped: it had been computed for more than ${limitSeconds} s. ` +
      (isCommitting ? 'It may have stored something: list what the workspace has. ' : 'Nothing was stored. ') +
      'Send a smaller or simpler one; if it was small, report the requestId.',
    retryAfterSeconds: REFUSED_FOR_MS / 1_000,
  });

export const stillRefused = (seconds: number) =>
  problem('RATE_LIMITED', {
    message:
      'A request of the workspace was stopped because computing its answer took too long. Its large requests are ' +
      `refused for ${seconds} s more.`,
    retryAfterSeconds: seconds,
  });

export const tooManyWaiting = () =>
  problem('RATE_LIMITED', {
    message: 'Too many large requests are waiting, one of this workspace among them. Wait for its answer first.',
    extras: { limit: MAX_WAITING },
    retryAfterSeconds: 1,
  });
