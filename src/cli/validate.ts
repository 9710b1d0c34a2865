// candlepool validate: lists every issue of a strategy file, without a server or a database.
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { checkStrategy, type CheckOutcome, type ValidationIssue } from '../engine/index.ts';
import { counted } from '../market/formatting.ts';
import { printJson, printLine, printTable, withJson } from './output.ts';
import { readPayloads, withStrategyOptions, type StrategyOptions } from './strategyFile.ts';

interface Options extends StrategyOptions {
  readonly json?: boolean;
}

export function register(program: Command): void {
  const command = program
    .command('validate')
    .description('check a strategy file: exit code 0 when it is valid, 1 when it is not or cannot be read');
  withJson(withStrategyOptions(command)).action(validate);
}

async function validate(options: Options): Promise<void> {
  const outcome = checkStrategy(await readPayloads(options));
  if (!outcome.valid) process.exitCode = 1;
  if (options.json) printJson(outcome);
  else printOutcome(outcome);
}

function printOutcome({ valid, summary, issues, issueCount, analysis }: CheckOutcome): void {
  if (process.stdout.isTTY) for (const issue of issues) printLine(issueLines(issue));
  else
    printTable<ValidationIssue>(
      [
        { title: 'severity', value: ({ severity }) => severity },
        { title: 'code', value: ({ code }) => code },
        { title: 'path', value: ({ path }) => path },
        { title: 'message', value: ({ message }) => message },
        { title: 'suggestion', value: ({ suggestion }) => suggestion ?? '' },
      ],
      issues,
    );
  if (issueCount > issues.length) printLine(`… and ${issueCount - issues.length} more`);
  const counts = `${counted(summary.errors, 'error')}, ${counted(summary.warnings, 'warning')}`;
  const size = `${counted(analysis.nodeCount, 'node')}, ${counted(analysis.conditionCount, 'condition')}`;
  const lookback = analysis.inferredLookback === null ? '' : `, lookback ${counted(analysis.inferredLookback, 'bar')}`;
  printLine(`${valid ? 'valid' : 'not valid'}: ${counts} (${size}${lookback})`);
}

/** An issue on a terminal, whose lines are too short for a table of paths and sentences. */
export const issueLines = ({ severity, code, path, message, suggestion }: ValidationIssue): string =>
  `${styleText('bold', `${severity} ${code}`)} at ${path}\n  ${message}${suggestion ? ` ${suggestion}` : ''}`;
