import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ContainerEngine } from "../../../../island-agent/runtimes/container/engine.ts";
import { ImageStore } from "../../../../island-agent/runtimes/container/image-store.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { NEVER } from "../../builders.ts";

const SPEC = { image: "docker.io/library/tool:1", digest: null, command: null, gpu: false, network: false };
const FAULT = "failed to register layer: write /usr/lib/x: no space left on device";

describe("ImageStore", () => {
  it("reports a full disk if an image does not fit unpacked, and refuses it until more space is free", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atoll-images-"));
    const socket = join(directory, "engine.sock");
    // An engine without images and without space for one.
    const engine = createServer((request, response) => {
      const path = request.url ?? "";
      if (path.startsWith("/info")) response.end(JSON.stringify({ NCPU: 1, DockerRootDir: directory }));
      else if (path.startsWith("/images/create")) response.end(`${JSON.stringify({ error: FAULT })}\n`);
      else response.writeHead(404).end("{}");
    });
    await new Promise<void>((resolve) => engine.listen(socket, resolve));
    const images = await ImageStore.open({
      directory: join(directory, "images"),
      budgetBytes: 1e12,
      // This exceeds the space that other programs may free during the test.
      minFreeBytes: 200_000_000,
      allowedRegistries: ["docker.io"],
      findEngine: () => ContainerEngine.at({ kind: "socket", path: socket }, systemClock),
      clock: systemClock,
    });
    try {
      images.assertFits(SPEC);
      await expect(images.acquire("tool", SPEC, NEVER)).rejects.toMatchObject({
        code: "disk_full",
        retryable: true,
        message: expect.stringContaining(FAULT),
      });
      expect(() => images.assertFits(SPEC)).toThrow("The image needs");
    } finally {
      await images.close();
      engine.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
