/**
 * An agent: a chat model that calls functions of this program until it can answer. The functions read the files of one folder.
 *
 *     node examples/agent.ts [--model tiny-chat] [--turns 5] [--call-first] docs "What is in concepts.md?"
 *
 * All chat models can call tools, enforced by a grammar. The quality of their choices varies; tiny-chat chooses at random. `--call-first`
 * forces a function call before the answer.
 */
import { readdir, readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { parseArgs } from "node:util";
import { Atoll, type ChatRequest } from "@atoll/client";

/** Maximum characters of a file that the model reads. */
const EXCERPT = 1_000;
const USAGE = 'usage: agent.ts [--model slug] [--turns 5] [--call-first] folder "question"';

interface Tool {
  readonly description: string;
  readonly parameters: object;
  readonly run: (given: Record<string, unknown>) => Promise<string>;
}

/** Returns the tools of the model. They reject paths outside the folder. */
function toolsOf(folder: string, names: readonly string[]): Readonly<Record<string, Tool>> {
  return {
    list_files: {
      description: "Names of all files",
      parameters: { type: "object", properties: {} },
      run: async () => names.join(", "),
    },
    read_file: {
      description: "Reads the beginning of a file",
      parameters: { type: "object", properties: { name: { enum: names } }, required: ["name"] },
      run: async ({ name }) => {
        const path = await realpath(join(folder, String(name)));
        if (!path.startsWith(folder + sep)) throw new Error(`${String(name)} is not in the folder`);
        return (await readFile(path, "utf8")).slice(0, EXCERPT);
      },
    },
  };
}

/** Sends the question, runs the model's tool calls and sends their results, at most `turns` times. The last turn must answer. */
async function run(atoll: Atoll, tools: Readonly<Record<string, Tool>>, asked: Asked): Promise<string> {
  const messages: ChatRequest["messages"] = [{ role: "user", content: asked.question }];
  for (let turn = 1; ; turn++) {
    const isLast = turn >= asked.turns;
    const { choices } = await atoll.chat.create({
      model: asked.model,
      messages,
      tools: Object.entries(tools).map(([name, { description, parameters }]) => ({
        type: "function",
        function: { name, description, parameters: { ...parameters } },
      })),
      tool_choice: isLast ? "none" : turn === 1 && asked.callFirst ? "required" : "auto",
      parallel_tool_calls: false,
      temperature: 0,
      max_tokens: 200,
    });
    const message = choices[0]?.message;
    if (message?.tool_calls === undefined || message.tool_calls.length === 0) return message?.content ?? "";
    messages.push({ role: "assistant", content: message.content, tool_calls: message.tool_calls });
    for (const { id, function: call } of message.tool_calls) {
      const content = await result(tools[call.name], call.arguments);
      process.stdout.write(`${call.name}(${call.arguments}) → ${JSON.stringify(content.slice(0, 60))}\n`);
      messages.push({ role: "tool", tool_call_id: id, content });
    }
  }
}

/** Returns the result of a tool call. Errors go to the model, which can call another tool or give up. */
async function result(tool: Tool | undefined, given: string): Promise<string> {
  if (tool === undefined) return "There is no such function";
  try {
    return await tool.run(JSON.parse(given) as Record<string, unknown>);
  } catch (error) {
    return `It failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

interface Asked {
  readonly model: string;
  readonly question: string;
  /** Maximum requests to the model, at least 1. */
  readonly turns: number;
  readonly callFirst: boolean;
}

/** Parses the arguments. @throws {Error} if they are invalid. */
function read(args: readonly string[]): Asked & { readonly folder: string } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      model: { type: "string", default: "tiny-chat" },
      turns: { type: "string", default: "5" },
      "call-first": { type: "boolean", default: false },
    },
  });
  const [folder, question, ...more] = positionals;
  if (folder === undefined || question === undefined || more.length > 0) throw new Error(USAGE);
  const turns = Number(values.turns);
  if (!Number.isInteger(turns) || turns < 1) throw new Error("--turns must be a whole number of at least 1");
  return { folder, question, turns, model: values.model, callFirst: values["call-first"] };
}

async function main(args: readonly string[]): Promise<void> {
  const asked = read(args);
  const folder = await realpath(asked.folder);
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  process.stdout.write(`${await run(new Atoll(), toolsOf(folder, names), asked)}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
