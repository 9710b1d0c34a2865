// Instants at which the instruments of a rotation gave different answers to questions that the account asks once:
// whether to rebalance, and how much of equity to invest (semantics §8.9, §8.10).
import type { AllocationRule, ValueSource } from '../../evaluate/tradingRules.ts';
import { hasBit } from '../../kernels/bits.ts';
import { ASK_ONE, readsOwnPrices } from '../../language/check/ownPrices.ts';
import { sentPlaces } from '../../language/canonical/sentPlaces.ts';
import { IssueLog, type ValidationIssue } from '../../language/issues/issues.ts';
import type { BacktestTask } from '../../task.ts';
import type { PortfolioRun } from '../reportInput.ts';

type Sent = Pick<BacktestTask, 'strategyAst' | 'signalGraph'>;

/** One warning for each question whose answers differed; only expressions over prices are looked at. */
export function disagreements({ strategyAst, signalGraph }: Sent, portfolio: PortfolioRun): ValidationIssue[] {
  const { allocation } = strategyAst.strategy;
  if (allocation === undefined) return [];
  const { when, weights } = allocation;
  const gross = weights?.grossPercent;
  const isWhenOwn = readsOwnPrices(when);
  const isGrossOwn = typeof gross === 'object' && 'kind' in gross && readsOwnPrices(gross);
  if (!isWhenOwn && !isGrossOwn) return [];
  const found = counted(portfolio);
  const places = sentPlaces(strategyAst, signalGraph);
  const log = new IssueLog();
  const warn = (asked: object, message: string): void =>
    log.add('INSTRUMENTS_MAY_DISAGREE', places.get(asked)!, { message, suggestion: ASK_ONE });
  const due = `of the ${found.due} instants at which a rebalance was due`;
  if (isWhenOwn && found.when > 0)
    warn(when, `At ${found.when} ${due}, when was true for some instruments and not for others; one was enough.`);
  if (isGrossOwn && found.gross > 0)
    warn(gross, `At ${found.gross} ${due}, grossPercent differed between instruments; the first by symbol counted.`);
  return [...log.list()];
}

/** Instants at which a rebalance was due, and those of them at which the answers differed. */
function counted({ instruments, axis }: PortfolioRun): { due: number; when: number; gross: number } {
  const asked = new Int32Array(axis.time.length);
  const agreeing = new Int32Array(axis.time.length);
  instruments.forEach(({ boundRules, input }, index) => {
    const { when } = ruleOf(boundRules.allocation);
    for (let row = input.start; row < input.end; row++) {
      const instant = axis.instants[index][row];
      asked[instant]++;
      if (hasBit(when, row)) agreeing[instant]++;
    }
  });
  const first = new Float64Array(axis.time.length).fill(NaN);
  const isApart = new Uint8Array(axis.time.length);
  instruments.forEach(({ boundRules, input }, index) => {
    const { gross } = ruleOf(boundRules.allocation);
    for (let row = input.start; row < input.end; row++) {
      const instant = axis.instants[index][row];
      const value = agreeing[instant] === 0 ? NaN : valueOf(gross, row);
      if (Number.isNaN(value)) continue;
      if (Number.isNaN(first[instant])) first[instant] = value;
      else if (value !== first[instant]) isApart[instant] = 1;
    }
  });
  let [due, when, gross] = [0, 0, 0];
  for (let instant = 0; instant < asked.length; instant++) {
    if (agreeing[instant] === 0) continue;
    due++;
    when += +(agreeing[instant] < asked[instant]);
    gross += isApart[instant];
  }
  return { due, when, gross };
}

function ruleOf(rule: AllocationRule | null): AllocationRule {
  if (rule === null) throw new Error('A rotation was bound without its allocation.');
  return rule;
}

/** Nothing in an allocation reads state. */
const valueOf = (source: ValueSource, row: number): number =>
  source.kind === 'column' ? source.values[row] : source.kind === 'constant' ? source.value : NaN;
