import { afterAll, beforeAll, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { unlessSeveral } from "../support/network/several-coordinators.ts";
import { makeCatalog } from "../support/small-catalog.ts";

const CARGOS = ["slugify", "tiny-classify", "tiny-embed", "tiny-picture"];

let network: Network;
let key: string;
beforeAll(async () => {
  network = await Network.open(["--catalog-directory", makeCatalog(["tiny-chat", ...CARGOS])]);
  ({ key } = network.createAccount("client@example.com"));
  for (const name of ["one", "two"]) {
    const { islandToken } = network.createAccount(`${name}@example.com`, 0);
    await network.startIsland(name, islandToken, { "cargos.allow_runtimes": "wasm,onnx,diffusers" });
  }
}, 120_000);
afterAll(() => network[Symbol.asyncDispose]());

const [title, options] = unlessSeveral(
  "another owner's Island gets the same result",
  "a coordinator asks only readers that are connected to it",
);

it.each(CARGOS)(`${title}: %s`, { ...options, timeout: 120_000 }, async (workload) => {
  const { example_input: input } = (await call(network.url, key, "GET", `/cargos/${workload}`)).body.data;
  const { id } = (await call(network.url, key, "POST", "/jobs", { workload, input })).body.data;
  const { status } = (await call(network.url, key, "GET", `/jobs/${id}?wait=60`)).body.data;
  expect(status).toBe("completed");
  const verdictOf = async () => (await call(network.url, key, "GET", `/jobs/${id}`)).body.data.verification?.verdict;
  await expect.poll(verdictOf, { timeout: 60_000 }).toBe("consistent");
});
