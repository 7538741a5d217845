// An MCP server on version 2 of the official SDK that speaks 2026-07-28 alone.
// It serves standard streams, after a delay in milliseconds, or HTTP on a free port,
// whose URL it prints.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

function build() {
  const server = new McpServer({ name: 'modern', version: '1' });
  server.registerTool('hello', { description: 'Says hello' }, async () => ({ content: [{ type: 'text', text: 'hello' }] }));
  server.registerTool('refuse', { description: 'Always fails' }, async () => ({ isError: true, content: [{ type: 'text', text: 'not today' }] }));
  return server;
}

const [kind, delay] = process.argv.slice(2);
if (kind === 'http') {
  const server = createServer(toNodeHandler(createMcpHandler(build, { legacy: 'reject' })));
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
} else {
  await sleep(Number(delay ?? 0));
  serveStdio(build, { legacy: 'reject' });
}
