import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCargoFiles, type CargoFiles } from "../../../island-agent/artifacts/cargo-files.ts";
import { openDownloadWatch } from "../../../island-agent/artifacts/download-watch.ts";
import { modelArtifacts } from "../../../island-agent/artifacts/model-artifacts.ts";
import { openCargoNames, type CargoNames } from "../../../island-agent/artifacts/cargo-names.ts";
import { DiskFullError } from "../../../island-agent/disk/disk-full-error.ts";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { systemClock } from "../../../shared/clock.ts";
import { FakeLog, makeManifest } from "../builders.ts";
import { file, makeBytes, sha256 } from "../models/file-server.ts";
import { HubRepository } from "../models/hub-repository.ts";
import { NEVER, StoreFixture } from "../models/store-fixture.ts";

const nothing = (): void => undefined;
const anything = (): boolean => true;
let fixture: StoreFixture;
let names: CargoNames;
let files: CargoFiles;

beforeEach(async () => {
  fixture = await StoreFixture.make();
  names = await openCargoNames(fixture.directory);
  const { models, folders } = await fixture.openFolders({ budgetBytes: 10_000 });
  files = openCargoFiles(modelArtifacts(models, folders), names, openDownloadWatch(systemClock, new FakeLog()));
});
afterEach(async () => {
  await names.close();
  await fixture[Symbol.asyncDispose]();
});

/** A Cargo whose file the server serves. */
function serve(slug: string, bytes: number, isSizeKnown = true): CargoManifest {
  const content = makeBytes(bytes, slug);
  fixture.server.on(`/models/${slug}`, file(content));
  const sizeBytes = isSizeKnown ? bytes : null;
  return makeManifest({ slug, model: { url: `/models/${slug}`, sha256: sha256(content), sizeBytes } });
}
const isOnDisk = (...cargos: CargoManifest[]): boolean[] => cargos.map((cargo) => files.bytesOnDisk(cargo) !== null);
const runJob = async (cargo: CargoManifest): Promise<void> => (await files.acquire(cargo, NEVER, nothing)).release();
const preload = (cargo: CargoManifest): Promise<void> => files.preload(cargo, NEVER, nothing);

describe("preload eviction", () => {
  it("keeps artifacts that a job has used, whatever downloaded them", async () => {
    const [used, brought, next] = [serve("used", 4_000), serve("brought", 4_000), serve("next", 3_000)];
    await runJob(used);
    await preload(brought);
    await runJob(brought);
    expect(await files.freeSpace(next, anything)).toBe(1_000);
    expect(isOnDisk(used, brought)).toEqual([true, true]);
  });

  it("frees the size of a model with its adapters", async () => {
    await runJob(serve("used", 4_000));
    const adapters = [{ url: "/models/tune", sha256: "0".repeat(64), sizeBytes: 2_000, scale: 1 }];
    expect(await files.freeSpace({ ...serve("tuned", 5_000), adapters }, anything)).toBe(1_000);
  });

  it("keeps artifacts that the owner pulled", async () => {
    const [pulled, next] = [serve("pulled", 8_000), serve("next", 3_000)];
    await files.pull(pulled, NEVER, nothing);
    expect(await files.freeSpace(next, anything)).toBe(1_000);
  });

  it("deletes unused earlier preloads, the oldest first and no more than necessary", async () => {
    const [one, two, next] = [serve("one", 4_000), serve("two", 4_000), serve("next", 3_000)];
    await preload(one);
    await preload(two);
    expect(await files.freeSpace(next, anything)).toBe(0);
    await preload(next);
    expect(isOnDisk(one, two, next)).toEqual([false, true, true]);
  });

  it("keeps wanted models, and evicts nothing if that would still not free enough space", async () => {
    const [one, two, large] = [serve("one", 4_000), serve("two", 4_000), serve("large", 7_000)];
    await preload(one);
    await preload(two);
    expect(await files.freeSpace(large, (slug) => slug !== "one")).toBe(5_000);
    expect(isOnDisk(one, two)).toEqual([true, true]);
  });

  it("deletes a folder as a whole", async () => {
    const graph = makeBytes(6_000, "graph");
    HubRepository.on(fixture.server, "owner/repo", { "config.json": Buffer.from("{}"), "onnx/model.onnx": graph });
    const model = { url: "hf:owner/repo", sha256: null, sizeBytes: null };
    const folder = makeManifest({ slug: "folder", runtimeType: "onnx", model, weights: "fp32" });
    await preload(folder);
    expect(await files.freeSpace(serve("next", 9_000), anything)).toBe(0);
    expect(isOnDisk(folder)).toEqual([false]);
  });

  it("does not count the part of an interrupted download again", async () => {
    const cargo = serve("a", 9_000);
    fixture.server.on("/models/a", file(makeBytes(9_000, "a"), { stallAfter: 5_000 }));
    const leave = new AbortController();
    const broken = files.preload(cargo, leave.signal, () => {
      if ((files.downloads()[0]?.fraction ?? 0) > 0.5) leave.abort(new Error("enough"));
    });
    await expect(broken).rejects.toThrow("enough");
    expect(await files.freeSpace(cargo, anything)).toBe(0);
  });
});

describe("preload eviction for an unknown size", () => {
  it("evicts nothing for a download that proves too large, deletes its part, and does not retry it with the same free space", async () => {
    const [used, large] = [serve("used", 4_000), serve("large", 7_000, false)];
    await runJob(used);
    expect(await files.freeSpace(large, anything)).toBe(0);
    await expect(preload(large)).rejects.toBeInstanceOf(DiskFullError);
    expect(isOnDisk(used, large)).toEqual([true, false]);
    expect(await files.freeSpace(large, anything)).toBeGreaterThan(0);
    await runJob(large);
    expect(isOnDisk(used, large)).toEqual([false, true]);
  });

  it("evicts nothing for a folder", async () => {
    const used = serve("used", 4_000);
    await runJob(used);
    const graph = makeBytes(7_000, "graph");
    HubRepository.on(fixture.server, "owner/repo", { "config.json": Buffer.from("{}"), "onnx/model.onnx": graph });
    const model = { url: "hf:owner/repo", sha256: null, sizeBytes: null };
    await expect(preload(makeManifest({ slug: "f", runtimeType: "onnx", model }))).rejects.toBeInstanceOf(
      DiskFullError,
    );
    expect(isOnDisk(used)).toEqual([true]);
  });
});
