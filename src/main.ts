// The command line: the list of commands. A command's module is loaded when it is called.
import { Command, CommanderError } from 'commander';
import { commandName } from './cli/invocation.ts';
import { endWithReader } from './cli/lifetime.ts';
import { reportFailure, UsageError } from './cli/output.ts';
import { checkRequiredOptionsLast } from './cli/requiredOptions.ts';

interface CommandModule {
  readonly register: (program: Command) => void;
}

const COMMANDS: readonly (readonly [name: string, summary: string, load: () => Promise<CommandModule>])[] = [
  ['serve', 'run the API and a worker on this machine', () => import('./cli/serve.ts')],
  ['api', 'run the API alone', () => import('./cli/api.ts')],
  ['worker', 'run a worker alone', () => import('./cli/worker.ts')],
  ['migrate', 'bring the database to the current schema', () => import('./cli/migrate.ts')],
  ['demo', 'show the whole system at work on real data', () => import('./cli/demo.ts')],
  ['workspace', 'create, update and list workspaces', () => import('./cli/workspace.ts')],
  ['member', 'add, change and remove members of a workspace', () => import('./cli/member.ts')],
  ['token', 'create an access token for the management API', () => import('./cli/token.ts')],
  ['keys', 'create, list and revoke API keys', () => import('./cli/keys.ts')],
  ['data', 'list, import, export and remove market data', () => import('./cli/data.ts')],
  ['prune', 'delete old backtests and unused market data', () => import('./cli/prune.ts')],
  ['validate', 'check a strategy file', () => import('./cli/validate.ts')],
  ['explain', 'print the plan of a strategy', () => import('./cli/explain.ts')],
  ['backtest', 'run a strategy file on bars', () => import('./cli/backtest.ts')],
  ['sweep', 'run many variants of a strategy file on bars', () => import('./cli/sweep.ts')],
  ['robustness', 'check how robust the backtest of a strategy file is', () => import('./cli/robustness.ts')],
  ['mcp', 'MCP server on standard input and output, for agents', () => import('./cli/mcp.ts')],
  ['indicator', 'compute an indicator on bars', () => import('./cli/indicator.ts')],
];

const program = new Command(commandName())
  .description(
    'Backtests of trading strategies written as JSON, with honest fills and results that explain themselves.',
  )
  .version('1.0.0')
  .exitOverride();
const isJson = process.argv.includes('--json');
if (isJson)
  program.configureOutput({
    outputError: (text) => void reportFailure(new UsageError(text.replace(/^error: /, '').trim()), true),
  });
else program.showHelpAfterError(`(${commandName()} <command> --help describes the options)`);

endWithReader();

// A child of a supervisor, of the demo or of scripts/node24.mjs ends when its parent does, even if that was killed.
if (process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}

// `help serve` needs the module of serve, as `serve --help` does.
const requested = process.argv[2] === 'help' ? process.argv[3] : process.argv[2];
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
try {
  await program.parseAsync();
} catch (error) {
  // Commander has already printed its message. Help and version arrive here too, with code 0.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else process.exitCode = reportFailure(error, isJson);
}
