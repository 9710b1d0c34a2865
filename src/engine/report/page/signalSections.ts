// Why a strategy did what it did: diagnosis, the funnel to entries or rebalances, conditions, and undecided bars.
import { policyInForce } from '../../config.ts';
import type { Diagnosis } from '../diagnosisFindings.ts';
import type { RebalanceCounts } from '../../simulate/portfolio/portfolioSimulation.ts';
import type { EntryFunnel, Funnel } from '../funnel.ts';
import type { ConditionStats } from '../conditionStatistics.ts';
import { REJECTION_REASONS } from '../../simulate/simulation.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { inPageWords, REJECTIONS } from './pageWords.ts';
import { html, NOTHING, section, table, type Html } from '../kit/html.ts';
import { count, percent, percentWithSign } from '../kit/numberText.ts';

const MAX_CONDITIONS = 40;
const SEVERITY_WORDS: Readonly<Record<Diagnosis['severity'], string>> = {
  error: 'Problem',
  warning: 'Caution',
  info: 'Note',
};

export function diagnosisSection(run: CompletedRun): Html {
  const diagnosis = run.summary.strategyTrace?.diagnosis ?? [];
  if (diagnosis.length === 0) return NOTHING;
  const notes = diagnosis.map(
    ({ code, severity, message, suggestion }) =>
      html`<div class="note ${severity}" data-code="${code}">
        <h3><span class="badge">${SEVERITY_WORDS[severity]}</span> ${inPageWords(message, run)}</h3>
        <p>${inPageWords(suggestion, run)}</p>
      </div> `,
  );
  return section({ id: 'diagnosis', title: 'Diagnosis' }, html`${notes}`);
}

interface Stage {
  readonly name: string;
  readonly count: number;
  /** What the count is a share of; null if it is not a share. */
  readonly whole: number | null;
}

export function funnelSection({ summary }: CompletedRun): Html {
  const funnel = summary.strategyTrace?.funnel;
  if (funnel === undefined) return NOTHING;
  const evaluated = funnel.barsTotal - funnel.barsWarmup;
  // Entry signals occur on a few of thousands of bars: on a linear scale they would be invisible.
  const widest = Math.log1p(Math.max(funnel.barsTotal, funnel.entrySignals, 1));
  const stages = (list: readonly Stage[]): Html =>
    html`<ol class="funnel">
      ${list.map((each) => stageRow(each, widest))}
    </ol>`;
  const before = [
    { name: 'Bars', count: funnel.barsTotal, whole: null },
    { name: 'After warm-up', count: evaluated, whole: funnel.barsTotal },
  ];
  if (funnel.allocation !== undefined) return allocationFunnel(before, funnel.allocation, stages);
  const after = [
    { name: 'Entry signals', count: funnel.entrySignals, whole: evaluated },
    { name: 'Entries filled', count: funnel.entriesFilled, whole: funnel.entrySignals },
  ];
  const { entries } = funnel;
  const middle = entries.map((entry) => {
    const title = entries.length > 1 ? html`<h3>Entry ${entry.rule}</h3>` : NOTHING;
    return html`${title}${stages(entryStages(entry, evaluated))}`;
  });
  const separator = entries.length > 1 ? html`<h3>All entries</h3>` : NOTHING;
  const lost = lossesOf(funnel).map(({ name, count: signals }) => html`<li>${name} <b>${count(signals)}</b></li>`);
  const losses =
    lost.length === 0
      ? NOTHING
      : html`<h3>Signals that did not become a position</h3>
          <ul class="chips">
            ${lost}
          </ul>`;
  const note =
    'From bars to filled entries, as shares of the bars after warm-up; fills as a share of signals. ' +
    'Widths are logarithmic.';
  return section(
    { id: 'funnel', title: 'Funnel', note },
    html`${stages(before)}${middle}${separator}${stages(after)}${losses}`,
  );
}

