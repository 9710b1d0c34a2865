// The demo's agent: writes, repairs, queues and reads over HTTP, as any other agent would.
import { setTimeout as sleep } from 'node:timers/promises';
import jsonPatch from 'fast-json-patch';
import type { Summary, ValidationIssue } from '../engine/index.ts';
import { batchItems, BROKEN_GRAPH, configOf, CROSS_GRAPH, ROTATION_GRAPH, SILENT_GRAPH } from './demoStrategies.ts';
import { CommandError, formatTable } from './output.ts';
import { startProgress } from './progress.ts';

type Graph = Readonly<Record<string, unknown>>;
interface BacktestRow {
  readonly id: string;
  readonly status: string;
  readonly symbol: string;
  readonly returnPct: number | null;
  readonly sharpeRatio: number | null;
  readonly maxDrawdown: number | null;
  readonly totalPositions: number | null;
}
export interface DemoOutcome {
  readonly repaired: readonly string[];
  readonly backtests: number;
  readonly completed: number;
  readonly seconds: number;
  readonly runsPerSecond: number;
  readonly silent: { readonly diagnosis: string; readonly message: string; readonly suggestion: string };
  readonly portfolio: { readonly instruments: number; readonly rebalances: number; readonly returnPct: number };
}

/** The shipped universe, without the coins, which trade on every day of the week. */
const UNIVERSE = /^SYN-(?!COIN)/;
const POLL_MS = 25;
/** Two hundred small runs take a second or two. A machine that needs this long is in trouble. */
const BATCH_WITHIN_MS = 120_000;
const MAX_REPAIRS = 5;

/** Reports its steps through `say`. */
export class DemoAgent {
  readonly #url: string;
  readonly #key: string;
  readonly #say: (text?: string) => void;

  constructor(url: string, key: string, say: (text?: string) => void) {
    this.#url = url;
    this.#key = key;
    this.#say = say;
  }

  async run(): Promise<DemoOutcome> {
    await this.#lookAround();
    const { graph, repaired } = await this.#repair(BROKEN_GRAPH);
    const dips = await this.#author('Dips in an uptrend', graph);
    const cross = await this.#author('Two means', CROSS_GRAPH);
    const batch = await this.#runBatch(batchItems(dips, cross));
    const silent = await this.#explainSilence();
    const portfolio = await this.#rotate();
    return { repaired, ...batch, silent, portfolio };
  }

