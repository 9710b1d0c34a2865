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
 * The same for a command that needs the database, to be typed in any shell: without this DATA_DIR or DATABASE_URL, the
 * command would start a database of its own, which has none of the data. The URL holds a password and is not shown; a
 * shell in which it is not set says so.
 */
export function databaseCommandName(launch: Launch = readLaunch(), currentFolder: string = process.cwd()): string {
  const command = commandName(launch, currentFolder);
  if (process.platform === 'win32') return command;
  if (launch.hasDatabaseUrl) return `DATABASE_URL=\${DATABASE_URL:?} ${command}`;
  if (launch.dataDir === undefined) return command;
  return `DATA_DIR=${quoted(resolve(currentFolder, launch.dataDir))} ${command}`;
}

/** A text as one word of a POSIX shell. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** JSON as one word of the shell: in single quotes, which the command prompt of Windows does not know. */
export const quotedJson = (json: string, platform: NodeJS.Platform = process.platform): string =>
  platform === 'win32' ? `"${json.replaceAll('"', '\\"')}"` : `'${json}'`;

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
