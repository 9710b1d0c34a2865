// The commands, by name, and how a call of one ends. A command's module is loaded when it is called. Required options
// are checked after unknown ones, so that `--stratgy x` is answered "did you mean --strategy", not "--strategy is
// missing", and `validate x.json` with the option that x.json belongs to.
import { Command, CommanderError, Help, type Option } from 'commander';
import { VERSION } from '../config.ts';
import { commandName } from './invocation.ts';
import { reportFailure, UsageError } from './output.ts';

interface CommandModule {
  readonly register: (program: Command) => void;
}

const COMMANDS: readonly (readonly [name: string, summary: string, load: () => Promise<CommandModule>])[] = [
  ['serve', 'run the API and a worker on this machine', () => import('./serve.ts')],
  ['api', 'run the API alone', () => import('./api.ts')],
  ['worker', 'run a worker alone', () => import('./worker.ts')],
  ['migrate', 'bring the database to the current schema', () => import('./migrate.ts')],
  ['demo', 'show the whole system at work on real data', () => import('./demo.ts')],
  ['workspace', 'create, update and list workspaces', () => import('./workspace.ts')],
  ['member', 'add, change and remove members of a workspace', () => import('./member.ts')],
  ['token', 'create an access token for the management API', () => import('./token.ts')],
  ['keys', 'create, list and revoke API keys', () => import('./keys.ts')],
  ['data', 'list, import, download, export and remove market data', () => import('./data.ts')],
  ['prune', 'delete old backtests and unused market data', () => import('./prune.ts')],
  ['validate', 'check a strategy file', () => import('./validate.ts')],
  ['explain', 'print the plan of a strategy', () => import('./explain.ts')],
  ['backtest', 'run a strategy file on bars', () => import('./backtest.ts')],
  ['compare', 'compare results that backtest --out has written', () => import('./compare.ts')],
  ['sweep', 'run many variants of a strategy file on bars', () => import('./sweep.ts')],
  ['robustness', 'check how robust the backtest of a strategy file is', () => import('./robustness.ts')],
  ['mcp', 'MCP server on standard input and output, for agents', () => import('./mcp.ts')],
  ['indicator', 'compute an indicator on bars', () => import('./indicator.ts')],
];

/** Runs the command that `args` name, to its end. Sets the exit code of the process unless it is 0. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const isJson = args.includes('--json');
  const program = new Command(commandName())
    .description(
      'Backtests of trading strategies written as JSON, with honest fills and results that explain themselves.',
    )
    .version(VERSION)
    .configureHelp({ minWidthToWrap: NARROWEST, formatItem })
    .exitOverride();
  if (isJson)
    program.configureOutput({
      outputError: (text) => void reportFailure(new UsageError(text.replace(/^error: /, '').trim()), true),
    });
  await registerCommands(program, args);
  if (!isJson) pointToHelp(program, commandName());
  try {
    await program.parseAsync(unknownFirst(args), { from: 'user' });
  } catch (error) {
    // Commander has already printed its message. Help and version arrive here too, with code 0.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else process.exitCode = reportFailure(error, isJson);
  }
}

/** Narrower text is hard to read; below this, commander breaks no lines. */
const NARROWEST = 20;
/** If the column of descriptions would be narrower, descriptions go below their options and use the whole width. */
const NARROW_COLUMN = 40;

function formatItem(this: Help, term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  const indent = '      ';
  if (description === '' || width - termWidth - 4 >= NARROW_COLUMN)
    return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
  const lines = helper.boxWrap(description, width - indent.length).split('\n');
  return [`  ${term}`, ...lines.map((line) => indent + line)].join('\n');
}

/** Registers the requested command with its options, and of the others only what help prints. */
async function registerCommands(program: Command, args: readonly string[]): Promise<void> {
  // `help serve` needs the module of serve, as `serve --help` does.
  const requested = args[0] === 'help' ? args[1] : args[0];
  for (const [name, summary, load] of COMMANDS) {
    if (name === requested) (await load()).register(program);
    else
      program
        .command(name)
        .description(summary)
        .allowUnknownOption()
        .action(() => {});
  }
  checkRequiredOptionsLast(program);
}

/** Lets the error of a wrong call name the help of the command that was called. */
function pointToHelp(command: Command, call: string): void {
  const describes = command.commands.length === 0 ? 'describes the options' : 'lists the commands';
  command.showHelpAfterError(`(${call} --help ${describes})`);
  for (const subcommand of command.commands) pointToHelp(subcommand, `${call} ${subcommand.name()}`);
}

/** Drops all but the name of an unknown command: commander would answer `backtset --help` with the list of commands. */
function unknownFirst(args: readonly string[]): readonly string[] {
  const name = args[0] === 'help' ? args[1] : args[0];
  const isKnown = name === undefined || name === 'help' || name.startsWith('-');
  return isKnown || COMMANDS.some(([command]) => command === name) ? args : [name];
}

/** Takes over from commander the check of every required option of the command and its subcommands. */
function checkRequiredOptionsLast(command: Command): void {
  for (const subcommand of command.commands) checkRequiredOptionsLast(subcommand);
  const required = command.options.filter((option) => option.mandatory);
  if (required.length === 0) return;
  for (const option of required) {
    option.mandatory = false;
    option.description += ' (required)';
  }
  // Commander rejects unknown options before any action, with a suggestion.
  command.allowExcessArguments();
  command.hook('preAction', () => {
    const missing = required.filter((option) => command.getOptionValue(option.attributeName()) === undefined);
    const bare = command.args.slice(command.registeredArguments.length);
    if (bare.length > 0) command.error(`error: ${bareMessage(bare, missing)}`, { code: 'commander.excessArguments' });
    if (missing.length > 0)
      command.error(`error: ${messageOf(missing)}`, { code: 'commander.missingMandatoryOptionValue' });
  });
}

const messageOf = (missing: readonly Option[]): string =>
  `${missing.map(({ flags }) => flags).join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required.`;

/** What to write for arguments without the options that they belong to. */
function bareMessage(bare: readonly string[], missing: readonly Option[]): string {
  const list = bare.map((word) => JSON.stringify(word)).join(' and ');
  const what = `${list} ${bare.length === 1 ? 'stands' : 'stand'} without an option`;
  if (bare.length > missing.length) return `${what}; remove ${bare.length === 1 ? 'it' : 'them'}, or name the option.`;
  const words = bare.map((word) => (/^[\w./:@-]+$/.test(word) ? word : JSON.stringify(word)));
  const written = missing.map(({ flags, long }, at) => (at in words ? `${long} ${words[at]}` : flags));
  return `${what}. Write ${written.join(' ')}.`;
}
