import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { makeCatalog } from "../support/small-catalog.ts";

const CARGOS = { llmcpp: "tiny-chat", onnx: "tiny-classify", diffusers: "tiny-picture", wasm: "slugify" } as const;

describe("an Island with every native runtime", () => {
  let network: Network;
  let key: string;
  beforeAll(async () => {
    network = await Network.open(["--catalog-directory", makeCatalog(Object.values(CARGOS))]);
    const account = network.createAccount("client@example.com");
    key = account.key;
    const runtimes = Object.keys(CARGOS).join(",");
    await network.startIsland("island", account.islandToken, { "cargos.allow_runtimes": runtimes });
  });
  afterAll(() => network[Symbol.asyncDispose]());

  it.each(Object.entries(CARGOS))("runs a job on %s: %s", async (runtime, workload) => {
    const { runtime_type: type, example_input: input } = (await call(network.url, key, "GET", `/cargos/${workload}`))
      .body.data;
    expect(type).toBe(runtime);
    const { id } = (await call(network.url, key, "POST", "/jobs", { workload, input })).body.data;
    const job = (await call(network.url, key, "GET", `/jobs/${id as string}?wait=60`)).body.data;
    expect(job).toMatchObject({ workload_slug: workload, status: "completed" });
    expect(job.output).not.toBeNull();
  });
});
