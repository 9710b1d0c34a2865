// The command line: names the commands, nothing more. A command's module is loaded when it is called.
import { Command, CommanderError } from 'commander';
import { reportFailure, UsageError } from './cli/output.ts';

type CommandModule = { readonly register: (program: Command) => void };

const COMMANDS: readonly (readonly [name: string, summary: string, load: () => Promise<CommandModule>])[] = [
  ['serve', 'API and worker on this machine', () => import('./cli/serve.ts')],
  ['api', 'the API alone', () => import('./cli/api.ts')],
  ['worker', 'a worker alone', () => import('./cli/worker.ts')],
  ['migrate', 'bring the database to the current schema', () => import('./cli/migrate.ts')],
  ['demo', 'the whole system at work, on real data', () => import('./cli/demo.ts')],
  ['workspace', 'create, update and list workspaces', () => import('./cli/workspace.ts')],
  ['member', 'who belongs to a workspace', () => import('./cli/member.ts')],
  ['token', 'an access token for the management API', () => import('./cli/token.ts')],
  ['keys', 'create, list and revoke API keys', () => import('./cli/keys.ts')],
  ['data', 'list, import and synthesise market data', () => import('./cli/data.ts')],
  ['validate', 'check a strategy file', () => import('./cli/validate.ts')],
  ['explain', 'print the plan of a strategy', () => import('./cli/explain.ts')],
  ['backtest', 'run a strategy file on bars', () => import('./cli/backtest.ts')],
  ['indicator', 'compute an indicator on bars', () => import('./cli/indicator.ts')],
];

const program = new Command('candlepool')
  .description('Backtests of trading strategies written as JSON: honest fills, results that explain themselves.')
  .version('1.0.0')
  .exitOverride();
const isJson = process.argv.includes('--json');
if (isJson)
  program.configureOutput({
    outputError: (text) => void reportFailure(new UsageError(text.replace(/^error: /, '').trim()), true),
  });
else program.showHelpAfterError('(candlepool <command> --help says more)');

// A reader that has seen enough (head, a closed pager) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// A supervised child ends when its supervisor does, even if that was killed.
if (process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}

// `help serve` needs the module of serve as `serve --help` does.
const asked = process.argv[2] === 'help' ? process.argv[3] : process.argv[2];
for (const [name, summary, load] of COMMANDS) {
  if (name === asked) (await load()).register(program);
  else
    program
      .command(name)
      .description(summary)
      .allowUnknownOption()
      .action(() => {});
}
try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed its message already; help and version come here too, with code 0.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else process.exitCode = reportFailure(error, isJson);
}
