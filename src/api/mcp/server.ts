// The MCP server: tools and resources over the public API, for one client with one key.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { ROOT, VERSION } from '../../config.ts';
import { valueAtPointer } from '../../engine/index.ts';
import { faultsMessage, type ProblemIssue } from '../http/problems.ts';
import type { ApiAnswer, CallApi } from './apiCall.ts';
import { boundedText } from './boundedAnswer.ts';
import { MAX_BYTES, type ShownPart, type Tool } from './tool.ts';
import { listedSchema, readArguments } from './toolArguments.ts';
import { TOOLS } from './tools.ts';

const INSTRUCTIONS = `Candlepool validates trading strategies written as JSON and backtests them.
Order: get_workspace_context, get_capabilities, validate_strategy until valid, create_strategy,
finalize_strategy_version, run_backtest, get_backtest.
Answers are cut to maxBytes; { omitted, path } marks a part that the same tool reads when called with that path. Of
get_backtest, path reads any part of the view; view "full" has every member. Compare runs with list_backtests; read
trades, equity, orders and signals with get_backtest_artifact.`;

/** Builds a server whose tools call the API through `call`. Whatever the API refuses comes back as its problem body. */
export function createMcpServer(call: CallApi): McpServer {
  const server = new McpServer({ name: 'candlepool', version: VERSION }, { instructions: INSTRUCTIONS });
  for (const tool of TOOLS) registerTool(server, tool, call);
  registerResources(server, call);
  return server;
}

function registerTool(server: McpServer, tool: Tool, call: CallApi): void {
  server.registerTool(
    tool.name,
    {
      title: tool.title,
      description: tool.description,
      inputSchema: listedSchema(tool.input),
      annotations: {
        readOnlyHint: tool.isReadOnly,
        idempotentHint: tool.isIdempotent,
        destructiveHint: false,
        openWorldHint: false,
      },
    },
    async (sent, context) => {
      const read = readArguments(tool.input, sent);
      if ('issues' in read) return toolResult(argumentsRefused(read.issues), WHOLE);
      const { path, maxBytes, ...own } = read.args;
      const shown = { path, maxBytes } as ShownPart;
      const { signal, _meta, notify } = context.mcpReq;
      const progressToken = _meta?.progressToken;
      let reported = 0;
      const answer = await tool.run(own, {
        shown,
        call: (request) => call(request, signal),
        report: async (fraction, message) => {
          if (progressToken === undefined) return;
          // Progress must grow with each notification, whatever the run says.
          reported = Math.max(reported + 1e-6, fraction);
          const params = { progressToken, progress: reported, total: 1, message };
          await notify({ method: 'notifications/progress', params });
        },
      });
      return toolResult(answer, shown);
    },
  );
}

/** As the API refuses a request. */
const argumentsRefused = (issues: readonly ProblemIssue[]) => ({
  status: 400,
  body: { status: 400, code: 'VALIDATION_FAILED', message: faultsMessage(issues), issues },
});
const WHOLE: ShownPart = { path: '', maxBytes: MAX_BYTES };

function toolResult({ status, body }: Pick<ApiAnswer, 'status' | 'body'>, { path, maxBytes }: ShownPart) {
  const isRefused = status >= 400;
  const leadsNowhere = valueAtPointer(body, path) === undefined;
  const isError = isRefused || leadsNowhere;
  // The path was meant for an answer; it is applied to a problem only if it leads somewhere in it.
  const shown = isRefused && leadsNowhere ? '' : path;
  const text = boundedText(body, { path: shown, maxBytes });
  return { content: [{ type: 'text' as const, text }], ...(isError && { isError }) };
}

interface Page {
  readonly name: string;
  readonly title: string;
  readonly file: string;
}
const PAGES: readonly Page[] = [
  { name: 'language', title: 'What strategies can say', file: 'docs/language.md' },
  { name: 'fill-rules', title: 'The fill rules, with pictures', file: 'docs/fills.md' },
  { name: 'semantics', title: 'Every rule of the engine', file: 'docs/semantics.md' },
  { name: 'problems', title: 'Every error and its remedy', file: 'docs/problems.md' },
];

function registerResources(server: McpServer, call: CallApi): void {
  const json = (name: string, title: string, path: string): void => {
    const uri = `candlepool://${name}`;
    server.registerResource(name, uri, { title, mimeType: 'application/json' }, async () => {
      const { status, body } = await call({ method: 'GET', path });
      // A resource has no mark of an error: a refusal must not be read as its content.
      if (status >= 400) throw new Error(boundedText(body, WHOLE));
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(body) }] };
    });
  };
  json('manifest', 'The workflow contract', '/public/v1');
  json('authoring-pack', 'All that is needed to write a strategy', '/public/v1/authoring-pack');
  json('templates', 'Strategies to copy and change', '/public/v1/system-strategies?limit=100');
  for (const { name, title, file } of PAGES) {
    const uri = `candlepool://${name}`;
    server.registerResource(name, uri, { title, mimeType: 'text/markdown' }, async () => ({
      contents: [{ uri, mimeType: 'text/markdown', text: await readFile(join(ROOT, file), 'utf8') }],
    }));
  }
}
