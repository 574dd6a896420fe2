import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BuiltPackage } from "../sdk/built-package.ts";
import { missingPython } from "../sdk/debian-python.ts";
import { Network } from "../support/network.ts";
import { Program } from "../support/program.ts";
import { ConsoleBrowser, HAS_BROWSER } from "../web/browser.ts";
import { EXAMPLES, printed, run, runPython } from "./run-example.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const withoutPython = missingPython("httpx");

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

describe.skipIf(withoutPython !== null)(
  `examples in Python${withoutPython === null ? "" : ` [${withoutPython}]`}`,
  () => {
    it("chat.py answers, and goes on with an earlier conversation", async () => {
      const first = await printed(runPython(["chat.py"], env, "What is 7 plus 8?\n\n"));
      expect(first).toMatch(/> 7 plus 8 is 15\.\n> $/);
      const [id = ""] = /conv_\w+/.exec(first) ?? [];
      const second = await printed(runPython(["chat.py", id], env, "Count from 3 to 9.\n\n"));
      expect(second).toMatch(
        /^user: What is 7 plus 8\?\nassistant: 7 plus 8 is 15\.\n[^]*> 3, 4, 5, 6, 7, 8, 9\.\n> $/,
      );
    });

    it("batch.py writes one output for each line, in order, also of several batches", async () => {
      const [inputs, outputs] = ["in.jsonl", "out.jsonl"].map((name) => join(built.directory, name)) as [
        string,
        string,
      ];
      const sums = Array.from({ length: 5 }, (_, n) => ({ prompt: `What is 2 plus ${n + 2}?`, temperature: 0 }));
      await writeFile(inputs, sums.map((line) => JSON.stringify(line)).join("\n"));
      await printed(runPython(["batch.py", "--batch", "3", inputs, outputs], env));
      const lines = (await readFile(outputs, "utf8")).trimEnd().split("\n");
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject(
        sums.map((input, n) => ({ input, output: `2 plus ${n + 2} is ${n + 4}.`, error: null })),
      );
    });

    it("what goes wrong is one line, not a traceback", async () => {
      const bad = join(built.directory, "bad.jsonl");
      await writeFile(bad, '{"prompt": "Hi"}\n{"prompt"\n');
      const out = join(built.directory, "bad-out.jsonl");
      const wrongKey = { ...env, ATOLL_API_KEY: "ak_wrong" };
      const ran = await Promise.all([
        runPython(["chat.py"], wrongKey),
        runPython(["rag.py", "where?", join(ROOT, "examples", "README.md")], {}),
        runPython(["picture.py", "a reef", out], wrongKey),
        runPython(["batch.py", bad, out], env),
        runPython(["batch.py", join(built.directory, "none.jsonl"), out], env),
      ]);
      expect(ran.map(({ code, stderr }) => [code, stderr.split(":")[0], stderr.trim().split("\n").length])).toEqual([
        [1, "unauthenticated", 1],
        [1, "configuration", 1],
        [1, "unauthenticated", 1],
        [1, `${bad}, line 2`, 1],
        [1, "[Errno 2] No such file or directory", 1],
      ]);
    });
  },
);

describe("examples/mcp-server.ts", () => {
  it("offers the Cargos that can run now as tools to the official client", async () => {
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
      const answer = await client.callTool({ name: "tiny-chat", arguments: input });
      expect(answer).toMatchObject({ content: [{ type: "text", text: "7 plus 8 is 15." }], isError: false });
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

  it("calls functions of its own and answers after their results", async () => {
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

  it("answers in its last turn, whatever it would still call", async () => {
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
  ])("$args is refused", async ({ args, says }) => {
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

  it("answers its own page alone, and tells what the coordinator refuses", async () => {
    expect(await (await chat(url, QUESTION)).text()).toBe("7 plus 8 is 15.");
    expect((await chat("https://example.com", QUESTION)).status).toBe(403);
    const refused = await chat(url, JSON.stringify([{ role: "nobody", content: "Hi" }]));
    expect([refused.status, await refused.text()]).toEqual([502, expect.stringMatching(/^validation_failed: /)]);
    expect((await chat(url, JSON.stringify("x".repeat(300_000)))).status).toBe(502);
  });

  it.skipIf(!HAS_BROWSER)("is a page that goes on with its chat [needs Chromium]", async () => {
    await using browser = await ConsoleBrowser.open(url);
    const { page, faults } = await browser.page();
    await page.goto("/");
    const ask = async (question: string, answer: string): Promise<void> => {
      await page.getByLabel("Your message").fill(question);
      await page.keyboard.press("Enter");
      await page.locator("p.assistant").last().getByText(answer, { exact: true }).waitFor();
      await page.locator("input:enabled").waitFor();
    };
    await ask("What is 7 plus 8?", "7 plus 8 is 15.");
    await ask("Count from 3 to 9.", "3, 4, 5, 6, 7, 8, 9.");
    expect(await page.locator("p").count()).toBe(4);
    expect(faults).toEqual([]);
  });
});
