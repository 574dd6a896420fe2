import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BuiltPackage } from "../sdk/built-package.ts";
import { Network } from "../support/network/network.ts";
import { Program } from "../support/program.ts";
import { EXAMPLES, printed, run } from "./run-example.ts";

const ROOT = join(import.meta.dirname, "..", "..");

let network: Network;
let env: Record<string, string>;
let built: BuiltPackage;
beforeAll(async () => {
  [network, built] = await Promise.all([Network.open(), BuiltPackage.build()]);
  const account = network.createAccount("client@example.com");
  env = { ATOLL_BASE_URL: network.url, ATOLL_API_KEY: account.key };
  await network.startIsland("island", account.islandToken);
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await built[Symbol.asyncDispose]();
});

describe("examples/mcp-server.ts", () => {
  it("offers the currently runnable Cargos as tools to the official client", async () => {
    await cp(join(EXAMPLES, "mcp-server.ts"), join(built.directory, "mcp-server.mts"));
    await mkdir(join(built.directory, "node_modules"), { recursive: true });
    await symlink(
      join(ROOT, "node_modules", "@modelcontextprotocol"),
      join(built.directory, "node_modules", "@modelcontextprotocol"),
      "dir",
    );
    const client = new Client({ name: "test", version: "1.0.0" });
    const server = { command: process.execPath, args: ["mcp-server.mts"], cwd: built.directory, env };
    await client.connect(new StdioClientTransport(server));
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["tiny-chat", "job_result"]));
      const chat = tools.find(({ name }) => name === "tiny-chat");
      expect(chat?.inputSchema.properties).toHaveProperty("prompt");
      const input = { prompt: "What is 7 plus 8?", temperature: 0 };
      const result = await client.callTool({ name: "tiny-chat", arguments: input });
      expect(result).toMatchObject({ content: [{ type: "text", text: "7 plus 8 is 15." }], isError: false });
      const wrong = await client.callTool({ name: "tiny-chat", arguments: { prompt: 7 } });
      expect(wrong).toMatchObject({ isError: true });
      expect(JSON.stringify(wrong)).toContain("input.prompt");
    } finally {
      await client.close();
    }
  });
});

describe("examples/agent.ts", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(built.directory, "notes-"));
    await writeFile(join(folder, "tide.txt"), "The tide is low at noon.");
    await cp(join(EXAMPLES, "agent.ts"), join(built.directory, "agent.mts"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const agent = (...args: readonly string[]) =>
    run(process.execPath, ["agent.mts", ...args], { env, cwd: built.directory });

  it("calls its functions and completes with their results", async () => {
    const lines = (await printed(agent("--call-first", folder, "When is the tide low?"))).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(1);
    const results: Readonly<Record<string, string>> = {
      "list_files {}": "tide.txt",
      'read_file {"name":"tide.txt"}': "The tide is low at noon.",
    };
    for (const line of lines.slice(0, -1)) {
      const [, name = "", given = "", result = ""] = /^(\w+)\((.*)\) → (.*)$/.exec(line) ?? [];
      expect(JSON.parse(result)).toBe(results[`${name} ${JSON.stringify(JSON.parse(given))}`]);
    }
  });

  it("completes in its last turn without more calls", async () => {
    const lines = (await printed(agent("--call-first", "--turns", "1", folder, "When?"))).trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain("→");
  });

  it.each([
    { args: [], says: "usage: agent.ts" },
    { args: [".", "What?", "More"], says: "usage: agent.ts" },
    { args: ["--turns", "0", ".", "What?"], says: "--turns must be" },
    { args: ["--colour", ".", "What?"], says: "--colour" },
    { args: ["nowhere", "What?"], says: "nowhere" },
    { args: ["--model", "nothing", ".", "What?"], says: "nothing" },
  ])("refuses $args", async ({ args, says }) => {
    expect(await agent(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
  });
});

describe("examples/chat-app", () => {
  let app: Program;
  let url: string;
  beforeAll(async () => {
    await cp(join(EXAMPLES, "chat-app", "page.html"), join(built.directory, "page.html"));
    await cp(join(EXAMPLES, "chat-app", "server.ts"), join(built.directory, "server.mts"));
    app = new Program(join(built.directory, "server.mts"), ["--port", "0"], env);
    [url = ""] = await app.printed(/http:\S+/);
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const chat = (origin: string, body: string) =>
    fetch(`${url}/chat`, { method: "POST", headers: { origin, "content-type": "application/json" }, body });
  const QUESTION = JSON.stringify([{ role: "user", content: "What is 7 plus 8?" }]);

  it("serves only requests of its own page, and forwards errors of the coordinator", async () => {
    expect(await (await chat(url, QUESTION)).text()).toBe("7 plus 8 is 15.");
    expect((await chat("https://example.com", QUESTION)).status).toBe(403);
    const refused = await chat(url, JSON.stringify([{ role: "nobody", content: "Hi" }]));
    expect([refused.status, await refused.text()]).toEqual([502, expect.stringMatching(/^validation_failed: /)]);
    expect((await chat(url, JSON.stringify("x".repeat(300_000)))).status).toBe(502);
  });
});
