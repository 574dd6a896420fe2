import { CohereClientV2 } from "cohere-ai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ClientNetwork } from "../support/client-network.ts";

const DOCUMENTS = ["the bank lends money", "an atoll is made of coral", "bread is baked in an oven"];

describe("Cohere · rerank", () => {
  let net: ClientNetwork;
  beforeAll(async () => {
    net = await ClientNetwork.open();
    await net.startEmbedder();
  });
  beforeEach(() => net.recorder.clear());
  afterAll(() => net[Symbol.asyncDispose]());

  const rerank = (model: string, token = net.key, documents = DOCUMENTS) =>
    new CohereClientV2({ environment: net.url, token }).rerank({
      model,
      query: "the reef was built by corals",
      documents,
      topN: 2,
    });
  const statuses = () => net.recorder.modelRequests.map(({ path, status }) => [path, status]);

  it("rerank", async () => {
    const { results } = await rerank("tiny-embed");
    expect(results.map(({ index }) => index)).toEqual([1, expect.any(Number)]);
    expect(statuses()).toEqual([["/v2/rerank", 200]]);
  });

  it("wrong key", async () => {
    await expect(rerank("tiny-embed", "ak_wrong")).rejects.toMatchObject({
      name: "UnauthorizedError",
      statusCode: 401,
    });
    expect(statuses()).toEqual([["/v2/rerank", 401]]);
  });

  it("unknown model", async () => {
    await expect(rerank("no-such-model")).rejects.toMatchObject({ name: "NotFoundError", statusCode: 404 });
    expect(statuses()).toEqual([["/v2/rerank", 404]]);
  });
});
