import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ContainerRuntimeOptions } from "../../../../../island-agent/runtimes/container/container-runtime.ts";
import { startHostLikeEngine, type TestEngine } from "../../../../support/servers/container-engine.ts";
import { HOST_PUBLIC, NetworkWorld, WORLD } from "../../../../support/network/network-world.ts";
import { ContainerWorld, makeCargo, NEVER } from "./container-support.ts";

const EVERYWHERE = [WORLD.public, ...WORLD.privates, HOST_PUBLIC];
const REPORT_REACHABLE = `
read -r job
gateway=$(ip route | sed -n 's/^default via \\([0-9.]*\\).*/\\1/p')
${NetworkWorld.reachable([...EVERYWHERE, "$gateway"])} > /tmp/sorted
echo "{\\"type\\":\\"done\\",\\"output\\":\\"$(tr '\\n' ' ' < /tmp/sorted)\\"}"`;

describeEgress(await startHostLikeEngine());

function describeEgress(engine: TestEngine): void {
  const pid = engine.pid ?? 0;
  let network: NetworkWorld;
  beforeAll(async () => {
    network = await NetworkWorld.open(pid);
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
    await engine.stop();
  });

  const devicesFile = `/proc/${pid}/net/dev`;
  const open = (egress: Partial<ContainerRuntimeOptions["egress"]> = {}): Promise<ContainerWorld> => {
    const nft = network.onHost("nft");
    return ContainerWorld.open(engine, { egress: { platform: "linux", nft, devicesFile, ...egress } });
  };
  const reachable = async (world: ContainerWorld): Promise<string[]> => {
    const { output } = await world.run(makeCargo(REPORT_REACHABLE, { network: true }));
    return (output as string).trim().split(" ");
  };
  const tables = (): string => execFileSync(...split(network.onHost("nft", "list", "tables"))).toString();
  const ours = (): string[] => tables().match(/table inet atl[0-9a-f]{12}/g) ?? [];

  describe("a container with a network", () => {
    it("reaches the internet, but no private address, metadata service or host address", async () => {
      const world = await open();
      expect(await reachable(world)).toEqual([WORLD.public]);
      expect(ours()).toEqual([]);
      await world.close();
    }, 60_000);

    it("reaches all of them without the filter", async () => {
      const world = await open({ nft: ["/bin/true"] });
      expect(await reachable(world)).toEqual(expect.arrayContaining([...EVERYWHERE].sort()));
      await world.close();
    }, 60_000);

    it("starts behind the filter again after another program removed all rules", async () => {
      const world = await open();
      const cargo = makeCargo(REPORT_REACHABLE, { network: true });
      await using loaded = await world.load(cargo);
      await loaded.run({ input: {}, resume: null }, () => undefined, NEVER);
      for (const table of ours()) execFileSync(...split(network.onHost("nft", "delete", ...table.split(" "))));
      expect(ours()).toEqual([]);
      // The first of these containers may have started earlier. Later runs start new ones.
      await loaded.run({ input: {}, resume: null }, () => undefined, NEVER);
      const { output } = await loaded.run({ input: {}, resume: null }, () => undefined, NEVER);
      expect([(output as string).trim(), ours()]).toEqual([WORLD.public, [expect.stringContaining("table inet atl")]]);
      await loaded[Symbol.asyncDispose]();
      await world.close();
    }, 60_000);
  });

  describe("ContainerRuntime.networkProblem()", () => {
    const problemOf = async (egress: Partial<ContainerRuntimeOptions["egress"]>): Promise<string | null> => {
      const world = await open(egress);
      const problem = await world.runtime.networkProblem(NEVER);
      const loading = world.load(makeCargo("read -r job", { network: true }));
      if (problem !== null)
        await expect(loading).rejects.toMatchObject({ code: "runtime_unavailable", message: problem });
      else await loading;
      await world.close();
      return problem;
    };

    it("returns null if the filter works", async () => {
      expect(await problemOf({})).toBeNull();
    });

    it("returns what to do if the filter fails, and no Cargo with a network loads", async () => {
      const asUser = network.onHost(
        "/usr/bin/setpriv",
        "--reuid=65534",
        "--clear-groups",
        "--bounding-set=-all",
        "nft",
      );
      expect(await problemOf({ nft: asUser })).toMatch(/cannot be installed \(.*not permitted.*\); run the agent with/);
      expect(await problemOf({ nft: ["/nowhere/nft"] })).toMatch(/nftables is not installed/);
      expect(await problemOf({ platform: "darwin" })).toMatch(/the network filter requires Linux/);
      expect(await problemOf({ devicesFile: "/proc/self/net/dev" })).toMatch(
        /the engine runs on another machine or without root/,
      );
    }, 60_000);
  });
}

function split([program, ...args]: [string, ...string[]]): [string, string[]] {
  return [program, args];
}
