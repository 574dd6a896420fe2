import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BuiltPackage } from "../sdk/built-package.ts";
import { requirePython } from "../sdk/debian-python.ts";
import { Network } from "../support/network/network.ts";
import { Program } from "../support/program.ts";
import { ConsoleBrowser } from "../web/browser.ts";
import { EXAMPLES, printed, runPython } from "./run-example.ts";

requirePython("httpx");
const ROOT = join(import.meta.dirname, "..", "..");

let network: Network;
let env: Record<string, string>;
let built: BuiltPackage;
let folder: string;
beforeAll(async () => {
  [network, built] = await Promise.all([Network.open(), BuiltPackage.build()]);
  folder = built.directory;
  const account = network.createAccount("client@example.com");
  env = { ATOLL_BASE_URL: network.url, ATOLL_API_KEY: account.key };
  await network.startIsland("island", account.islandToken);
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await built[Symbol.asyncDispose]();
});

describe("examples in Python", () => {
  it("chat.py completes a chat, and continues an earlier conversation", async () => {
    const first = await printed(runPython(["chat.py"], env, "What is 7 plus 8?\n\n"));
    expect(first).toMatch(/> 7 plus 8 is 15\.\n> $/);
    const [id = ""] = /conv_\w+/.exec(first) ?? [];
    const second = await printed(runPython(["chat.py", id], env, "Count from 3 to 9.\n\n"));
    expect(second).toMatch(/^user: What is 7 plus 8\?\nassistant: 7 plus 8 is 15\.\n[^]*> 3, 4, 5, 6, 7, 8, 9\.\n> $/);
  });

  it("batch.py writes one output per line in order, even with several batches", async () => {
    const [inputs, outputs] = ["in.jsonl", "out.jsonl"].map((name) => join(folder, name)) as [string, string];
    const sums = Array.from({ length: 5 }, (_, n) => ({ prompt: `What is 2 plus ${n + 2}?`, temperature: 0 }));
    await writeFile(inputs, sums.map((line) => JSON.stringify(line)).join("\n"));
    await printed(runPython(["batch.py", "--batch", "3", inputs, outputs], env));
    const lines = (await readFile(outputs, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject(
      sums.map((input, n) => ({ input, output: `2 plus ${n + 2} is ${n + 4}.`, error: null })),
    );
  });

  it("print an error in one line, without a traceback", async () => {
    const bad = join(folder, "bad.jsonl");
    await writeFile(bad, '{"prompt": "Hi"}\n{"prompt"\n');
    const out = join(folder, "bad-out.jsonl");
    const wrongKey = { ...env, ATOLL_API_KEY: "ak_wrong" };
    const ran = await Promise.all([
      runPython(["chat.py"], wrongKey),
      runPython(["rag.py", "where?", join(ROOT, "examples", "README.md")], {}),
      runPython(["picture.py", "a reef", out], wrongKey),
      runPython(["batch.py", bad, out], env),
      runPython(["batch.py", join(folder, "none.jsonl"), out], env),
    ]);
    expect(ran.map(({ code, stderr }) => [code, stderr.split(":")[0], stderr.trim().split("\n").length])).toEqual([
      [1, "unauthenticated", 1],
      [1, "configuration", 1],
      [1, "unauthenticated", 1],
      [1, `${bad}, line 2`, 1],
      [1, "[Errno 2] No such file or directory", 1],
    ]);
  });
});

describe("examples/chat-app", () => {
  let app: Program;
  let url: string;
  beforeAll(async () => {
    await cp(join(EXAMPLES, "chat-app", "page.html"), join(folder, "page.html"));
    await cp(join(EXAMPLES, "chat-app", "server.ts"), join(folder, "server.mts"));
    app = new Program(join(folder, "server.mts"), ["--port", "0"], env);
    [url = ""] = await app.printed(/http:\S+/);
  });
  afterAll(() => app[Symbol.asyncDispose]());

  it("serves a page that continues its chat", async () => {
    await using browser = await ConsoleBrowser.open(url);
    const { page, faults } = await browser.page();
    await page.goto("/");
    const send = async (question: string, completion: string): Promise<void> => {
      await page.getByLabel("Your message").fill(question);
      await page.keyboard.press("Enter");
      await page.locator("p.assistant").last().getByText(completion, { exact: true }).waitFor();
      await page.locator("input:enabled").waitFor();
    };
    await send("What is 7 plus 8?", "7 plus 8 is 15.");
    await send("Count from 3 to 9.", "3, 4, 5, 6, 7, 8, 9.");
    expect(await page.locator("p").count()).toBe(4);
    expect(faults).toEqual([]);
  });
});
