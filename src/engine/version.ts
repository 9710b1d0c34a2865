// The version of the engine's rules: it enters every runKey, so that results of other rules are never taken for these.

/** Raised whenever the same inputs may give another result. */
export const ENGINE_VERSION = '1.6.0';
