import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { formatBytes } from "../../../../shared/format-bytes.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { CAN_MOUNT, SmallDisk } from "../../../support/small-disk.ts";
import { file, makeBytes, sha256 } from "../file-server.ts";
import { HubRepository } from "../hub-repository.ts";
import { failureOf, NEVER, StoreFixture } from "../store-fixture.ts";
import { cargo, CONFIG, contentOf, FILES, GRAPH, QUANTISED, TOKENIZER, WHOLE_BYTES } from "./folder-fixture.ts";

describe("FolderStore with shared files", () => {
  it("downloads a file of two Cargos once, and a folder once for concurrent requests", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    const { folders } = await fixture.openFolders();
    const leases = await Promise.all([
      folders.acquire(cargo(), NEVER),
      folders.acquire(cargo({ slug: "other" }), NEVER),
      folders.acquire(cargo({ slug: "small", weights: "q8" }), NEVER),
    ]);
    expect(hub.fetched().sort()).toEqual([
      "config.json",
      "onnx/model.onnx",
      "onnx/model_quantized.onnx",
      "tokenizer.json",
    ]);
    expect(new Set(leases.map(({ path }) => path)).size).toBe(3);
    expect(await contentOf(leases[0]?.path ?? "")).toEqual(await contentOf(leases[1]?.path ?? ""));
    for (const lease of leases) lease.release();
    expect(folders.list().map(({ key, isWhole }) => [key, isWhole])).toEqual([
      ["hf:owner/repo fp32", true],
      ["hf:owner/repo q8", true],
    ]);
  });

  it("removes a folder except files of other folders, and nothing that is in use", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const { folders, models } = await fixture.openFolders();
    const lease = await folders.acquire(cargo(), NEVER);
    (await folders.acquire(cargo({ slug: "small", weights: "q8" }), NEVER)).release();
    expect(await folders.remove("hf:owner/repo fp32")).toBe("in_use");
    lease.release();
    expect(await folders.remove("hf:owner/repo fp32")).toBe("removed");
    expect(await folders.remove("hf:owner/repo fp32")).toBe("absent");
    expect(
      models
        .list()
        .map(({ bytes }) => bytes)
        .sort((a, b) => a - b),
    ).toEqual([CONFIG.length, TOKENIZER.length, QUANTISED.length]);
    expect(folders.bytesOnDisk(cargo({ weights: "q8" }))).not.toBeNull();
  });

  it("downloads evicted files of a folder in the version of the other files", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    const { folders, models } = await fixture.openFolders();
    (await folders.acquire(cargo(), NEVER)).release();
    await models.remove(sha256(GRAPH));
    expect(folders.bytesOnDisk(cargo())).toBeNull();
    expect(folders.list()).toMatchObject([{ isWhole: false, bytes: CONFIG.length + TOKENIZER.length }]);
    (await folders.acquire(cargo(), NEVER)).release();
    expect(hub.fetched().filter((path) => path === "onnx/model.onnx")).toHaveLength(2);
    expect(hub.fetched()).toHaveLength(4);
    expect(fixture.server.requests.filter(({ path }) => path.includes("/tree/"))).toHaveLength(1);
  });
});

describe("FolderStore within the disk budget", () => {
  it("refuses a folder that cannot fit before its first byte", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    const { folders } = await fixture.openFolders({ budgetBytes: WHOLE_BYTES - 1 });
    expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({
      code: "disk_full",
      message: expect.stringContaining(`needs ${formatBytes(WHOLE_BYTES)} on disk`),
    });
    expect(hub.fetched()).toEqual([]);
  });

  it("counts files that can be evicted as free, but not files in use", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    const other = makeBytes(100_000, "other");
    fixture.server.on("/models/other.gguf", file(other));
    const { folders, models } = await fixture.openFolders({ budgetBytes: WHOLE_BYTES + 1_000 });
    const model = { url: "/models/other.gguf", sha256: sha256(other), sizeBytes: other.length };
    const held = await models.acquire("other", model, NEVER);
    expect((await failureOf(folders.acquire(cargo(), NEVER))).message).toContain("98 KiB are in use");
    expect(hub.fetched()).toEqual([]);
    held.release();
    const lease = await folders.acquire(cargo(), NEVER);
    expect(models.has(sha256(other))).toBe(false);
    lease.release();
  });
});

