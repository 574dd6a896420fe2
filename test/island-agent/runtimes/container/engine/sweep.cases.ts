import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_IMAGE, type TestEngine } from "../../../../support/servers/container-engine.ts";
import { ContainerWorld, makeCargo, NEVER, TALKER } from "./container-support.ts";

/** The Island's own network, and the containers of its earlier processes. */
export function describeSweep(engine: () => TestEngine): void {
  let world: ContainerWorld;
  beforeAll(async () => {
    world = await ContainerWorld.open(engine());
  });
  afterAll(() => world.close());

  describe("ContainerRuntime", () => {
    it("connects a Cargo with network access to the Island's own network", async () => {
      await using loaded = await world.load(makeCargo(TALKER, { network: true }));
      const filters = { label: [`org.atoll.island=${world.islandId}`] };
      const [container] = await engine().docker.listContainers({ all: true, filters });
      expect(Object.keys(container?.NetworkSettings.Networks ?? {})).toEqual([`atoll-${world.islandId}`]);
      const network = engine().docker.getNetwork(`atoll-${world.islandId}`);
      expect(await network.inspect()).toMatchObject({
        Driver: "bridge",
        Options: { "com.docker.network.bridge.enable_icc": "false" },
      });
      const other = await world.load(makeCargo(TALKER, { network: true }));
      await loaded[Symbol.asyncDispose]();
      const result = await other.run({ input: {}, resume: null }, () => undefined, NEVER);
      expect(result).toMatchObject({ finishReason: "stop" });
      await other[Symbol.asyncDispose]();
      await expect(network.inspect()).rejects.toMatchObject({ statusCode: 404 });
    });

    it("starts containers with the configured engine runtime, and refuses an unknown one", async () => {
      const named = await ContainerWorld.open(engine(), { engineRuntime: "io.containerd.runc.v2" });
      await named.load(makeCargo(TALKER));
      const [id = ""] = await named.containerIds();
      const { HostConfig } = await engine().docker.getContainer(id).inspect();
      expect(HostConfig.Runtime).toBe("io.containerd.runc.v2");
      await named.close();
      const missing = await ContainerWorld.open(engine(), { engineRuntime: "atoll-none" });
      const reason = expect.stringMatching(
        /^containers\.runtime is atoll-none, but Docker .* knows .*runc.*\. Add it/,
      ) as string;
      expect(await missing.runtime.probe(NEVER)).toEqual({ usable: false, reason });
      await expect(missing.load(makeCargo(TALKER))).rejects.toMatchObject({ code: "runtime_unavailable" });
      await missing.close();
    });

    it.each([
      ["this Island did not create", false, {}],
      ["lets containers reach each other", true, {}],
      ["is not a plain bridge", true, { Internal: true }],
    ])("refuses, and keeps, a network of its name that %s", async (fault, isOwn, params) => {
      const name = `atoll-${world.islandId}`;
      const own = isOwn ? { Labels: { "org.atoll.island": world.islandId } } : {};
      const network = await engine().docker.createNetwork({ Name: name, Driver: "bridge", ...own, ...params });
      await expect(world.load(makeCargo(TALKER, { network: true }))).rejects.toMatchObject({
        code: "runtime_unavailable",
        retryable: true,
        message: `The container engine of this Island has a network ${name} that ${fault}. Its owner can remove the network`,
      });
      await world.runtime.sweep(NEVER);
      await network.remove();
    });

    it("removes the network of an earlier process of the same Island", async () => {
      const network = await engine().docker.createNetwork({
        Name: `atoll-${world.islandId}`,
        Driver: "bridge",
        Labels: { "org.atoll.island": world.islandId },
        Options: { "com.docker.network.bridge.enable_icc": "false" },
      });
      await world.runtime.sweep(NEVER);
      await expect(network.inspect()).rejects.toMatchObject({ statusCode: 404 });
    });

    it("removes only the containers of an earlier process of the same Island", async () => {
      await world.unload();
      const { docker } = engine();
      const leave = (islandId: string) =>
        docker.createContainer({
          Image: TEST_IMAGE,
          Cmd: ["/bin/sleep", "1000"],
          Labels: { "org.atoll.island": islandId },
        });
      await (await leave(world.islandId)).start();
      await leave(world.islandId);
      const stranger = await leave("another");
      await using loaded = await world.load(makeCargo(TALKER));
      await leave(world.islandId);
      expect(await world.runtime.sweep(NEVER)).toBe(1);
      expect(await world.containers()).toBe(loaded.warmContainers);
      expect(await stranger.inspect()).toBeDefined();
      await stranger.remove();
    });
  });
}
