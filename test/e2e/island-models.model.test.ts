import { writeFileSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ListedArtifact } from "../../island-agent/artifacts/stored-files.ts";
import { systemClock } from "../../shared/clock.ts";
import { file, FileServer, sha256 } from "../island-agent/models/file-server.ts";
import { HubRepository } from "../island-agent/models/hub-repository.ts";
import { importModel } from "../../island-agent/cli/import-command.ts";
import { removeModel, unloadModels } from "../../island-agent/cli/models-commands.ts";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { call, until } from "../support/http/http.ts";
import { LONG_COMPLETION } from "../support/models/long-completion.ts";
import { Network } from "../support/network/network.ts";
import { runProgram, type Program } from "../support/program.ts";
import { SmallDisk } from "../support/small-disk.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const CARGOS = join(ROOT, "catalog", "cargos");
const MODEL = join(ROOT, "catalog", "models", "tiny-islander.gguf");
const QUIET = { show: () => undefined, stop: () => undefined };
const SLOW = Buffer.alloc(200_000, "slow");
const TINY = join(ROOT, "test", "fixtures", "onnx", "tiny-sentiment");

let catalog: string;
let hubServer: FileServer;
let hub: HubRepository;
let network: Network;
let island: Program;
let key: string;
let data: string;

/** Returns the files of a folder by path. */
async function readFolder(folder: string): Promise<Record<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path)] as const)),
  );
}

/** A catalog with tiny-chat and two Cargos of one model, which come from the hub and from the coordinator's files. */
async function makeCatalog(files: Record<string, Buffer>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "atoll-catalog-"));
  await mkdir(join(folder, "cargos"));
  await cp(TINY, join(folder, "models", "tiny-sentiment"), { recursive: true });
  const list = Object.entries(files).map(([path, bytes]) => ({ path, bytes: bytes.length, sha256: sha256(bytes) }));
  const listed = Buffer.from(JSON.stringify({ files: list }));
  await writeFile(join(folder, "models", "tiny-sentiment", "files.json"), listed);
  await copyFile(join(CARGOS, "tiny-chat.json"), join(folder, "cargos", "tiny-chat.json"));
  const tiny = JSON.parse(await readFile(join(CARGOS, "tiny-chat.json"), "utf8")) as Record<string, unknown>;
  const slow = { url: "hf:owner/slow:slow.gguf", sha256: sha256(SLOW), size_bytes: SLOW.length };
  await writeFile(join(folder, "cargos", "slow.json"), JSON.stringify({ ...tiny, slug: "slow", model: slow }));
  await copyFile(MODEL, join(folder, "models", "tiny-islander.gguf"));
  const {
    parameters: _,
    memory: __,
    unpinned_reason: ___,
    ...cargo
  } = JSON.parse(await readFile(join(CARGOS, "distilbert-sst2.json"), "utf8")) as Record<string, unknown>;
  const models = {
    "by-hub": { url: "hf:owner/tiny-sentiment", sha256: null, size_bytes: null },
    "by-list": { url: "/models/tiny-sentiment/files.json", sha256: sha256(listed), size_bytes: null },
  };
  for (const [slug, each] of Object.entries(models)) {
    await writeFile(join(folder, "cargos", `${slug}.json`), JSON.stringify({ ...cargo, slug, model: each }));
  }
  return folder;
}

beforeAll(async () => {
  const files = await readFolder(TINY);
  catalog = await makeCatalog(files);
  hubServer = await FileServer.start();
  hub = HubRepository.on(hubServer, "owner/tiny-sentiment", files);
  network = await Network.open(["--catalog-directory", catalog, "--max-attempts", "1"]);
  const account = network.createAccount("host@example.com");
  key = account.key;
  const settings = {
    "models.hub_endpoint": hubServer.url,
    "models.allow_private_addresses": "true",
    "cargos.allow_runtimes": "onnx, llmcpp",
  };
  island = await network.startIsland("one", account.islandToken, settings);
  data = network.islandData("one");
}, 120_000);
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await hubServer[Symbol.asyncDispose]();
  await rm(catalog, { recursive: true, force: true });
});

const command = (...args: string[]) => runProgram("island", "models", ...args, "--data", data);
const stored = async (): Promise<ListedArtifact[]> =>
  JSON.parse((await command("ls", "--json")).stdout) as ListedArtifact[];

