// A client on the official SDK: it lists the tools of replan serve, has a plan made
// and run, answers its gate, and cancels a second run. It prints what it saw as JSON.
//
//   node client.mjs stdio FOLDER ARG…    or    node client.mjs http URL TOKEN
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [kind, place, ...rest] = process.argv.slice(2);
const transport = kind === 'stdio'
  ? new StdioClientTransport({ command: 'replan', args: rest, cwd: place, env: process.env })
  : new StreamableHTTPClientTransport(new URL(place), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });

const seen = { questions: [], progress: [] };
const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  seen.questions.push(request.params);
  return { action: 'accept', content: { decision: request.params.requestedSchema.properties.decision.enum[0] } };
});
await client.connect(transport);
seen.server = client.getServerVersion();
seen.instructions = client.getInstructions();
seen.tools = (await client.listTools()).tools;

// The SDK checks structured content against the output schema, and throws.
seen.ran = await client.callTool({ name: 'plan_create_and_execute', arguments: { goal: 'greet' } }, undefined, {
  onprogress: (p) => seen.progress.push(p),
});
seen.created = await client.callTool({ name: 'plan_create', arguments: { goal: 'look around' } });
seen.listed = await client.callTool({ name: 'runs_list', arguments: {} });

// The second run asks, and then waits for a pipe.
const stop = new AbortController();
const waits = client.callTool({ name: 'plan_create_and_execute', arguments: { goal: 'wait' } }, undefined, { signal: stop.signal })
  .then(() => 'ended', (err) => String(err));
process.stdout.write('waiting\n');
await new Promise((resolve) => process.stdin.once('data', resolve)); // the test has seen the child
stop.abort('no longer wanted');
seen.cancelled = await waits;
do {
  seen.after = (await client.callTool({ name: 'runs_list', arguments: { limit: 1 } })).structuredContent.runs[0];
} while (['running', 'unfinished'].includes(seen.after.status));
await client.close();
process.stdout.write(JSON.stringify(seen) + '\n');
process.exit(0);
