import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Atoll,
  Atoll as AtollClient,
  AtollError,
  JobFailedError,
  type StreamedEvent,
} from "../../sdk/typescript/src/index.ts";
import { startTestEngine, TEST_IMAGE, type TestEngine } from "../support/container-engine.ts";
import { call } from "../support/http.ts";
import { Network } from "../support/network.ts";
import type { Program } from "../support/program.ts";

/** Answers each line with itself, and says at the end how many there were. */
const ECHO = `
count=0
read -r job
while read -r line; do
  count=$((count + 1))
  echo "{\\"type\\":\\"token\\",\\"content\\":$line}"
done
echo "{\\"type\\":\\"done\\",\\"output\\":{\\"lines\\":$count}}"`;
/** Reads nothing but its input's first line. */
const DEAF = "read -r job; sleep 1000";
const REQUEST_S = 120;

const cargo = (slug: string, script: string): object => ({
  slug,
  name: slug,
  description: "Reads lines.",
  category: "utility",
  runtime_type: "container",
  licence: "MIT",
  price_per_job: 0.01,
  required_ram_mb: 48,
  required_vram_mb: 0,
  model: null,
  container: {
    image: TEST_IMAGE,
    digest: null,
    command: ["/bin/sh", "-c", script],
    gpu: false,
    network: false,
    interactive: true,
  },
  input_schema: { type: "object" },
  example_input: {},
});

describeSessions(await startTestEngine());

/** Clients, a coordinator, an Island's agent and a container engine, each as it is used. */
function describeSessions(engine: TestEngine): void {
  let network: Network;
  let atoll: Atoll;
  let island: Program;
  let islandToken: string;

  const startIsland = (name: string): Promise<Program> => {
    const settings = { "cargos.allow_runtimes": "container", "containers.registries": "docker.io/atoll" };
    return network.startIsland(name, islandToken, settings, { DOCKER_HOST: engine.host });
  };

  beforeAll(async () => {
    network = await Network.open();
    const account = network.createAccount("player@example.com");
    ({ islandToken } = account);
    atoll = new AtollClient({ baseUrl: network.url, apiKey: account.key });
    for (const file of [cargo("echo", ECHO), cargo("deaf", DEAF)]) {
      const { status, body } = await call(network.url, account.key, "POST", "/cargos", { ...file, enabled: true });
      expect([status, body.error]).toEqual([201, undefined]);
    }
    island = await startIsland("first");
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
    await engine.stop();
  });

  /** A running job, and its events as they come. */
  async function begin(workload: string): Promise<{ id: string; events: StreamedEvent[]; read: Promise<void> }> {
    const { id } = await atoll.jobs.submit({ workload, input: {} });
    const events: StreamedEvent[] = [];
    const read = (async () => {
      for await (const event of atoll.jobs.stream(id)) events.push(event);
    })();
    await expect.poll(async () => (await atoll.jobs.get(id)).status, { timeout: REQUEST_S * 1_000 }).toBe("running");
    return { id, events, read };
  }
  const texts = (events: readonly StreamedEvent[]): string[] =>
    events.flatMap((event) => (event.type === "token" ? [event.content] : []));
  const codeOf = (sending: Promise<unknown>): Promise<unknown> =>
    sending.then(
      () => null,
      (error: unknown) => (error instanceof AtollError ? error.code : error),
    );

  describe("an interactive job", () => {
    it("is talked with: each line is answered in its stream while the input stays open", async () => {
      const { id, events, read } = await begin("echo");
      expect(await atoll.jobs.send(id, { data: "one", seq: 1 })).toEqual({
        id,
        seq: 1,
        taken: true,
        repeated: false,
        waiting_bytes: 0,
      });
      await expect.poll(() => texts(events)).toEqual(["one"]);
      expect(await atoll.jobs.send(id, { data: "one", seq: 1 })).toMatchObject({ repeated: true });
      await atoll.jobs.send(id, { data: "zwei 🏝\nand a half" });
      await expect.poll(() => texts(events)).toEqual(["one", "zwei 🏝\nand a half"]);
      expect(await codeOf(atoll.jobs.send(id, { data: "five", seq: 5 }))).toBe("input_out_of_order");
      expect(await codeOf(atoll.jobs.send(id, {}))).toBe("validation_failed");
      expect(await atoll.jobs.send(id, { end: true })).toMatchObject({ seq: 3, taken: true });
      await read;
      expect(await atoll.jobs.wait(id)).toMatchObject({ status: "completed", output: { lines: 2 } });
      expect(await codeOf(atoll.jobs.send(id, { data: "late" }))).toBe("job_not_running");
    });

    it("is cancelled in mid-session, and its container is gone", async () => {
      const { id, read } = await begin("echo");
      await atoll.jobs.send(id, { data: "one" });
      await atoll.jobs.cancel(id);
      await read;
      expect(await codeOf(atoll.jobs.send(id, { data: "two" }))).toBe("job_not_running");
      // A warm one waits for the next job.
      await expect.poll(async () => (await engine.docker.listContainers()).length).toBe(1);
    });

    it("that does not read holds its client back", async () => {
      const { id, read } = await begin("deaf");
      const line = "x".repeat(250_000);
      let code: unknown = null;
      let sent = 0;
      // The program's pipe and the engine's buffers take some.
      for (; code === null && sent < 100; sent += 1)
        code = await codeOf(atoll.jobs.send(id, { data: line }, { maxRetries: 0 }));
      expect(code).toBe("rate_limited");
      await atoll.jobs.cancel(id);
      await read;
    });

    it("fails when its Island dies in mid-session, and says why it is not run again", async () => {
      const { id, events, read } = await begin("echo");
      await atoll.jobs.send(id, { data: "one" });
      await expect.poll(() => texts(events)).toEqual(["one"]);
      island.kill("SIGKILL");
      island = await startIsland("second");
      await read;
      const failure = await atoll.jobs.wait(id).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(JobFailedError);
      const job = await atoll.jobs.get(id);
      expect(job).toMatchObject({ status: "failed", attempts: 1, error: { code: "island_lost", retryable: true } });
      expect(job.error?.message).toContain("An interactive job is not run again");
      expect(texts(events)).toEqual(["one"]);
    });
  });
}