async function classify(workload: string, text: string): Promise<unknown> {
  const { body } = await call(network.url, key, "POST", "/jobs", { workload, input: { text } });
  const ended = (await call(network.url, key, "GET", `/jobs/${body.data.id}?wait=60`)).body.data;
  return ended.status === "completed" ? ended.output : ended.error;
}

describe("island models with several files on a real Island", () => {
  it("runs a folder from the hub, and a folder from the coordinator pinned by one hash", async () => {
    expect(await classify("by-hub", "I love this")).toMatchObject([{ label: "POSITIVE" }]);
    expect(await classify("by-list", "I hate this")).toMatchObject([{ label: "NEGATIVE" }]);
    expect(hub.fetched().filter((path) => path.endsWith(".onnx"))).toEqual(["onnx/model_quantized.onnx"]);
    const items = await stored();
    expect(items.map(({ kind, cargos, isWhole }) => [kind, cargos, isWhole])).toEqual([
      ["folder", ["by-list"], true],
      ["folder", ["by-hub"], true],
    ]);
  });

  it("pull downloads the files of a Cargo, with progress in lines without a terminal", async () => {
    const { code, stdout, stderr } = await command("pull", "tiny-chat");
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: "tiny-chat is on disk\n" });
    expect(stderr).toMatch(/^tiny-chat: /);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe("tiny-chat: on disk 100%");
    expect((await stored()).map(({ cargos }) => cargos)).toContainEqual(["tiny-chat"]);
    expect((await command("ls")).stdout).toMatch(/^tiny-chat +2\.2 MiB +\d{4}-\d\d-\d\d \d\d:\d\d$/m);
  });

  it("rm unloads and deletes unused models and rejects used ones, and unload only frees memory", async () => {
    const loaded = async (): Promise<string[]> =>
      (await network.islandStatus<AgentStatus>("one")).loaded.map(({ slug }) => slug);
    expect((await loaded()).toSorted()).toEqual(["by-hub", "by-list"]);
    expect(await command("unload", "by-list")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Unloaded by-list: \d+(\.\d)? MiB of memory\n$/),
    });
    expect(await command("unload", "by-list")).toMatchObject({
      code: 1,
      stderr: "by-list is not in memory. List loaded Cargos with: island status --verbose\n",
    });
    expect(await loaded()).toEqual(["by-hub"]);
    expect(await command("rm", "by-hub")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Freed \d/) });
    expect(await loaded()).toEqual([]);

    const chat = {
      workload: "tiny-chat",
      input: { prompt: "Write.", max_tokens: 900, response_format: LONG_COMPLETION },
    };
    const { id } = (await call(network.url, key, "POST", "/jobs", chat)).body.data;
    await until(loaded, (slugs) => slugs.includes("tiny-chat"), "the job's Cargo is in memory");
    // The Island runs in this process, because the job is short.
    const location = { dataDirectory: data, env: {}, clock: systemClock };
    await expect(removeModel(location, "tiny-chat")).rejects.toThrow(
      "tiny-chat is in use by a job or download of tiny-chat. Wait until it ends, then remove tiny-chat",
    );
    await expect(unloadModels(location, "tiny-chat")).rejects.toThrow(
      "tiny-chat is running a job. Unload it after the job has ended",
    );
    expect(await unloadModels(location, undefined)).toBe("No idle Cargo is in memory");
    await call(network.url, key, "DELETE", `/jobs/${id}`);
    await until(
      async () => (await network.islandStatus<AgentStatus>("one")).running.length,
      (count) => count === 0,
      "the job has stopped",
    );
    expect(await command("rm", "tiny-chat")).toMatchObject({ code: 0, stdout: "Freed 2.2 MiB\n" });
    const absent = await command("rm", "tiny-chat");
    expect([absent.code, absent.stderr]).toEqual([
      1,
      'No model or image on disk has the name "tiny-chat". List all with: island models ls\n',
    ]);
  });

  it("import accepts a local file if a Cargo has its hash, and rejects others", async () => {
    await copyFile(MODEL, join(catalog, "mine.gguf"));
    await symlink("mine.gguf", join(catalog, "link.gguf"));
    await writeFile(join(catalog, "other.gguf"), "other");
    const location = { dataDirectory: data, env: {}, clock: systemClock };
    const importFile = (name: string): Promise<string> => importModel(location, join(catalog, name), QUIET);
    await expect(importFile("none.gguf")).rejects.toThrow(`${join(catalog, "none.gguf")}: no such file`);
    await expect(importFile("cargos")).rejects.toThrow(`${join(catalog, "cargos")}: must be a model file`);
    await expect(importFile("other.gguf")).rejects.toThrow(
      `No Cargo of the coordinator has a model with the SHA-256 of ${join(catalog, "other.gguf")} (${sha256(Buffer.from("other"))})`,
    );
    await copyFile(MODEL, join(catalog, "changing.gguf"));
    // The signal comes after the first bytes of the file were hashed.
    const change = (): void => writeFileSync(join(catalog, "changing.gguf"), "other", { flag: "r+" });
    await expect(
      importModel(location, join(catalog, "changing.gguf"), { show: change, stop: () => undefined }),
    ).rejects.toThrow(`${join(catalog, "changing.gguf")} changed while it was read`);
    expect(await importFile("link.gguf")).toBe(
      "Imported 2.2 MiB for tiny-chat (as a hard link without extra space, so do not change the original file)",
    );
    expect(await command("import", join(catalog, "mine.gguf"))).toMatchObject({
      code: 0,
      stdout: "The model of tiny-chat is already on disk\n",
    });
    expect(await stored()).toMatchObject([{ cargos: ["tiny-chat"], kind: "file" }, { cargos: ["by-list"] }]);
    const { id } = (
      await call(network.url, key, "POST", "/jobs", {
        workload: "tiny-chat",
        input: { prompt: "What is 7 plus 8?", temperature: 0 },
      })
    ).body.data;
    expect((await call(network.url, key, "GET", `/jobs/${id}?wait=60`)).body.data.output).toBe("7 plus 8 is 15.");
    expect((await command("rm", "tiny-chat")).code).toBe(0);
    expect(sha256(await readFile(join(catalog, "mine.gguf")))).toBe(sha256(await readFile(MODEL)));
  });

  it("import rejects a model that is being downloaded", async () => {
    hubServer.on("/owner/slow/resolve/main/slow.gguf", file(SLOW, { stallAfter: 1_000 }));
    const { id } = (await call(network.url, key, "POST", "/jobs", { workload: "slow", input: { prompt: "Hi" } })).body
      .data;
    const isDownloading = async (): Promise<boolean> =>
      ((await network.islandStatus<AgentStatus>("one")).downloads ?? []).some(
        ({ receivedBytes = 0 }) => receivedBytes > 0,
      );
    await until(isDownloading, Boolean, "the model is being downloaded");
    await writeFile(join(catalog, "slow.gguf"), SLOW);
    expect(await command("import", join(catalog, "slow.gguf"))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("The model of slow is being downloaded. Run island pause"),
    });
    await call(network.url, key, "DELETE", `/jobs/${id}`);
    await until(isDownloading, (is) => !is, "the download has ended");
    expect(await command("import", join(catalog, "slow.gguf"))).toMatchObject({ code: 0 });
    expect((await command("rm", "slow")).code).toBe(0);
  });

  it("all commands but pull work without an agent", async () => {
    island.kill("SIGTERM");
    await island.ended();
    expect((await stored()).map(({ inUse }) => inUse)).toEqual([false]);
    expect((await command("prune")).stderr).toContain("add --yes");
    using far = new SmallDisk(8_000_000);
    await copyFile(MODEL, join(far.path, "far.gguf"));
    expect(await command("import", join(far.path, "far.gguf"))).toMatchObject({
      code: 0,
      stdout: "Imported 2.2 MiB for tiny-chat (copied, because it is on another file system)\n",
    });
    expect((await stored()).map(({ cargos }) => cargos)).toContainEqual(["tiny-chat"]);
    expect(await command("rm", "by-list")).toMatchObject({ code: 0 });
    expect(await command("prune", "--yes")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Freed \d/) });
    expect(await command("ls")).toMatchObject({ stdout: "No models or images on disk\n" });
    const pull = await command("pull", "tiny-chat");
    expect([pull.code, pull.stderr]).toEqual([
      1,
      expect.stringContaining("No agent is running on this data directory"),
    ]);
  });
});
