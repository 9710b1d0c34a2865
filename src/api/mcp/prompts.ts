// Prompts: what a user of a host can choose in place of explaining the way to an agent.
import {
  ProtocolError,
  ProtocolErrorCode,
  type GetPromptResult,
  type ListPromptsResult,
} from '@modelcontextprotocol/server';

interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The one argument that the text is about. */
  readonly argument: { readonly name: string; readonly description: string };
  readonly text: (value: string) => string;
}

const PROMPTS: readonly Prompt[] = [
  {
    name: 'research_idea',
    title: 'Research an idea',
    description: 'From an idea in words to a backtest that is checked and explained.',
    argument: { name: 'idea', description: 'The idea, in your own words.' },
    text: (idea) =>
      `Research this trading idea: ${idea}\n\n` +
      '1. Read get_capabilities. Say which rules the idea leaves open, and what you choose.\n' +
      '2. Write the strategy, validate_strategy until it is valid, create_strategy, finalize_strategy_version.\n' +
      '3. run_backtest with realistic fees and slippage, on a symbol of list_market_data. Leave the last third of ' +
      'the range unused.\n' +
      '4. Read diagnosis, funnel and rules before the headline. Repair rules that never fire or always do.\n' +
      '5. check_robustness of the result, then one run on the unused third.\n' +
      '6. Report the rules, the numbers beside buy and hold, what speaks against the result, and the ids.',
  },
  {
    name: 'why_no_trades',
    title: 'Why are there no trades?',
    description: 'Finds the condition, or the order, that kept a backtest from trading.',
    argument: { name: 'backtestId', description: 'Id of the backtest.' },
    text: (id) =>
      `Find out why backtest ${id} has no trades, or few.\n\n` +
      '1. get_backtest: read diagnosis, then funnel: after which step does the count fall to nothing?\n' +
      '2. Signals but no fills: read rejected orders in diagnosis (money, slots, limits that expire).\n' +
      '3. No signals: in rules, find the condition that is rarely true or mostly unknown, and its near misses; ' +
      'compare its threshold with the values there. Unknown is a missing value: warm-up, a gap, another timeframe.\n' +
      '4. Change one thing, validate, finalize a new version, run it, and show both funnels side by side.',
  },
  {
    name: 'is_it_luck',
    title: 'Is it luck?',
    description: 'Asks whether the result of a backtest would survive other data, costs and numbers.',
    argument: { name: 'backtestId', description: 'Id of the completed backtest.' },
    text: (id) =>
      `Find out whether the result of backtest ${id} is luck.\n\n` +
      '1. get_backtest: how many positions are there, and how much of the profit comes from the best few? Compare ' +
      'with buy and hold.\n' +
      '2. check_robustness, with `trials` as the number of variants that you tried before; get_robustness until it ' +
      'is completed. Read verdict and findings first.\n' +
      '3. run_sweep around its numbers: is it a plateau or a peak? Read the verdict on over-fitting and, with ' +
      'walkForward, the result out of sample.\n' +
      '4. Answer "luck", "undecided" or "not likely luck", with the three numbers that decided.',
  },
];

/** The list is made once: it depends on nothing. */
export const PROMPT_LIST: ListPromptsResult = {
  prompts: PROMPTS.map(({ name, title, description, argument }) => ({
    name,
    title,
    description,
    arguments: [{ ...argument, required: true }],
  })),
};

/** The longest argument that a prompt repeats. */
const MAX_ARGUMENT = 4_000;

export function promptOf(name: string, given: Readonly<Record<string, string>>): GetPromptResult {
  const prompt = PROMPTS.find((each) => each.name === name);
  const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  if (prompt === undefined)
    throw invalid(`There is no such prompt. The prompts are ${PROMPTS.map((each) => each.name).join(', ')}.`);
  const { argument, description, text } = prompt;
  const value = Object.hasOwn(given, argument.name) ? given[argument.name] : undefined;
  if (value === undefined || value.trim() === '')
    throw invalid(`Prompt ${name} needs the argument "${argument.name}".`);
  if (value.length > MAX_ARGUMENT)
    throw invalid(`"${argument.name}" has ${value.length} characters, more than ${MAX_ARGUMENT}.`);
  return { description, messages: [{ role: 'user', content: { type: 'text', text: text(value) } }] };
}
