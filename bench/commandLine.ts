// The command line of the benches.
import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Options and positionals as of `parseArgs`. --help ends the process with the usage, an unknown option with its first
 * line.
 *
 * @param usage the command in a line, and what --help says below it
 */
export function commandLine<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.some((each) => each === '--help' || each === '-h')) {
    console.log(`Usage: ${usage}`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    // Node adds how a positional that looks like an option could be given, which none of ours does.
    return refuse(usage, `${(error as Error).message.split(/\. |\n/, 1)[0].replace(/\.$/, '')}.`);
  }
}

/** Ends the process: what is wrong with its command line, and how it is used. */
export function refuse(usage: string, message: string): never {
  console.error(`${message}\nUsage: ${usage.split('\n', 1)[0]}`);
  process.exit(2);
}

/** The number above 0 that an option was given as. */
export function positive(usage: string, option: string, text: string): number {
  const number = Number(text);
  return number > 0 && number < Infinity ? number : refuse(usage, `--${option} takes a number above 0, not "${text}".`);
}

/** The whole number above 0 that an option was given as. */
export function count(usage: string, option: string, text: string): number {
  const isCount = /^\d+$/.test(text) && Number(text) > 0;
  return isCount ? Number(text) : refuse(usage, `--${option} takes a whole number above 0, not "${text}".`);
}

/**
 * Whether a name contains `text`, in upper or lower case. A number that it begins or ends with is a whole one: 10000
 * is not in 1000000.
 */
export function containing(text: string): (name: string) => boolean {
  const begin = /^\d/.test(text) ? String.raw`(?<!\d)` : '';
  const end = /\d$/.test(text) ? String.raw`(?!\d)` : '';
  const pattern = new RegExp(begin + text.replaceAll(/[^\w ]/g, String.raw`\$&`) + end, 'i');
  return (name) => pattern.test(name);
}

/** Refuses a text that the names of no task contain, and says which tasks there are. */
export const refuseTask = (usage: string, text: string, names: readonly string[]): never =>
  refuse(usage, `No task's name contains "${text}". There are:\n  ${names.join('\n  ')}`);

/** Refuses arguments that nothing reads. */
export function refuseMore(usage: string, [first]: readonly string[]): void {
  if (first !== undefined) refuse(usage, `Unexpected argument '${first}'.`);
}

/** Refuses names that are none of `known`. */
export function refuseUnknown(usage: string, what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name)).map((name) => `"${name}"`);
  if (unknown.length > 0) refuse(usage, `There is no ${what} ${unknown.join(', ')}. There are ${known.join(', ')}.`);
}

/** Refuses a system without /proc, from which processor times and the peak of memory are read. */
export function refuseOtherSystems(usage: string): void {
  if (process.platform !== 'linux') refuse(usage, `It reads /proc, which only Linux has: this is ${process.platform}.`);
}
