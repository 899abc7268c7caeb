// A client of `tis serve` on the protocol's own TypeScript library. It prints
// what it saw as one object of JSON.
//
// usage: client.mjs stdio TIS ARG... | client.mjs http URL TOKEN
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [way, ...rest] = process.argv.slice(2);

function transport() {
  if (way === "http") {
    return new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } } });
  }
  return new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "inherit" });
}

async function connect(answers) {
  const seen = { questions: [], changes: 0 };
  const client = new Client({ name: "typescript", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async (request) => {
    seen.questions.push(request.params.message);
    return answers.shift() ?? { action: "cancel" };
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, async () => { seen.changes++; });
  await client.connect(transport());
  const bash = async (commands, options) => (await client.callTool({ name: "bash", arguments: { commands } }, undefined, options)).structuredContent;
  return { client, seen, bash };
}

const accept = (decision) => ({ action: "accept", content: { decision } });
const gated = (branch) => `tools tracker delete-branch branch=${branch}`;
const out = {};

const a = await connect([accept("allow"), { action: "decline" }, { action: "cancel" }, accept("reject"), accept("reject_always")]);
out.server = a.client.getServerVersion();
out.tools = (await a.client.listTools()).tools.map((t) => t.name);
const progress = [];
out.read = await a.bash("tools tracker list-branches | jq '.branches | length'", { onprogress: (p) => progress.push(p) });
out.progress = progress;
out.allow = await a.bash(gated("fix-typo"));
out.decline = await a.bash(gated("pg-driver"));
out.cancel = await a.bash(gated("pg-driver"));
out.reject = await a.bash(gated("pg-driver"));
out.rejectAlways = await a.bash(gated("pg-driver"));
out.rejected = await a.bash(gated("pg-driver"));

// A second session beside the first.
const b = await connect([accept("allow_always")]);
out.always = await b.bash(gated("pg-driver"));
out.alwaysAgain = await b.bash(gated("dark-mode"));
await a.bash("echo a > mine");
out.apart = await b.bash("ls");
out.questions = { a: a.seen.questions, b: b.seen.questions };

const stop = new AbortController();
const cancelled = a.bash("tools tracker create-comment number=2 body=begun; sleep 60; echo late", { signal: stop.signal, onprogress: () => setTimeout(() => stop.abort("enough"), 300) });
out.cancelled = await cancelled.then(() => "no", (e) => String(e));
out.after = await a.bash("echo after");

await a.client.close();
await b.client.close();
console.log(JSON.stringify(out));