describe("FolderStore on its disk", () => {
  it.runIf(CAN_MOUNT)("deletes the parts of all files when the disk becomes full", async () => {
    using disk = new SmallDisk(8_000_000);
    await using fixture = await StoreFixture.make(disk.path);
    const graph = makeBytes(3_000_000, "graph");
    const tokenizer = makeBytes(1_000_000, "tokenizer");
    const hub = HubRepository.on(fixture.server, "owner/repo", {
      "onnx/model.onnx": graph,
      "tokenizer.json": tokenizer,
    });
    const { folders, models } = await fixture.openFolders();
    fixture.server.on(hub.bytesAt("tokenizer.json"), file(tokenizer, { stallAfter: 500_000 }));
    fixture.server.on(hub.bytesAt("onnx/model.onnx"), (_request, response) => {
      response.writeHead(200, { "content-length": String(graph.length) });
      response.write(graph.subarray(0, 1_000_000));
      void expect
        .poll(() => folders.downloads()[0]?.receivedBytes)
        .toBe(1_500_000)
        .then(() => {
          disk.fill();
          response.end(graph.subarray(1_000_000));
        });
    });
    expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({ code: "disk_full" });
    disk.free();
    await expect.poll(async () => (await fixture.files()).filter((name) => name.includes(".part"))).toEqual([]);
    expect(models.parts()).toEqual([]);
  });

  it("uses hard links, or symbolic links if the disk has no hard links", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const hardLink = async (): Promise<void> => {
      throw Object.assign(new Error("not here"), { code: "EPERM" });
    };
    const first = await fixture.openFolders();
    const hard = await first.folders.acquire(cargo(), NEVER);
    expect((await lstat(join(hard.path, "config.json"))).nlink).toBe(2);
    hard.release();
    await first.folders.close();
    await first.models.close();
    const { folders } = await fixture.openFolders({ hardLink });
    const soft = await folders.acquire(cargo(), NEVER);
    expect((await lstat(join(soft.path, "onnx/model.onnx"))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(soft.path, "onnx/model.onnx"))).toEqual(GRAPH);
    soft.release();
    await expect.poll(() => fixture.leases()).toEqual([]);
  });

  it("releases all files and leaves no directory when the links cannot be created", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const hardLink = async (): Promise<void> => {
      throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    };
    const { folders, models } = await fixture.openFolders({ hardLink });
    expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({
      code: "disk_full",
      message: expect.stringContaining("The disk of the model store is full: free space"),
    });
    expect(models.list().map(({ inUse }) => inUse)).toEqual([false, false, false]);
    expect(await fixture.leases()).toEqual([]);
    expect(folders.list()).toMatchObject([{ inUse: false }]);
  });

  it("removes leftovers of a crash, and resumes the version that it had started", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    fixture.server.onEach(hub.bytesAt("onnx/model.onnx"), file(GRAPH, { stallAfter: 80_000 }), file(GRAPH));
    const script = fileURLToPath(new URL("./crashing-folder-store.ts", import.meta.url));
    const args = [
      script,
      fixture.directory,
      fixture.server.url,
      JSON.stringify(cargo()),
      String(WHOLE_BYTES - GRAPH.length + 80_000),
    ];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    const leftover = join(fixture.directory, "folders", "leases", "leftover");
    await mkdir(leftover, { recursive: true });
    await writeFile(join(leftover, "config.json"), "");
    const { folders } = await fixture.openFolders();
    expect(await fixture.leases()).toEqual([]);
    (await folders.acquire(cargo(), NEVER)).release();
    const parts = fixture.server.requests.filter(({ path }) => path === hub.bytesAt("onnx/model.onnx"));
    expect(parts.map(({ range }) => range)).toEqual([null, "bytes=80000-"]);
    expect(fixture.server.requests.filter(({ path }) => path.includes("/tree/"))).toHaveLength(1);
  });

  it("fetches the list again when it is damaged or hostile, or no file of its folder is left", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const lists = join(fixture.directory, "folders", "lists");
    const reopened = async (): Promise<number> => {
      const { folders, models } = await fixture.openFolders();
      (await folders.acquire(cargo(), NEVER)).release();
      await folders.close();
      await models.close();
      return fixture.server.requests.filter(({ path }) => path.includes("/tree/")).length;
    };
    expect(await reopened()).toBe(1);
    const [name = ""] = await readdir(lists);
    const good = await readFile(join(lists, name), "utf8");
    await truncate(join(lists, name), 10);
    expect(await reopened()).toBe(2);
    await writeFile(join(lists, name), good.replaceAll('"config.json"', '"../../../config.json"'));
    expect(await reopened()).toBe(3);
    const { models } = await fixture.openFolders();
    await models.prune();
    await models.close();
    const emptied = await fixture.openFolders();
    expect(await readdir(lists)).toEqual([]);
    await emptied.folders.close();
    await emptied.models.close();
    expect(await reopened()).toBe(4);
    await rm(lists, { recursive: true });
    expect(await reopened()).toBe(5);
  });
});

describe("FolderStore.acquire() of a list of files", () => {
  const FILES_JSON = Buffer.from(
    JSON.stringify({
      files: Object.entries(FILES).map(([path, bytes]) => ({ path, bytes: bytes.length, sha256: sha256(bytes) })),
    }),
  );
  const listed = (override: object = {}): CargoManifest =>
    cargo({ model: { url: "/models/tiny/files.json", sha256: sha256(FILES_JSON), sizeBytes: null, ...override } });

  const serve = (fixture: StoreFixture, list: Buffer): void => {
    fixture.server.on("/models/tiny/files.json", file(list));
    for (const [path, bytes] of Object.entries(FILES)) fixture.server.on(`/models/tiny/${path}`, file(bytes));
  };

  it("pins the whole folder by the hash of its list", async () => {
    await using fixture = await StoreFixture.make();
    serve(fixture, FILES_JSON);
    const { folders } = await fixture.openFolders();
    const lease = await folders.acquire(listed(), NEVER);
    expect(lease.key).toBe(`${sha256(FILES_JSON)} fp32`);
    expect(Object.keys(await contentOf(lease.path)).sort()).toEqual([
      "config.json",
      "onnx/model.onnx",
      "tokenizer.json",
    ]);
    lease.release();
  });

  it("refuses a list with a different hash", async () => {
    await using fixture = await StoreFixture.make();
    serve(fixture, FILES_JSON);
    const { folders } = await fixture.openFolders();
    expect(await failureOf(folders.acquire(listed({ sha256: "0".repeat(64) }), NEVER))).toMatchObject({
      code: "model_hash_mismatch",
      retryable: true,
    });
  });

  it.each(["../evil.json", "/etc/passwd", "a\\b.json"])(
    "refuses a list that names %j, whether needed or not",
    async (path) => {
      await using fixture = await StoreFixture.make();
      serve(fixture, Buffer.from(JSON.stringify({ files: [{ path, bytes: 1, sha256: "0".repeat(64) }] })));
      const { folders } = await fixture.openFolders();
      expect(await failureOf(folders.acquire(listed({ sha256: null }), NEVER))).toMatchObject({
        code: "model_invalid",
        message: expect.stringContaining("is not safe to write"),
      });
    },
  );
});