/** From bars to rebalances, and from the places of a rebalance to orders and fills. */
function allocationFunnel(
  before: readonly Stage[],
  counts: RebalanceCounts,
  stages: (list: readonly Stage[]) => Html,
): Html {
  const { whenTrue, rebalances, withinBand, undecided, orders, ordersFilled } = counts;
  const { eligible, selected, failedRequire, emptyPlaces } = counts;
  const instants = [
    { name: 'Rebalance due', count: whenTrue, whole: null },
    { name: 'Rebalanced', count: rebalances, whole: whenTrue },
    ...(withinBand > 0 ? [{ name: 'Within the band', count: withinBand, whole: whenTrue }] : []),
    ...(undecided > 0 ? [{ name: 'No gross or equity', count: undecided, whole: whenTrue }] : []),
  ];
  const places = selected + failedRequire + emptyPlaces;
  const chosen = [
    { name: 'Eligible', count: eligible, whole: null },
    { name: 'Places', count: places, whole: null },
    { name: 'Selected', count: selected, whole: places },
    { name: 'Failed require', count: failedRequire, whole: places },
    { name: 'Empty', count: emptyPlaces, whole: places },
  ];
  const traded = [
    { name: 'Orders', count: orders, whole: null },
    { name: 'Orders filled', count: ordersFilled, whole: orders },
    { name: 'Cancelled', count: counts.ordersCancelled, whole: orders },
    { name: 'Expired', count: counts.ordersExpired, whole: orders },
    { name: 'Rejected', count: counts.ordersRejected, whole: orders },
    { name: 'Not needed', count: counts.ordersUnneeded, whole: orders },
  ].filter((stage, at) => at < 2 || stage.count > 0);
  const note =
    'From bars of all instruments to rebalances, and from the places of all rebalances to filled orders. ' +
    'Widths are logarithmic.';
  return section(
    { id: 'funnel', title: 'Funnel', note },
    html`${stages(before)}
      <h3>Instants</h3>
      ${stages(instants)}
      <h3>Places of all rebalances</h3>
      ${stages(chosen)}
      <h3>Orders</h3>
      ${stages(traded)}`,
  );
}

function stageRow({ name, count: bars, whole }: Stage, widest: number): Html {
  const share = whole === null || whole === 0 ? '' : `${percent(bars / whole, 1)}\u00a0%`;
  const width = ((100 * Math.log1p(bars)) / widest).toFixed(1);
  return html`<li><span>${name}</span><i style="--w:${width}%"></i><b>${count(bars)}</b><small>${share}</small></li> `;
}

function entryStages(
  { setupTrue, triggerTrue, setupAndTrigger, afterFilter }: EntryFunnel,
  evaluated: number,
): Stage[] {
  const stages: (readonly [string, number])[] = [
    ...(setupTrue === null ? [] : [['Setup true', setupTrue] as const]),
    ['Trigger true', triggerTrue],
    ...(setupTrue === null ? [] : [['Setup and trigger', setupAndTrigger] as const]),
    ...afterFilter.map(({ nodeId, count }) => [`and filter ${nodeId}`, count] as const),
  ];
  return stages.map(([name, count]) => ({ name, count, whole: evaluated }));
}

function lossesOf(funnel: Funnel): Pick<Stage, 'name' | 'count'>[] {
  return [
    { name: 'Already in a position', count: funnel.blockedInPosition },
    { name: 'Cooling down', count: funnel.blockedCooldown },
    { name: 'All slots taken', count: funnel.blockedMaxPositions },
    { name: 'No free slot in the account', count: funnel.rankedOut?.count ?? 0 },
    { name: 'Expired unfilled', count: funnel.ordersExpired },
    { name: 'Replaced by a newer signal', count: funnel.ordersReplaced },
    ...REJECTION_REASONS.map((reason) => ({
      name: `Rejected: ${REJECTIONS[reason]}`,
      count: funnel.ordersRejected[reason] ?? 0,
    })),
  ].filter((loss) => loss.count > 0);
}

