// docs/problems.md, made from the table of problems; a test compares the file with this.
import { PROBLEMS } from './problemTable.ts';

export function problemsDocument(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, title, retryable, help }]) =>
      `| ${status} | \`${code}\` | ${title} | ${retryable ? 'yes' : 'no'} | ${help} |`,
  );
  return `# Problems

Every failure is answered as \`application/problem+json\` (RFC 9457) with \`type title status detail instance\` and
\`message code retryable requestId\`; \`issues[]\` and further members where they help. Check the status first, then
\`code\`. Where the same request may be sent again later, \`retryAfterSeconds\` says when, as \`Retry-After\` does. At
\`/mcp\`, the same problem is the \`error.data\` of a JSON-RPC error. This page is generated from
\`src/api/http/problemTable.ts\`.

| status | code | meaning | retry unchanged? | what to do |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
