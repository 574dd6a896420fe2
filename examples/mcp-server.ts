/**
 * An MCP server that offers a network's Cargos as tools: an assistant such as Claude Desktop can run them. In its settings:
 *
 *     { "mcpServers": { "atoll": { "command": "node", "args": ["mcp-server.ts"], "env": { "ATOLL_BASE_URL": "…", "ATOLL_API_KEY": "ak_…" } } } }
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { Atoll, AtollError, type CargoDetail } from "@atoll/client";

/** How long an assistant waits for a job before it is told to come back. */
const WAIT_MS = 120_000;
/** Beside the Cargos: the result of a job that took longer. */
const RESULT_TOOL = {
  name: "job_result",
  description: "The result of a job that was still running when its tool answered",
  inputSchema: { type: "object", properties: { job_id: { type: "string" } }, required: ["job_id"] },
} as const;

const atoll = new Atoll();
const server = new Server({ name: "atoll", version: "0.1.0" }, { capabilities: { tools: {} } });

/** Only Cargos that an Island can run now: a tool that cannot answer is worse than none. */
server.setRequestHandler(ListToolsRequestSchema, async () => {
  const { data } = await atoll.cargos.availability();
  const cargos = await Promise.all(data.map(({ slug }) => atoll.cargos.get(slug)));
  return { tools: [...cargos.map(toolOf), RESULT_TOOL] };
});

server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: input = {} } }, { signal }) => {
  try {
    const id = name === RESULT_TOOL.name ? String(input["job_id"]) : await submit(name, input);
    return await resultOf(id, signal);
  } catch (error) {
    // Told to the assistant, which can correct its input.
    if (error instanceof AtollError) return textOf(`${error.code}: ${messageOf(error)}`, true);
    throw error;
  }
});

await server.connect(new StdioServerTransport());

function toolOf({ slug, name, description, input_schema }: CargoDetail) {
  // MCP wants an object; the schemas of Cargos are objects, some without saying so.
  return {
    name: slug,
    description: `${name}. ${description}`,
    inputSchema: { ...input_schema, type: "object" as const },
  };
}

async function submit(workload: string, input: Record<string, unknown>): Promise<string> {
  return (await atoll.jobs.submit({ workload, input })).id;
}

/** The job's output. A call that the assistant gives up ends the job, too. */
async function resultOf(id: string, signal: AbortSignal): Promise<CallToolResult> {
  try {
    const { output } = await atoll.jobs.wait(id, { timeoutMs: WAIT_MS, signal });
    return textOf(typeof output === "string" ? output : JSON.stringify(output));
  } catch (error) {
    if (signal.aborted) await atoll.jobs.cancel(id).catch(() => undefined);
    if (!(error instanceof AtollError) || error.code !== "timeout") throw error;
    return textOf(`Job ${id} is still running. Ask ${RESULT_TOOL.name} for it later.`);
  }
}

function messageOf({ message, details }: AtollError): string {
  return details.length === 0 ? message : details.map(({ path, message: why }) => `${path}: ${why}`).join("; ");
}

function textOf(text: string, isError = false): CallToolResult {
  return { content: [{ type: "text", text }], isError };
}
