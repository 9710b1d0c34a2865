// Required options, checked after unknown ones, so that `--stratgy x` is answered "did you mean --strategy", not
// "--strategy is missing".
import type { Command, Option } from 'commander';

/** Takes over from commander the check of every required option of the command and its subcommands. */
export function checkRequiredOptionsLast(command: Command): void {
  for (const subcommand of command.commands) checkRequiredOptionsLast(subcommand);
  const required = command.options.filter((option) => option.mandatory);
  if (required.length === 0) return;
  for (const option of required) {
    option.mandatory = false;
    option.description += ' (required)';
  }
  // Commander rejects unknown options before any action, with a suggestion.
  command.hook('preAction', () => {
    const missing = required.filter((option) => command.getOptionValue(option.attributeName()) === undefined);
    if (missing.length > 0)
      command.error(`error: ${messageOf(missing)}`, { code: 'commander.missingMandatoryOptionValue' });
  });
}

const messageOf = (missing: readonly Option[]): string =>
  `${missing.map(({ flags }) => flags).join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required.`;
