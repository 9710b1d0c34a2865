// MCP over standard input and output, for hosts that start their servers as child processes.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { callUrl } from './apiCall.ts';
import { createMcpServer } from './server.ts';

/** Serves one client until its end of the pipe closes. @param baseUrl of a running server, without a trailing slash. */
export function serveMcpStdio(baseUrl: string, apiKey: string, onError: (error: Error) => void): void {
  serveStdio(() => createMcpServer(callUrl(baseUrl, apiKey)), { onerror: onError });
}
