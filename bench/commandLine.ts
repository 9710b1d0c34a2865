// The command line of the benches.
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Options and positionals as of `parseArgs`. An unknown option, --help among them, ends the process with the usage. */
export function commandLine<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Node adds how a positional that looks like an option could be given, which none of ours does.
    console.error(`${(error as Error).message.split('. ', 1)[0]}.\nUsage: ${usage}`);
    process.exit(2);
  }
}
