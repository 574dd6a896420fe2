import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "../../island-agent/models/file-server.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import type { ProgramResult } from "../../support/program.ts";
import { runCommand } from "../../support/run-command.ts";
import { IS_POSTGRES } from "../../support/servers/test-store-server.ts";
import { HubServer } from "../../support/servers/hub-server.ts";
import { call, until } from "../../support/http/http.ts";

const MODEL = join(import.meta.dirname, "../../../catalog/models/tiny-islander.gguf");
const TINY = readFileSync(MODEL);
const HASH = sha256(TINY);

let hub: HubServer;
let coordinator: TestCoordinator;
let directory: string;
beforeAll(async () => {
  hub = await HubServer.start();
  hub.put("maker/Tiny-GGUF", { "tiny-Q4_K_M.gguf": TINY }, { licence: "mit" });
  coordinator = await TestCoordinator.open({ publicRequestsPerMinute: 1_000_000 });
  directory = await mkdtemp(join(tmpdir(), "atoll-add-"));
});
afterAll(async () => {
  await coordinator[Symbol.asyncDispose]();
  await hub[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const run = (command: string, ...args: string[]): Promise<ProgramResult> =>
  runCommand("cargo", command, ...args, ...coordinator.locationFlags);
const add = (...args: string[]) => run("add", ...args, "--hub", hub.url, "--allow-private");
const isOffered = async (slug: string) => (await call(coordinator.url, null, "GET", `/cargos/${slug}`)).status === 200;
const slugs = async () =>
  (JSON.parse((await run("list", "--json")).stdout) as { slug: string }[]).map(({ slug }) => slug);

describe("coordinator cargo add", () => {
  it("shows what it would add, and adds nothing with --dry-run", async () => {
    const { code, stdout } = await add("hf.co/maker/Tiny-GGUF", "--dry-run");
    expect(code).toBe(0);
    const lines = stdout.split("\n").map((line) => line.trim().replace(/ {2,}/, ": "));
    expect(lines).toEqual([
      "tiny",
      expect.stringMatching(/^from: hf\.co\/maker\/Tiny-GGUF at commit [0-9a-f]{40}$/),
      "files: tiny-Q4_K_M.gguf, 2.2 MiB",
      "model: llama, 1.1M parameters, Q4_K_M, trained for 1024 tokens",
      "kind: chat",
      "memory: 256.0 MiB of RAM, for 4 jobs of 1024 tokens",
      "licence: mit",
      "gate: none",
      "price: 0.01 credits per job; 4 / 16 per million tokens",
      "Islands: 0 of 0 that are online have the runtime and the memory",
      "Nothing was added (--dry-run)",
      "",
    ]);
    expect(await slugs()).not.toContain("tiny");
    const json = JSON.parse((await add("hf.co/maker/Tiny-GGUF", "--dry-run", "--json")).stdout) as object;
    expect(json).toMatchObject({
      slug: "tiny",
      added: false,
      gated: false,
      architecture: "llama",
      islands: { online: 0, fitting: 0 },
      cargo: { model: { sha256: HASH } },
    });
  });

  it("adds a Cargo that all accounts can use, and changes it when it is added again", async () => {
    expect((await add("hf.co/maker/Tiny-GGUF")).stdout).toContain("Added tiny: available to all accounts");
    await until(
      () => isOffered("tiny"),
      (is) => is,
      "offered",
    );
    expect((await add("hf.co/maker/Tiny-GGUF", "--price", "2")).code).toBe(0);
    const review = JSON.parse((await run("show", "tiny", "--json")).stdout) as object;
    expect(review).toMatchObject({ status: "offered", origin: "imported", price_per_job: 2, pin: { value: HASH } });
  });

  it("refuses a slug that another Cargo has", async () => {
    const { code, stderr } = await add("hf.co/maker/Tiny-GGUF", "--slug", "tiny-chat");
    expect(code).toBe(1);
    expect(stderr).toContain('Another Cargo has the slug "tiny-chat". Choose another slug');
  });

  it("names the flag that would allow a private host, and adds nothing", async () => {
    const { code, stderr } = await run("add", "hf.co/maker/Tiny-GGUF", "--slug", "other", "--hub", hub.url);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Nothing was added\. 127\.0\.0\.1:\d+ redirects to 127\.0\.0\.1:\d+, which is not a host/);
    expect(await slugs()).not.toContain("other");
  });

  it.each([
    [["--context", "many"], "--context: must be a positive number"],
    [["--context", "9999999"], "The model was trained for 1024 tokens of context, fewer than 9999999"],
    [["--slots", "0"], "--slots: must be a positive number"],
    [["--price", "-1"], "--price: must be a positive number"],
    [["--slug", "Not A Slug"], "slug"],
    [["--mmproj", "x.gguf"], "The projector's file can be named only for a model on disk"],
  ])("refuses %j", async (flags, message) => {
    const { code, stderr } = await add("hf.co/maker/Tiny-GGUF", ...flags);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });

  it.skipIf(IS_POSTGRES)(
    "copies a file on disk to where the coordinator serves it, with resumable ranges",
    async () => {
      const path = join(directory, "mine.gguf");
      await copyFile(MODEL, path);
      expect((await add(path)).stdout).toContain("Added mine: available to all accounts");
      const served = await fetch(`${coordinator.url.replace("/api/v1", "")}/models/mine-${HASH.slice(0, 16)}.gguf`, {
        headers: { range: "bytes=4-7" },
      });
      expect(served.status).toBe(206);
      expect(Buffer.from(await served.arrayBuffer())).toEqual(TINY.subarray(4, 8));
    },
  );

  it.skipIf(IS_POSTGRES)("leaves no file behind when the Cargo cannot be added", async () => {
    const path = join(directory, "broken.gguf");
    await writeFile(path, "GGUF");
    expect((await add(path)).stderr).toContain("broken.gguf cannot be read");
    await copyFile(MODEL, path);
    expect((await add(path, "--slug", "tiny-chat")).stderr).toContain("Another Cargo has the slug");

    expect((await readdir(join(coordinator.directory, "models"))).filter((name) => !name.startsWith("mine"))).toEqual(
      [],
    );
  });
});
