// Required options, checked after unknown ones, so that `--stratgy x` is answered "did you mean --strategy", not
// "--strategy is missing", and `validate x.json` with the option that x.json belongs to.
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
