// How this program is called here, so that the reader can type a hint as printed.
import { realpathSync } from 'node:fs';
import { delimiter, join, relative, resolve, sep } from 'node:path';
import { readLaunch, ROOT, type Launch } from '../config.ts';

const COMMAND = join(ROOT, 'bin', 'candlepool');

/** `candlepool` where the shell finds it, `npx candlepool` under npx, else the path to it from the current folder. */
export function commandName(launch: Launch = readLaunch(), currentFolder: string = process.cwd()): string {
  if (launch.npmCommand === 'exec') return 'npx candlepool';
  if (launch.searchPath.split(delimiter).some((folder) => isOurs(join(folder, 'candlepool')))) return 'candlepool';
  const path = relative(currentFolder, COMMAND);
  // The shell would look up a name without a folder in PATH.
  const shown = path.startsWith('..') ? COMMAND : path.includes(sep) ? path : `.${sep}${path}`;
  return process.platform === 'win32' ? `node ${shown}` : shown;
}

/**
 * The name of a command that needs the database, with DATA_DIR in front where it is set: typed in a shell without it,
 * the command would start another, empty database.
 */
export function databaseCommandName(launch: Launch = readLaunch(), currentFolder: string = process.cwd()): string {
  const command = commandName(launch, currentFolder);
  if (launch.dataDir === undefined || process.platform === 'win32') return command;
  return `DATA_DIR=${quoted(resolve(currentFolder, launch.dataDir))} ${command}`;
}

/** A text as one word of a POSIX shell. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The command that starts the server, as it was typed if npm started this program. */
export const serveCommand = (launch: Launch = readLaunch()): string =>
  launch.npmScript === undefined ? `${commandName(launch)} serve` : 'npm start';

/** The command that starts a subcommand that listens, `serve` or `api`, with further options. */
export const serveCommandWith = (options: string, subcommand = 'serve', launch: Launch = readLaunch()): string =>
  launch.npmScript === undefined ? `${commandName(launch)} ${subcommand} ${options}` : `npm start -- ${options}`;

function isOurs(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(COMMAND);
  } catch {
    return false;
  }
}
