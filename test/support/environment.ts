// The environment of a process that a test starts: what any program needs, and nothing a developer may have set.
import { isLong } from './scale.ts';

/** In CI no test is left out because a tool is not installed. */
export const isCi = process.env.CI === 'true';

const NEEDED =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TEMP|TMP|LANG|SystemRoot|NODE_COMPILE_CACHE|https?_proxy|no_proxy|npm_config_\w+)$/i;

/**
 * `more` over the variables that programs need to run on this machine. Workers warm up in long runs only: it takes
 * seconds of each core.
 */
export const cleanEnvironment = (more: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const needed = Object.entries(process.env).filter(([name, value]) => NEEDED.test(name) && value !== undefined);
  return { ...(Object.fromEntries(needed) as Record<string, string>), WARM_UP: isLong ? 'on' : 'off', ...more };
};