/** Where the return lies between the pessimistic and the optimistic reading of the undecided bars. */
export function bandSection({ report, summary }: CompletedRun): Html {
  const { ambiguity } = report.simulation;
  const { band, input } = report;
  const title = 'What the bars leave open';
  if (ambiguity.undecidedBars === 0) {
    const note = 'In no bar did the result depend on the order of prices inside it.';
    return section({ id: 'band', title, note }, NOTHING);
  }
  const agreed = ambiguity.undecidedBars - ambiguity.fallbackBars;
  const policy = policyInForce(input.config).replace('_', ' ');
  const note = `The order of prices inside the bar was open in ${count(ambiguity.undecidedBars)} bars. In \
${count(agreed)} of them finer bars decided or every order gave the same outcome; the ${policy} policy settled \
${count(ambiguity.fallbackBars)}.`;
  const at = (value: number): string => {
    const width = band.high - band.low;
    return (width === 0 ? 50 : (100 * (value - band.low)) / width).toFixed(1);
  };
  const scale = html`<div
      class="band"
      role="img"
      aria-label="Return between ${percentWithSign(band.low)} and ${percentWithSign(band.high)}"
    >
      <i style="--x:${at(summary.returnPct)}%"></i>
    </div>
    <dl class="ends">
      <div>
        <dt>Pessimistic</dt>
        <dd>${percentWithSign(band.pessimistic)}</dd>
      </div>
      <div>
        <dt>This run</dt>
        <dd>${percentWithSign(summary.returnPct)}</dd>
      </div>
      <div>
        <dt>Optimistic</dt>
        <dd>${percentWithSign(band.optimistic)}</dd>
      </div>
    </dl>
    <p class="lead">
      The return if each of those bars had gone the worse or the better way: a sensitivity, not a bound.
    </p>`;
  return section({ id: 'band', title, note }, scale);
}

const ROLE_WORDS: Readonly<Record<ConditionStats['role'], string>> = {
  setup: 'Setup',
  trigger: 'Trigger',
  filter: 'Filter',
  exit: 'Exit',
  when: 'When',
  where: 'Where',
  require: 'Require',
};

export function conditionsSection({ summary }: CompletedRun): Html {
  const rules = summary.ruleStatsSummary?.rules ?? [];
  if (rules.length === 0) return NOTHING;
  const entries = summary.strategyTrace?.funnel.entries ?? [];
  const rows = rules.slice(0, MAX_CONDITIONS).map((rule) => {
    const { text, trueCount, trueRate, soleBlockerCount } = rule;
    return html`<tr>
      <td class="text">${roleOf(rule, entries)}</td>
      <td class="text"><code>${text}</code></td>
      <td>${count(trueCount)}</td>
      <td>${percent(trueRate)}</td>
      <td>${count(soleBlockerCount)}</td>
    </tr>`;
  });
  const headings = [
    { text: 'Role', isText: true },
    { text: 'Condition', isText: true },
    { text: 'True', unit: 'bars' },
    { text: 'True', unit: '%' },
    { text: 'Sole blocker', unit: 'bars' },
  ];
  const left = rules.length - MAX_CONDITIONS;
  const rest = left > 0 ? html`<p class="lead">And ${count(left)} more.</p>` : NOTHING;
  const note = 'How often each condition was true, and on how many bars it alone kept its rule from firing.';
  return section({ id: 'conditions', title: 'Conditions', note }, html`${table(headings, rows)}${rest}`);
}

/** Also names the leg of an allocation and, with several entries, the one that a condition belongs to. */
function roleOf({ role, path }: ConditionStats, entries: readonly EntryFunnel[]): string {
  if (role === 'where' || role === 'require')
    return `${ROLE_WORDS[role]}, ${path.includes('/short/') ? 'short' : 'long'}`;
  const index = /^\/strategy\/entry\/(\d+)\//.exec(path)?.[1];
  const entry = entries.length > 1 && index !== undefined ? entries[Number(index)]?.rule : undefined;
  return entry === undefined ? ROLE_WORDS[role] : `${ROLE_WORDS[role]} of ${entry}`;
}
