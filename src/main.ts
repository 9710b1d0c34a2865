// The process of a command: it ends with its reader and with its parent.
import './cli/ownModules.ts';
import { endWhenReaderStops } from './cli/lifetime.ts';
import { runProgram } from './cli/program.ts';

endWhenReaderStops();

// A child of a supervisor, of the demo or of scripts/node24.mjs ends when its parent does, even if that was killed.
if (process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}

await runProgram(process.argv.slice(2));
