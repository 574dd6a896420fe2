/**
 * An MCP server that offers a network's Cargos as tools for an assistant such as Claude Desktop. In the assistant's settings:
 *
 *     { "mcpServers": { "atoll": { "command": "node", "args": ["mcp-server.ts"], "env": { "ATOLL_BASE_URL": "…", "ATOLL_API_KEY": "ak_…" } } } }
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { Atoll, AtollError, type CargoDetail } from "@atoll/client";

/** Maximum wait for a job, after which the assistant must fetch the result later. */
const WAIT_MS = 120_000;
/** Additional tool that returns the result of a longer job. */
const RESULT_TOOL = {
  name: "job_result",
  description: "Returns the result of a job that was still running when its tool returned",
  inputSchema: { type: "object", properties: { job_id: { type: "string" } }, required: ["job_id"] },
} as const;

const atoll = new Atoll();
const server = new Server({ name: "atoll", version: "0.1.0" }, { capabilities: { tools: {} } });

// Lists only Cargos that an Island can run now.
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
    // The assistant gets the error and can correct its input.
    if (error instanceof AtollError) return textOf(`${error.code}: ${messageOf(error)}`, true);
    throw error;
  }
});

await server.connect(new StdioServerTransport());

function toolOf({ slug, name, description, input_schema }: CargoDetail) {
  // MCP requires the type "object", which some schemas of Cargos omit.
  return {
    name: slug,
    description: `${name}. ${description}`,
    inputSchema: { ...input_schema, type: "object" as const },
  };
}

async function submit(workload: string, input: Record<string, unknown>): Promise<string> {
  return (await atoll.jobs.submit({ workload, input })).id;
}

/** Returns the job's output. If the assistant aborts the call, the job is cancelled. */
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
