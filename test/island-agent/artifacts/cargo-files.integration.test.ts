import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCargoFiles, type CargoFiles } from "../../../island-agent/artifacts/cargo-files.ts";
import { imageArtifacts, type PulledImages } from "../../../island-agent/artifacts/image-artifacts.ts";
import { modelArtifacts } from "../../../island-agent/artifacts/model-artifacts.ts";
import { openDownloadWatch } from "../../../island-agent/artifacts/download-watch.ts";
import { openCargoNames } from "../../../island-agent/artifacts/cargo-names.ts";
import { openStoredFiles, type StoredFiles } from "../../../island-agent/artifacts/stored-files.ts";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { file, makeBytes, sha256 } from "../models/file-server.ts";
import { HubRepository } from "../models/hub-repository.ts";
import { NEVER, StoreFixture } from "../models/store-fixture.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog, makeManifest } from "../builders.ts";

const GGUF = makeBytes(10_000, "gguf");
const CONFIG = Buffer.from("{}");
const GRAPH = makeBytes(20_000, "graph");
const IMAGE = "registry.example/tool:1";
const nothing = (): void => undefined;

const chat = makeManifest({
  slug: "chat",
  model: { url: "/models/chat.gguf", sha256: sha256(GGUF), sizeBytes: GGUF.length },
});
const ADAPTER = makeBytes(3_000, "adapter");
const tuned = makeManifest({
  ...chat,
  slug: "tuned",
  adapters: [{ url: "/models/tune.gguf", sha256: sha256(ADAPTER), sizeBytes: ADAPTER.length, scale: 1 }],
});
const [SECOND, PROJECTOR_BYTES] = [makeBytes(4_000, "second"), makeBytes(2_000, "projector")];
const PROJECTOR = {
  url: "/models/mmproj.gguf",
  sha256: sha256(PROJECTOR_BYTES),
  sizeBytes: PROJECTOR_BYTES.length,
};
const split = makeManifest({
  ...chat,
  slug: "split",
  parts: [{ url: "/models/second.gguf", sha256: sha256(SECOND), sizeBytes: SECOND.length }],
  projector: PROJECTOR,
});
const sentiment = makeManifest({
  slug: "sentiment",
  runtimeType: "onnx",
  model: { url: "hf:owner/repo", sha256: null, sizeBytes: null },
  weights: "fp32",
});
const container: CargoManifest = makeManifest({
  slug: "tool",
  runtimeType: "container",
  container: { image: IMAGE, digest: null, command: null, gpu: false, network: false },
});

/** The images of an engine that has every requested image. */
class FakeImages implements PulledImages {
  readonly pulled = new Map<string, number>();
  async acquire(_slug: string, { image }: { image: string }): Promise<{ release(): void }> {
    this.pulled.set(image, (this.pulled.get(image) ?? 0) + 1);
    return { release: () => this.pulled.set(image, (this.pulled.get(image) ?? 0) - 1) };
  }
  assertFits(): void {}
  list() {
    return [...this.pulled].map(([key, leases]) => ({ key, bytes: 7, lastUsedMs: 1, inUse: leases > 0 }));
  }
  spareBytes() {
    return 100 - 7 * this.pulled.size;
  }
  downloads() {
    return [{ slug: "tool", key: IMAGE, receivedBytes: 5, totalBytes: 10 }];
  }
  async remove(key: string): Promise<"removed" | "in_use" | "absent"> {
    return this.pulled.delete(key) ? "removed" : "absent";
  }
  async prune() {
    const removed = this.pulled.size;
    this.pulled.clear();
    return { removed, freedBytes: removed * 7 };
  }
}

interface World extends AsyncDisposable {
  readonly fixture: StoreFixture;
  readonly files: CargoFiles;
  readonly stored: StoredFiles;
  readonly images: FakeImages;
  readonly log: FakeLog;
}

