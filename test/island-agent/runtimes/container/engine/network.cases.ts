import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../../../../island-agent/execution/island-reports.ts";
import { call } from "../../../../support/http/http.ts";
import { TEST_IMAGE, type TestEngine } from "../../../../support/servers/container-engine.ts";
import { Network } from "../../../../support/network/network.ts";
import type { Program } from "../../../../support/program.ts";

const SCRIPT = `read -r job; echo '{"type":"progress","step":1,"total":1}'; echo "{\\"type\\":\\"done\\",\\"output\\":$job}"`;
const CARGO = {
  slug: "echo-container",
  name: "Echo",
  description: "Returns its input.",
  category: "utility",
  runtime_type: "container",
  licence: "MIT",
  price_per_job: 0,
  required_ram_mb: 64,
  required_vram_mb: 0,
  memory: { working_mb: 64 },
  container: { image: TEST_IMAGE, digest: null, command: ["/bin/sh", "-c", SCRIPT], gpu: false, network: false },
  input_schema: { type: "object" },
  example_input: {},
  output_schema: { type: "object" },
};

const RUNTIMES = { "cargos.allow_runtimes": "container" };

/** Runs a container Cargo from the API to the engine, with each program in a separate process. */
export function describeNetwork(engine: () => TestEngine): void {
  describe("a network with an Island that runs containers", () => {
    let network: Network;
    let account: { key: string; islandToken: string };
    let island: Program;
    let hostId: string;
    /** Containers of this Island, regardless of their state. */
    const containers = async (): Promise<string[]> => {
      const filters = { label: [`org.atoll.island=${hostId}`] };
      return (await engine().docker.listContainers({ all: true, filters })).map(({ Id }) => Id);
    };
    const start = (): Promise<Program> =>
      network.startIsland("one", account.islandToken, RUNTIMES, { DOCKER_HOST: engine().host });
    const submit = async (input: object): Promise<{ status: string; output: unknown }> => {
      const { body } = await call(network.url, account.key, "POST", "/jobs", { workload: CARGO.slug, input });
      return (await call(network.url, account.key, "GET", `/jobs/${body.data.id}?wait=60`)).body.data;
    };

    beforeAll(async () => {
      network = await Network.open();
      const file = join(network.directory, "echo.json");
      await writeFile(file, JSON.stringify(CARGO));
      const imported = await network.run("cargo", "import", file);
      expect(imported.stderr).toBe("");
      account = network.createAccount("host@example.com");
      island = await start();
      ({ hostId } = await network.islandStatus<AgentStatus>("one"));
    }, 120_000);
    afterAll(() => network[Symbol.asyncDispose]());

    it("runs a job, and leaves no containers after the Island is killed or stopped", async () => {
      expect(await submit({ a: 1 })).toMatchObject({ status: "completed", output: { a: 1 } });
      expect((await containers()).length).toBeGreaterThan(0);
      island.kill("SIGKILL");
      await island.ended();
      island = await start();
      expect(await containers()).toEqual([]);
      expect(await submit({ b: 2 })).toMatchObject({ status: "completed", output: { b: 2 } });
      island.kill("SIGTERM");
      await island.ended();
      expect(await containers()).toEqual([]);
    }, 180_000);
  });
}