  async #lookAround(): Promise<void> {
    const manifest = await this.#call<{ workflow: readonly object[] }>('GET', '/public/v1');
    const { apiKey, subscription } = await this.#call<{
      apiKey: { role: string; scopes: readonly string[] };
      subscription: { tier: string };
    }>('GET', '/public/v1/workspace');
    const { indicators, enums } = await this.#call<{
      indicators: readonly object[];
      enums: { patterns: readonly string[] };
    }>('GET', '/public/v1/capabilities');
    this.#say(`1. GET /public/v1                manifest: a workflow of ${manifest.workflow.length} steps`);
    this.#say(
      `2. GET /public/v1/workspace      ${apiKey.role} key, ${apiKey.scopes.length} scopes, tier ${subscription.tier}`,
    );
    this.#say(
      `3. GET /public/v1/capabilities   ${indicators.length} indicators, ${enums.patterns.length} candlestick patterns`,
    );
  }

  /** Validates, applies the patches that came with the issues, and validates again until nothing is wrong. */
  async #repair(broken: Graph): Promise<{ graph: Graph; repaired: string[] }> {
    let body: { settings: object; signalGraph: Graph } = structuredClone({ settings: {}, signalGraph: broken });
    const repaired: string[] = [];
    for (let round = 1; round <= MAX_REPAIRS; round++) {
      const { valid, issues } = await this.#call<{ valid: boolean; issues: readonly ValidationIssue[] }>(
        'POST',
        '/public/v1/strategies/validate',
        body,
      );
      const errors = issues.filter((issue) => issue.severity === 'error');
      this.#say(
        '4. POST /public/v1/strategies/validate   ' +
          `${valid ? 'valid' : `${errors.length} errors`}${round > 1 ? ' after the repair' : ''}`,
      );
      for (const issue of errors) {
        this.#say(`     ${issue.code} ${issue.path}`);
        this.#say(`       ${issue.message}${issue.suggestion ? ` → ${issue.suggestion}` : ''}`);
      }
      if (valid) return { graph: body.signalGraph, repaired };
      const patches = errors.flatMap((issue) => issue.patch ?? []);
      if (patches.length === 0) break;
      body = jsonPatch.applyPatch(body, patches as jsonPatch.Operation[], true, false).newDocument;
      repaired.push(...errors.filter((issue) => issue.patch).map((issue) => issue.code));
      this.#say(`     … ${patches.length} patches applied`);
    }
    throw new CommandError('The patches in its issues did not repair the demo strategy.', 'DEMO_FAILED');
  }

  /** @returns the ready version's id. */
  async #author(name: string, signalGraph: Graph): Promise<string> {
    const content = { settings: {}, signalGraph };
    const strategy = await this.#call<{ id: string }>('POST', '/public/v1/strategies', {
      name,
      description: '',
      ...content,
    });
    const path = `/public/v1/strategies/${strategy.id}/versions/finalize`;
    const version = await this.#call<{ id: string; version: number; status: string }>('POST', path, {
      ...content,
      version: 1,
    });
    this.#say(`5. create and finalize "${name}": version ${version.version} is ${version.status}`);
    return version.id;
  }

  async #runBatch(
    items: ReturnType<typeof batchItems>,
  ): Promise<Pick<DemoOutcome, 'backtests' | 'completed' | 'seconds' | 'runsPerSecond'>> {
    const startedAt = performance.now();
    const { accepted, refused, data } = await this.#call<{
      accepted: number;
      refused: number;
      data: readonly { index: number; id: string }[];
    }>('POST', '/public/v1/backtests/batch', { items });
    this.#say(
      `6. POST /public/v1/backtests/batch       ${accepted} accepted, ${refused} refused: EURUSD 1h, SPX NASDAQ ` +
        'AAPL IBM MSFT 1d',
    );
    await this.#untilDone(accepted);
    const seconds = (performance.now() - startedAt) / 1000;
    const rows = await this.#allBacktests();
    const completed = rows.filter((row) => row.status === 'completed');
    this.#say(
      `7. ${completed.length} of ${rows.length} completed in ${seconds.toFixed(2)} s: ` +
        `${Math.round(rows.length / seconds)} runs per second`,
    );
    this.#printResults(completed, new Map(data.map(({ index, id }) => [id, items[index].config.params])));
    return {
      backtests: rows.length,
      completed: completed.length,
      seconds,
      runsPerSecond: Math.round(rows.length / seconds),
    };
  }

  async #untilDone(count: number): Promise<void> {
    const deadline = performance.now() + BATCH_WITHIN_MS;
    using progress = startProgress('   running', count);
    let reported = 0;
    for (;;) {
      const open = await this.#openBacktests();
      const done = count - open;
      progress.update(done);
      // In a pipe, one line per quarter.
      if (!process.stderr.isTTY && done >= reported + count / 4) {
        this.#say(`   ${done} of ${count} done`);
        reported = done;
      }
      if (open === 0) return;
      if (performance.now() > deadline)
        throw new CommandError(
          `${open} backtests have not finished within two minutes. Run the demo with LOG_LEVEL=info to see more.`,
          'DEMO_FAILED',
        );
      await sleep(POLL_MS);
    }
  }

  /**
   * Counts queued and running backtests in one request: with two, a backtest that starts in between would count twice.
   */
  async #openBacktests(): Promise<number> {
    const { subscription } = await this.#call<{ subscription: { usage: { queuedBacktests: number } } }>(
      'GET',
      '/public/v1/workspace',
    );
    return subscription.usage.queuedBacktests;
  }

  async #allBacktests(): Promise<BacktestRow[]> {
    const rows: BacktestRow[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { data: BacktestRow[]; pagination: { nextCursor: string | null } } = await this.#call(
        'GET',
        `/public/v1/backtests?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      rows.push(...page.data);
      cursor = page.pagination.nextCursor;
    }
    return rows;
  }

  #printResults(rows: readonly BacktestRow[], params: ReadonlyMap<string, Readonly<Record<string, number>>>): void {
    const ranked = rows
      .filter((row) => row.sharpeRatio !== null)
      .sort((a, b) => (b.sharpeRatio ?? 0) - (a.sharpeRatio ?? 0));
    const percent = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(1)} %`);
    const shown = [...ranked.slice(0, 5), ...ranked.slice(-3)];
    this.#say('   The five best and the three worst by Sharpe ratio:');
    const table = formatTable<BacktestRow>(
      [
        { title: 'symbol', value: (row) => row.symbol },
        {
          title: 'params',
          value: (row) =>
            Object.entries(params.get(row.id) ?? {})
              .map((param) => param.join(' '))
              .join(', '),
        },
        { title: 'return', value: (row) => percent(row.returnPct), align: 'right' },
        { title: 'sharpe', value: (row) => (row.sharpeRatio ?? 0).toFixed(2), align: 'right' },
        { title: 'drawdown', value: (row) => percent(row.maxDrawdown), align: 'right' },
        { title: 'positions', value: (row) => row.totalPositions, align: 'right' },
      ],
      shown,
      true,
    );
    for (const line of table.trimEnd().split('\n')) this.#say(`     ${line}`);
  }

  /** A strategy that never trades, and what its result says about the reason. */
  async #explainSilence(): Promise<DemoOutcome['silent']> {
    const version = await this.#author('Too careful', SILENT_GRAPH);
    const queued = await this.#call<{ id: string }>('POST', '/public/v1/backtests', {
      strategyVersionId: version,
      config: configOf('EURUSD', '1h'),
    });
    const detail = await this.#call<{ status: string; result: { summaryJson: Summary } }>(
      'GET',
      `/public/v1/backtests/${queued.id}?wait=30`,
    );
    if (detail.status !== 'completed')
      throw new CommandError(`The last backtest ended with the status ${detail.status}.`, 'DEMO_FAILED');
    const { strategyTrace, totalPositions } = detail.result.summaryJson;
    const { funnel, diagnosis } = strategyTrace!;
    const [first] = diagnosis;
    this.#say(`8. GET /public/v1/backtests/{id}?wait=30  ${totalPositions} positions. Why?`);
    this.#say(
      `     funnel: ${funnel.barsTotal} bars → ${funnel.triggerTrue} triggers → ` +
        `${funnel.afterFilter.map((filter) => `${filter.count} after ${filter.nodeId}`).join(' → ')} → ` +
        `${funnel.entrySignals} signals → ${funnel.entriesFilled} entries`,
    );
    this.#say(`     ${first.code}: ${first.message}`);
    this.#say(`     ${first.suggestion}`);
    return { diagnosis: first.code, message: first.message, suggestion: first.suggestion };
  }

  /** One account over the shipped universe: what it held, and how often it was rebalanced. */
  async #rotate(): Promise<DemoOutcome['portfolio']> {
    const version = await this.#author('The five strongest', ROTATION_GRAPH);
    const { data } = await this.#call<{ data: readonly { symbol: string }[] }>(
      'GET',
      '/public/v1/market-data?timeframe=1d&limit=100',
    );
    const instruments = data.filter(({ symbol }) => UNIVERSE.test(symbol)).map(({ symbol }) => ({ symbol }));
    const { signalInstrument: _one, ...config } = configOf('', '1d');
    const queued = await this.#call<{ id: string }>('POST', '/public/v1/backtests', {
      strategyVersionId: version,
      config: { ...config, instruments },
    });
    const detail = await this.#call<{ status: string; result: { summaryJson: Summary } }>(
      'GET',
      `/public/v1/backtests/${queued.id}?wait=30`,
    );
    if (detail.status !== 'completed')
      throw new CommandError(`The portfolio ended with the status ${detail.status}.`, 'DEMO_FAILED');
    const { returnPct, buyHoldReturnPct, strategyTrace } = detail.result.summaryJson;
    const { rebalances, ordersFilled } = strategyTrace!.funnel.allocation!;
    const percent = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(1)} %`);
    this.#say(
      `9. A portfolio of ${instruments.length} instruments: ${percent(returnPct)}, equal money in each ` +
        `${percent(buyHoldReturnPct)}; ${rebalances} rebalances, ${ordersFilled} orders filled`,
    );
    return { instruments: instruments.length, rebalances, returnPct };
  }

  async #call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { 'x-api-key': this.#key, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer as T;
    throw new CommandError(
      `${method} ${path} answered ${response.status}: ${(answer as { message?: string }).message ?? ''}`,
      'DEMO_FAILED',
    );
  }
}