async function open(): Promise<World> {
  const fixture = await StoreFixture.make();
  fixture.server.on("/models/chat.gguf", file(GGUF));
  HubRepository.on(fixture.server, "owner/repo", { "config.json": CONFIG, "onnx/model.onnx": GRAPH });
  const images = new FakeImages();
  const log = new FakeLog();
  const names = await openCargoNames(fixture.directory);
  const { models, folders } = await fixture.openFolders();
  const stores = [...modelArtifacts(models, folders), imageArtifacts(images)];
  const files = openCargoFiles(stores, names, openDownloadWatch(new ManualClock(), log));
  const close = async (): Promise<void> => {
    await names.close();
    await fixture[Symbol.asyncDispose]();
  };
  return {
    fixture,
    files,
    images,
    log,
    stored: openStoredFiles(
      stores,
      names,
      () => files.users,
      async () => undefined,
    ),
    [Symbol.asyncDispose]: close,
  };
}

/** Downloads all three artifacts. */
async function fill({ files }: World): Promise<void> {
  for (const cargo of [chat, sentiment, container]) (await files.acquire(cargo, NEVER, nothing)).release();
}

describe("CargoFiles", () => {
  it("downloads and verifies a model's adapters, and keeps them as long as the model", async () => {
    await using world = await open();
    const { files, fixture } = world;
    fixture.server.on("/models/tune.gguf", file(makeBytes(3_000, "another")));
    await expect(files.acquire(tuned, NEVER, nothing)).rejects.toMatchObject({ code: "model_hash_mismatch" });
    expect([files.bytesOnDisk(chat), files.bytesOnDisk(tuned)]).toEqual([10_000, null]);
    fixture.server.on("/models/tune.gguf", file(ADAPTER));
    const lease = await files.acquire(tuned, NEVER, nothing);
    expect(files.bytesOnDisk(tuned)).toBe(13_000);
    const [adapter = ""] = lease.adapterPaths ?? [];
    expect(await readFile(adapter)).toEqual(ADAPTER);
    expect(lease.path).not.toBe(adapter);
    await world.stored.prune();
    expect(files.bytesOnDisk(tuned)).toBe(13_000);
    lease.release();
    await world.stored.prune();
    expect(files.bytesOnDisk(tuned)).toBeNull();
  });

  it("downloads the projector of a model, and reports both as on disk only together", async () => {
    await using world = await open();
    const { files, fixture } = world;
    const seeing = { ...chat, slug: "seeing", projector: PROJECTOR };
    (await files.acquire(chat, NEVER, nothing)).release();
    expect(files.bytesOnDisk(seeing)).toBeNull();
    fixture.server.on(PROJECTOR.url, file(PROJECTOR_BYTES));
    const lease = await files.acquire(seeing, NEVER, nothing);
    expect(await readFile(lease.projectorPath ?? "")).toEqual(PROJECTOR_BYTES);
    expect(files.bytesOnDisk(seeing)).toBe(GGUF.length + PROJECTOR_BYTES.length);
    lease.release();
  });

  it("leases the files of a split model in one folder, with the names that llama.cpp expects", async () => {
    await using world = await open();
    const { files, fixture } = world;
    fixture.server.on("/models/second.gguf", file(makeBytes(SECOND.length, "tampered")));
    fixture.server.on(PROJECTOR.url, file(PROJECTOR_BYTES));
    await expect(files.acquire(split, NEVER, nothing)).rejects.toMatchObject({
      code: "model_hash_mismatch",
      message: expect.stringContaining("model-00002-of-00002.gguf") as string,
    });
    expect([files.bytesOnDisk(split), files.cachedModels()]).toEqual([null, []]);
    fixture.server.on("/models/second.gguf", file(SECOND));
    const lease = await files.acquire(split, NEVER, nothing);
    const folder = dirname(lease.path ?? "");
    expect(basename(lease.path ?? "")).toBe("model-00001-of-00002.gguf");
    expect((await readdir(folder)).toSorted()).toEqual([
      "mmproj.gguf",
      "model-00001-of-00002.gguf",
      "model-00002-of-00002.gguf",
    ]);
    expect(await readFile(join(folder, "model-00002-of-00002.gguf"))).toEqual(SECOND);
    expect(lease.projectorPath).toBe(join(folder, "mmproj.gguf"));
    const bytes = GGUF.length + SECOND.length + PROJECTOR_BYTES.length;
    expect([files.bytesOnDisk(split), files.cachedModels()]).toEqual([bytes, [{ key: sha256(GGUF), bytes }]]);
    lease.release();
    await world.stored.remove(sha256(GGUF));
    expect(files.bytesOnDisk(split)).toBeNull();
  });

  it("refuses a split model whose files do not fit together before the first byte", async () => {
    await using world = await open();
    const huge = { ...split, parts: [{ url: "/models/second.gguf", sha256: sha256(SECOND), sizeBytes: 99_995_000 }] };
    expect(world.files.refusalOf(huge)?.message).toContain("The model needs");
    await expect(world.files.acquire(huge, NEVER, nothing)).rejects.toThrow("The model needs");
    expect(world.fixture.server.requests).toEqual([]);
  });

  it("downloads the file, folder or image of a Cargo, and lists it afterwards", async () => {
    await using world = await open();
    const { files, images } = world;
    const [one, folder, image] = [
      await files.acquire(chat, NEVER, nothing),
      await files.acquire(sentiment, NEVER, nothing),
      await files.acquire(container, NEVER, nothing),
    ];
    expect(one.path).toMatch(/\.gguf$/);
    expect(folder.path).toContain("leases");
    expect(image.path).toBeNull();
    expect([chat, sentiment, container].map((cargo) => files.bytesOnDisk(cargo))).toEqual([10_000, 20_002, 7]);
    expect(files.users).toEqual(new Set(["chat", "sentiment", "tool"]));
    for (const lease of [one, folder, image, image]) lease.release();
    expect(files.users).toEqual(new Set());
    expect(images.pulled.get(IMAGE)).toBe(0);
  });

  it("preloads images without removing others", async () => {
    await using world = await open();
    const { files, images } = world;
    const mayEvict: boolean[] = [];
    const acquire = images.acquire.bind(images);
    images.acquire = (slug, spec, ...[, , may = true]: [AbortSignal?, (() => void)?, boolean?]) => {
      mayEvict.push(may);
      return acquire(slug, spec);
    };
    await files.preload(container, NEVER, nothing);
    await files.pull({ ...container, slug: "other" }, NEVER, nothing);
    expect(images.pulled.get(IMAGE)).toBe(0);
    expect(mayEvict).toEqual([false, true]);
  });

  it("reports a folder as one model, with a separate key for other weights", async () => {
    await using world = await open();
    await fill(world);
    expect(world.files.cachedModels()).toEqual([
      { key: "hf:owner/repo fp32", bytes: 20_002 },
      { key: sha256(GGUF), bytes: 10_000 },
      { key: IMAGE, bytes: 7 },
    ]);
    expect(world.files.bytesOnDisk({ ...sentiment, weights: "q8" })).toBeNull();
  });

  it("reports a folder's download as one, and releases its files after a failure", async () => {
    await using world = await open();
    const { files, fixture } = world;
    const hub = HubRepository.on(fixture.server, "owner/repo", { "config.json": CONFIG, "onnx/model.onnx": GRAPH });
    fixture.server.on(hub.bytesAt("onnx/model.onnx"), file(GRAPH, { stallAfter: 10_000 }));
    const leave = new AbortController();
    const halfway = Promise.withResolvers<void>();
    const onProgress = (): void => {
      if ((files.downloads()[0]?.fraction ?? 0) >= 10_002 / 20_002) halfway.resolve();
    };
    const failure = files.acquire(sentiment, leave.signal, onProgress).catch((error: unknown) => error);
    await halfway.promise;
    expect(files.downloads()).toEqual([
      { slug: "sentiment", fraction: 10_002 / 20_002, receivedBytes: 10_002, totalBytes: 20_002, bytesPerSecond: null },
      { slug: "tool", fraction: 0.5, receivedBytes: 5, totalBytes: 10, bytesPerSecond: null },
    ]);
    leave.abort(new Error("enough"));
    await failure;
    expect(files.users).toEqual(new Set());
  });

  it("requires no files for a Cargo without a model, or for an image on a host without containers", async () => {
    await using fixture = await StoreFixture.make();
    const names = await openCargoNames(fixture.directory);
    const { models, folders } = await fixture.openFolders();
    const watch = openDownloadWatch(new ManualClock(), new FakeLog());
    const files = openCargoFiles(modelArtifacts(models, folders), names, watch);
    expect((await files.acquire(makeManifest(), NEVER, nothing)).path).toBeNull();
    expect((await files.acquire(container, NEVER, nothing)).path).toBeNull();
    await names.close();
  });
});

