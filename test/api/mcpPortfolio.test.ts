// A portfolio over MCP, in the calls that an agent makes: from the list of series to the explained result.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';

let api: ApiApp;
let worker: Worker;
let client: Client;
beforeAll(async () => {
  api = await createApiApp();
  worker = await startApiWorker(api.services);
  const url = new URL('/mcp', await api.app.listen({ port: 0, host: '127.0.0.1' }));
  const { apiKey } = await api.client();
  client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
});
afterAll(async () => {
  await client?.close();
  await worker?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
});

/** The most calls that the way to an explained result may take. */
const MOST_CALLS = 8;

describe('dual momentum over MCP', () => {
  it('goes from the list of series to the explained result in at most eight calls', async () => {
    let calls = 0;
    // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
    const call = async (name: string, given: Record<string, unknown> = {}): Promise<any> => {
      calls++;
      const { isError, content } = await client.callTool({ name, arguments: given });
      const [{ text }] = content as { text: string }[];
      expect(isError ?? false, `${name}: ${text}`).toBe(false);
      return JSON.parse(text);
    };
    const series = await call('list_market_data', { limit: 100 });
    const { settings, strategyAst, suggestedConfig } = await call('list_templates', { key: 'dual_momentum' });
    const symbols = suggestedConfig.instruments.map(({ symbol }: { symbol: string }) => symbol);
    expect(series.data.map(({ symbol }: { symbol: string }) => symbol)).toEqual(expect.arrayContaining(symbols));
    const payload = { settings, strategyAst };
    expect(await call('validate_strategy', payload)).toMatchObject({ valid: true, issues: [] });
    const { id: strategyId } = await call('create_strategy', { name: 'Dual momentum', ...payload });
    const ready = await call('finalize_strategy_version', { strategyId, version: 1 });
    const queued = await call('run_backtest', { strategyVersionId: ready.id, config: suggestedConfig, wait: 1 });
    const view = await call('get_backtest', { id: queued.id, wait: 25 });
    expect(view.status).toBe('completed');
    expect(view.readFirst).toEqual(expect.arrayContaining(['/diagnosis', '/funnel', '/portfolio', '/instruments']));
    // One place, which is either selected or failed; what failed is in the fund of bonds.
    const { whenTrue, rebalances, selected, failedRequire, emptyPlaces } = view.funnel.allocation;
    expect(selected + failedRequire + emptyPlaces).toBe(whenTrue);
    expect(rebalances).toBeGreaterThan(50);
    expect(view.rules.map(({ role }: { role: string }) => role)).toEqual(expect.arrayContaining(['when', 'require']));
    expect(view.instruments.map(({ symbol }: { symbol: string }) => symbol).toSorted()).toEqual(symbols.toSorted());
    const { plan } = await call('explain_strategy', payload);
    expect(plan).toContain('places that fail require or stay empty are held in SYN-BOND-FUND');
    expect(calls).toBeLessThanOrEqual(MOST_CALLS);
  });
});
