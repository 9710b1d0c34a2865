// The MCP server: tools, prompts and resources over the public API, for one client with one key.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type CallToolResult,
  type ListResourcesResult,
  type ListToolsResult,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ROOT, VERSION } from '../../config.ts';
import { valueAtPointer } from '../../engine/index.ts';
import { faultsMessage, type ProblemIssue } from '../http/problems.ts';
import type { ApiAnswer, CallApi, Measure } from './apiCall.ts';
import { boundedText } from './boundedAnswer.ts';
import { listedTool } from './listing.ts';
import { PROMPT_LIST, promptOf } from './prompts.ts';
import { MAX_BYTES, type ShownPart, type Tool } from './tool.ts';
import { readArguments } from './toolArguments.ts';
import { TOOLS } from './tools.ts';

const INSTRUCTIONS = `Candlepool validates trading strategies written as JSON and backtests them.
Order: get_capabilities (the authoring pack), validate_strategy until valid, create_strategy, finalize_strategy_version,
run_backtest, get_backtest. Compare runs with list_backtests.
Listings are short: get_schema has a tool's arguments in full, and those after "Also". Every tool takes maxBytes, the
size limit of its answer (1,000 to 200,000): {omitted, path} marks a part that the same tool reads with that path, a
JSON pointer. Tools that read a run take view=full: every member. wait: seconds, at most 25. cursor:
pagination.nextCursor of the page before. Tools that store something take idempotencyKey: a repeated call gets the first
answer.`;

/** The lists are made once: nothing in them depends on who asks, and their schemas take long to convert. */
const TOOL_LIST = { tools: TOOLS.map(listedTool) } as ListToolsResult;
const TOOL_BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/**
 * Builds a server whose tools call the API through `call`. Whatever the API refuses comes back as its problem body.
 * The SDK recommends its McpServer, which registers every tool and converts every schema again for each request. Ours
 * has two tables. It announces no change of its lists, which never change, so no client opens a stream to wait for one.
 * @param measure counts the time of synchronous work
 */
export function createMcpServer(call: CallApi, measure: Measure = (work) => work()): Server {
  const server = new Server(
    { name: 'candlepool', version: VERSION },
    { instructions: INSTRUCTIONS, capabilities: { tools: {}, resources: {}, prompts: {} } },
  );
  server.setRequestHandler('tools/list', () => TOOL_LIST);
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = TOOL_BY_NAME.get(params.name);
    if (tool === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Tool ${params.name.slice(0, MAX_SHOWN)} not found; tools/list names all.`,
      );
    return callTool(tool, params.arguments ?? {}, { call, measure, context });
  });
  server.setRequestHandler('prompts/list', () => PROMPT_LIST);
  server.setRequestHandler('prompts/get', ({ params }) => promptOf(params.name, params.arguments ?? {}));
  server.setRequestHandler('resources/list', () => RESOURCE_LIST);
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const resource = RESOURCES.find((each) => each.uri === uri);
    if (resource === undefined) throw new ResourceNotFoundError(uri.slice(0, MAX_SHOWN));
    const { mimeType } = resource;
    const contents = [{ uri, mimeType, text: await resource.read(call) }];
    return { contents } satisfies ReadResourceResult;
  });
  return server;
}
/** Characters of a name that a message repeats: longer ones help nobody. */
const MAX_SHOWN = 100;

interface Calling {
  readonly call: CallApi;
  readonly measure: Measure;
  readonly context: ServerContext;
}

async function callTool(tool: Tool, sent: unknown, { call, measure, context }: Calling): Promise<CallToolResult> {
  const read = measure(() => readArguments(tool.input, sent));
  if ('issues' in read) return toolResult(tool, argumentsRefused(read.issues), WHOLE);
  const { path, maxBytes, ...own } = read.args;
  const shown = { path, maxBytes } as ShownPart;
  const { signal, _meta, notify } = context.mcpReq;
  const progressToken = _meta?.progressToken;
  let reported = 0;
  try {
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
    return measure(() => toolResult(tool, answer, shown));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { content: [{ type: 'text', text }], isError: true };
  }
}

/** As the API refuses a request. */
const argumentsRefused = (issues: readonly ProblemIssue[]) => ({
  status: 400,
  body: { status: 400, code: 'VALIDATION_FAILED', message: faultsMessage(issues), issues },
});
const WHOLE: ShownPart = { path: '', maxBytes: MAX_BYTES };

function toolResult(
  tool: Tool,
  { status, body }: Pick<ApiAnswer, 'status' | 'body'>,
  { path, maxBytes }: ShownPart,
): CallToolResult {
  const isRefused = status >= 400;
  const leadsNowhere = valueAtPointer(body, path) === undefined;
  const isError = isRefused || leadsNowhere;
  // The path was meant for an answer; it is applied to a problem only if it leads somewhere in it.
  const shown = isRefused && leadsNowhere ? '' : path;
  const text = boundedText(body, { path: shown, maxBytes });
  const content = [{ type: 'text' as const, text }];
  if (isError) return { content, isError };
  return { content, ...(tool.output !== undefined && { structuredContent: structured(text, path) }) };
}

/** The shown answer as an object; a part of it has a name of its own, since its members are not those of the whole. */
function structured(text: string, path: string): Record<string, unknown> {
  const shown: unknown = JSON.parse(text);
  return path === '' ? (shown as Record<string, unknown>) : { part: shown };
}

interface Resource {
  readonly name: string;
  readonly title: string;
  readonly uri: string;
  readonly mimeType: string;
  readonly read: (call: CallApi) => Promise<string>;
}

/** An answer of the API. */
const answerResource = (name: string, title: string, path: string): Resource => ({
  name,
  title,
  uri: `candlepool://${name}`,
  mimeType: 'application/json',
  read: async (call) => {
    const { status, body } = await call({ method: 'GET', path });
    // A resource has no mark of an error: a refusal must not be read as its content.
    if (status >= 400) throw new Error(boundedText(body, WHOLE));
    return JSON.stringify(body);
  },
});

/** A page of docs/. */
const pageResource = (name: string, title: string, file: string): Resource => ({
  name,
  title,
  uri: `candlepool://${name}`,
  mimeType: 'text/markdown',
  read: () => readFile(join(ROOT, file), 'utf8'),
});

const RESOURCES: readonly Resource[] = [
  answerResource('manifest', 'The workflow contract', '/public/v1'),
  answerResource('authoring-pack', 'All that is needed to write a strategy', '/public/v1/authoring-pack'),
  answerResource('templates', 'Strategies to copy and change', '/public/v1/system-strategies?limit=100'),
  pageResource('language', 'What strategies can say', 'docs/language.md'),
  pageResource('fill-rules', 'The fill rules, with pictures', 'docs/fills.md'),
  pageResource('semantics', 'Every rule of the engine', 'docs/semantics.md'),
  pageResource('problems', 'Every error and its remedy', 'docs/problems.md'),
];
const RESOURCE_LIST: ListResourcesResult = {
  resources: RESOURCES.map(({ uri, name, title, mimeType }) => ({ uri, name, title, mimeType })),
};