describe("StoredFiles", () => {
  it("lists artifacts with their Cargos and users, even after a restart", async () => {
    await using world = await open();
    await fill(world);
    const lease = await world.files.acquire(sentiment, NEVER, nothing);
    const seen = world.stored.list().map(({ kind, cargos, usedBy, inUse, bytes }) => ({
      kind,
      cargos,
      usedBy,
      inUse,
      bytes,
    }));
    expect(seen).toEqual([
      { kind: "folder", cargos: ["sentiment"], usedBy: ["sentiment"], inUse: true, bytes: 20_002 },
      { kind: "file", cargos: ["chat"], usedBy: [], inUse: false, bytes: 10_000 },
      { kind: "image", cargos: ["tool"], usedBy: [], inUse: false, bytes: 7 },
    ]);
    lease.release();
    const names = await openCargoNames(world.fixture.directory);
    expect(names.cargosOf(sha256(GGUF))).toEqual(["chat"]);
  });

  it("removes by slug or key, and refuses artifacts in use, naming the users", async () => {
    await using world = await open();
    await fill(world);
    const { stored, files } = world;
    const lease = await files.acquire(chat, NEVER, nothing);
    await expect(stored.remove("chat")).rejects.toThrow("chat is in use by a job or download of chat");
    await expect(stored.remove(sha256(GGUF))).rejects.toThrow("is in use by a job or download of chat");
    lease.release();
    expect(await stored.remove("chat")).toBe(10_000);
    expect(await stored.remove("hf:owner/repo fp32")).toBe(20_002);
    expect(await stored.remove(IMAGE)).toBe(7);
    expect(stored.list()).toEqual([]);
    await expect(stored.remove("chat")).rejects.toThrow('No model or image on disk has the name "chat"');
  });

  it("prunes all artifacts except those in use", async () => {
    await using world = await open();
    await fill(world);
    const lease = await world.files.acquire(sentiment, NEVER, nothing);
    expect(await world.stored.prune()).toBe(10_007);
    expect(world.stored.list()).toMatchObject([{ kind: "folder", isWhole: true, inUse: true }]);
    lease.release();
    expect(await world.stored.prune()).toBe(20_002);
    expect(world.stored.list()).toEqual([]);
    expect(await readdir(join(world.fixture.directory, "folders", "lists"))).toEqual([]);
  });

  it("lists the part of an interrupted download, and removes it", async () => {
    await using world = await open();
    world.fixture.server.on("/models/chat.gguf", file(GGUF, { stallAfter: 4_000 }));
    const leave = new AbortController();
    const failure = world.files
      .acquire(chat, leave.signal, () => {
        if (world.files.downloads().some(({ fraction }) => fraction === 0.4)) leave.abort(new Error("enough"));
      })
      .catch((error: unknown) => error);
    await failure;
    await expect.poll(() => world.stored.list()).toMatchObject([{ kind: "part", bytes: 4_000, isWhole: false }]);
    await expect.poll(() => world.stored.remove(sha256(GGUF)).catch(() => 0)).toBe(4_000);
    expect(world.stored.list()).toEqual([]);
  });
});
