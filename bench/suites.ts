// The suites of benches, by the names of their files.

/** Of one process and one thread, from the smallest part to the whole. */
export const ENGINE_SUITES = [
  'indicators',
  'patterns',
  'conditions',
  'compile',
  'evaluate',
  'fills',
  'inside',
  'report',
  'encode',
  'whole',
  'scaling',
  'sweep',
] as const;

/** Of one process. */
export const PROCESS_SUITES = [...ENGINE_SUITES, 'pool'] as const;

export const SUITES = [...PROCESS_SUITES, 'http', 'queue'] as const;
