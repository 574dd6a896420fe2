import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { imageReference, type ContainerSpec } from "../../../../../shared/cargo.ts";
import { systemClock } from "../../../../../shared/clock.ts";
import type { DownloadProgress } from "../../../../../island-agent/models/download/transfer.ts";
import { findEngine } from "../../../../../island-agent/runtimes/container/find-engine.ts";
import { ImageStore } from "../../../../../island-agent/runtimes/container/image-store.ts";
import { busyboxRoot, TEST_IMAGE, type TestEngine } from "../../../../support/servers/container-engine.ts";
import { ImageRegistry } from "../../../../support/servers/image-registry.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { ContainerWorld, makeCargo, NEVER } from "./container-support.ts";

/** A real engine pulls the images from a registry on this machine. */
export function describeImages(engine: () => TestEngine): void {
  describe("ImageStore", () => {
    let registry: ImageRegistry;
    let world: ContainerWorld;
    let images: ImageStore;
    beforeAll(async () => {
      registry = await ImageRegistry.start();
    });
    afterAll(() => registry.close());
    const allow = (): { allowedRegistries: string[] } => ({ allowedRegistries: ["docker.io", registry.host] });
    beforeEach(async () => {
      world = await ContainerWorld.open(engine(), {}, allow());
      images = world.images;
      registry.blobRequests.length = 0;
      registry.faults.clear();
    });
    afterEach(async () => {
      await images.prune();
      await world.close();
    });

    let repositories = 0;
    /** Publishes a small image that was not pulled yet. */
    const publish = (bytes = 2_000): { spec: ContainerSpec; repository: string } => {
      const repository = `tests/image-${++repositories}`;
      const content = randomBytes(bytes);
      const layers = [[{ path: "first", content }], [{ path: "second", content: randomBytes(bytes) }]];
      const digest = registry.publish(repository, "1", layers);
      return { repository, spec: specOf(`${registry.host}/${repository}:1`, digest) };
    };

    it("pulls an image by its digest, with progress, and runs it", async () => {
      const unique = { path: "unique", content: randomBytes(16) };
      const digest = registry.publish("tests/busybox", "1", [[...(await busyboxRoot()), unique]]);
      const image = `${registry.host}/tests/busybox:1`;
      const progress: DownloadProgress[] = [];
      const lease = await images.acquire("a-container", specOf(image, digest), NEVER, (step) => progress.push(step));
      expect(lease.image.repoDigests).toContain(`${registry.host}/tests/busybox@${digest}`);
      expect(progress.at(-1)?.totalBytes).toBeGreaterThan(500_000);
      expect(progress.at(-1)).toEqual({
        receivedBytes: progress.at(-1)?.totalBytes,
        totalBytes: progress.at(-1)?.totalBytes,
      });
      const bytes = progress.map(({ receivedBytes }) => receivedBytes);
      expect(bytes).toEqual([...bytes].sort((one, other) => one - other));
      expect(images.list()).toMatchObject([{ key: imageReference(specOf(image, digest)), inUse: true }]);
      const { output } = await world.run(makeCargo(`echo '{"type":"done","output":7}'`, { image, digest }));
      expect(output).toBe(7);
      lease.release();
    });

    it("pulls an image once for all Cargos", async () => {
      const { spec } = publish();
      const leases = await Promise.all(["one", "other"].map((slug) => images.acquire(slug, spec, NEVER)));
      expect(new Set(registry.blobRequests).size).toBe(registry.blobRequests.length);
      const requests = registry.blobRequests.length;
      leases.push(await images.acquire("third", spec, NEVER));
      expect(registry.blobRequests).toHaveLength(requests);
      expect(await images.remove(imageReference(spec))).toBe("in_use");
      for (const lease of leases) lease.release();
      expect(await images.remove(imageReference(spec))).toBe("removed");
      expect(await images.remove(imageReference(spec))).toBe("absent");
    });

    it("pulls the tag's current image if the Cargo has no digest", async () => {
      const { spec } = publish();
      const lease = await images.acquire("a", { ...spec, digest: null }, NEVER);
      expect(lease.image.repoDigests).toEqual([expect.stringContaining(spec.digest ?? "")]);
      lease.release();
    });

    it("uses an image that the engine already has, without listing or removing it", async () => {
      const lease = await images.acquire("a", specOf(TEST_IMAGE, null), NEVER);
      lease.release();
      expect(images.list()).toEqual([]);
      expect(await images.prune()).toEqual({ removed: 0, freedBytes: 0 });
      expect(await engine().docker.getImage(TEST_IMAGE).inspect()).toBeDefined();
    });

    it("lists a running download for each waiting Cargo", async () => {
      const { spec, repository } = publish();
      registry.faults.set(repository, "stalled");
      const stop = new AbortController();
      const waiting = ["one", "other"].map((slug) => images.acquire(slug, spec, stop.signal));
      const outcomes = Promise.allSettled(waiting);
      await registry.stalled(repository);
      const key = imageReference(spec);
      const slugs = (): string[] => images.downloads().map(({ slug }) => slug);
      await expect.poll(() => slugs().sort()).toEqual(["one", "other"]);
      expect(images.downloads()[0]).toMatchObject({ key });
      expect(await images.remove(key)).toBe("in_use");
      stop.abort(new Error("not wanted"));
      expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      await expect(waiting[0]).rejects.toThrow("not wanted");
    });

    it("aborts a stalled pull, and completes it at the next request", async () => {
      const { spec, repository } = publish();
      const clock = new ManualClock();
      const stalling = await ContainerWorld.open(engine(), {}, { ...allow(), clock, stallMs: 60_000 });
      registry.faults.set(repository, "stalled");
      const outcome = expect(stalling.images.acquire("a", spec, NEVER)).rejects.toMatchObject({
        code: "model_unavailable",
        retryable: true,
        message: expect.stringContaining("has stalled: no progress for 60 s"),
      });
      await registry.stalled(repository);
      await expect
        .poll(() => {
          clock.advance(60_000);
          return stalling.images.downloads();
        })
        .toEqual([]);
      await outcome;
      registry.faults.clear();
      const lease = await stalling.images.acquire("a", spec, NEVER);
      lease.release();
      await stalling.images.prune();
      await stalling.close();
    });

    it.each([
      ["unauthorized", { code: "model_unavailable", retryable: false }],
      ["unavailable", { code: "model_unavailable", retryable: true }],
      ["other manifest", { code: "model_hash_mismatch", retryable: false }],
    ] as const)("reports why an image is unavailable: %s", async (fault, failure) => {
      const { spec, repository } = publish();
      registry.faults.set(repository, fault);
      await expect(images.acquire("a", spec, NEVER)).rejects.toMatchObject({ name: "JobFailure", ...failure });
      expect(images.list()).toEqual([]);
    });

    it("reports an image that does not exist", async () => {
      const digest = `sha256:${"0".repeat(64)}`;
      for (const spec of [
        specOf(`${registry.host}/tests/none:1`, null),
        specOf(`${registry.host}/tests/none:1`, digest),
      ]) {
        await expect(images.acquire("a", spec, NEVER)).rejects.toMatchObject({
          code: "model_unavailable",
          retryable: false,
          message: expect.stringMatching(/^The image .*\/tests\/none:1 could not be pulled: .*(unknown|not found)/),
        });
      }
    });

    it("sends no request to a registry that is not allowed", async () => {
      const { spec } = publish();
      const strict = await ContainerWorld.open(engine(), {}, { allowedRegistries: [`${registry.host}/test`] });
      await expect(strict.images.acquire("a", spec, NEVER)).rejects.toMatchObject({
        code: "model_unavailable",
        retryable: true,
        message: expect.stringContaining("may not pull"),
      });
      expect(registry.blobRequests).toEqual([]);
      await strict.close();
    });

    it("refuses an image before the pull if the engine's disk lacks space", async () => {
      const full = await ContainerWorld.open(engine(), {}, { ...allow(), minFreeBytes: 1e15 });
      const { spec } = publish();
      const lack = /^The image needs space on disk\. .* must stay free \(models\.min_free_gb\)/;
      const refused = { code: "disk_full", retryable: true, message: expect.stringMatching(lack) };
      await expect(full.images.acquire("a", spec, NEVER)).rejects.toMatchObject(refused);
      expect(() => full.images.assertFits(spec)).toThrow(lack);
      expect(full.images.spareBytes()).toBeLessThan(0);
      expect(registry.blobRequests).toEqual([]);
      await full.close();
    });

    it("removes the least recently used image to stay within its budget, but never one in use", async () => {
      const tight = await ContainerWorld.open(engine(), {}, { ...allow(), budgetBytes: 2_500 * 4 });
      const [first, second, third] = [publish(), publish(), publish()];
      const held = await tight.images.acquire("a", first.spec, NEVER);
      for (const { spec } of [second, third]) (await tight.images.acquire("a", spec, NEVER)).release();
      const keys = tight.images.list().map(({ key }) => key);
      expect(keys).toEqual([imageReference(first.spec), imageReference(third.spec)]);
      await expect(engine().docker.getImage(nameOf(second.spec)).inspect()).rejects.toMatchObject({ statusCode: 404 });
      held.release();
      expect(await tight.images.prune()).toMatchObject({ removed: 2 });
      await tight.close();
    });

    it("lists its images after a restart", async () => {
      const { spec } = publish();
      (await images.acquire("a", spec, NEVER)).release();
      await images.close();
      expect(JSON.parse(await readFile(join(world.directory, "images.json"), "utf8"))).toMatchObject({ version: 1 });
      const again = await ImageStore.open({ ...storeOptions(world, engine()), ...allow() });
      expect(again.list()).toMatchObject([{ key: imageReference(spec), inUse: false }]);
      expect(await again.prune()).toMatchObject({ removed: 1 });
      expect(again.list()).toEqual([]);
      await again.close();
    });

    it("forgets an image that was removed elsewhere", async () => {
      const { spec } = publish();
      (await images.acquire("a", spec, NEVER)).release();
      await engine().docker.getImage(nameOf(spec)).remove();
      expect(images.list()).toHaveLength(1);
      await images.reconcile(NEVER);
      expect(images.list()).toEqual([]);
    });

    it('returns "absent" for an image that was removed elsewhere', async () => {
      const { spec } = publish();
      (await images.acquire("a", spec, NEVER)).release();
      await engine().docker.getImage(nameOf(spec)).remove();
      expect(await images.remove(imageReference(spec))).toBe("absent");
      expect(images.list()).toEqual([]);
    });

    it("stops its pulls when it is closed", async () => {
      const { spec, repository } = publish();
      registry.faults.set(repository, "stalled");
      const outcome = expect(images.acquire("a", spec, NEVER)).rejects.toMatchObject({ code: "shutting_down" });
      await registry.stalled(repository);
      await images.close();
      await outcome;
      await expect(images.acquire("a", spec, NEVER)).rejects.toMatchObject({ code: "shutting_down" });
    });
  });
}

function specOf(image: string, digest: string | null): ContainerSpec {
  return { image, digest, command: null, gpu: false, network: false };
}

function nameOf({ image, digest }: ContainerSpec): string {
  return `${image.slice(0, image.lastIndexOf(":"))}@${digest}`;
}

function storeOptions(world: ContainerWorld, { host }: TestEngine): Parameters<typeof ImageStore.open>[0] {
  const search = { environment: { DOCKER_HOST: host }, platform: process.platform };
  return {
    directory: world.directory,
    budgetBytes: 1e9,
    minFreeBytes: 0,
    allowedRegistries: [],
    clock: systemClock,
    findEngine: async (signal) => (await findEngine(search, systemClock, signal)).engine,
  };
}
