import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchRecommendations } from "../../../island-agent/preload/recommendations.ts";
import { checkToken } from "../../../island-agent/session/check-token.ts";
import { isSigned, readPublicKey } from "../../../shared/cargo-signature.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const NEVER = new AbortController().signal;
let coordinator: TestCoordinator;
let islandToken: string;

beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  ({ islandToken } = await coordinator.createAccount("host@example.com"));
});
afterAll(() => coordinator[Symbol.asyncDispose]());

describe("fetchRecommendations()", () => {
  it("returns recommendations in order, whose Cargos arrive by name in the session", async () => {
    const hostId = randomUUID();
    await using island = await FakeIsland.join(coordinator.url, islandToken, { hostId });
    const recommended = await fetchRecommendations(`${coordinator.url}/`, hostId, NEVER);
    expect(recommended.length).toBeGreaterThan(1);
    expect(recommended[0]).toEqual({
      slug: expect.any(String),
      queued: 0,
      demandScore: 0,
      isDefault: true,
      earningsPerJob: expect.stringMatching(/^\d/),
    });
    const slugs = recommended.map(({ slug }) => slug);
    island.send({ type: "wanted", slugs: ["no-such-cargo", ...slugs.slice(0, 2), slugs[0] as string] });
    const { cargo, signature } = await island.next("preload");
    expect(cargo).toMatchObject({ slug: slugs[0], runtimeType: "llmcpp" });
    const checked = await checkToken(coordinator.url, islandToken);
    expect(checked.ok && isSigned(cargo, signature, readPublicKey(checked.publicKey) ?? expect.fail())).toBe(true);
    expect((await island.next("preload")).cargo.slug).toBe(slugs[1]);
    expect(island.pending("preload")).toEqual([]);
  });

  it("reports that the coordinator does not know the Island", async () => {
    await expect(fetchRecommendations(coordinator.url, randomUUID(), NEVER)).rejects.toThrow("with status 404");
  });

  describe("with a malicious coordinator", () => {
    const good = { workload_slug: "a", estimated_earnings_per_job: "0.5", queued_demand: 1, demand_score: 9 };
    const fetchFrom = async (body: string): Promise<unknown> => {
      const server = createServer((_request, response) => response.end(body));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as AddressInfo;
        return await fetchRecommendations(`http://127.0.0.1:${port}`, randomUUID(), NEVER);
      } finally {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    };

    it.each([
      { workload_slug: "x\u001b[2J\u001b]0;owned\u0007" },
      { estimated_earnings_per_job: "1\u001b[31m" },
      { estimated_earnings_per_job: "-1" },
      { queued_demand: -5 },
      { demand_score: 0.5 },
    ])("rejects %j", async (wrong) => {
      expect(await fetchFrom(JSON.stringify({ recommendations: [good] }))).toHaveLength(1);
      const fetching = fetchFrom(JSON.stringify({ recommendations: [{ ...good, ...wrong }] }));
      await expect(fetching).rejects.toThrow("invalid recommendations");
    });

    it("rejects a response that is not JSON, or longer than 1 MB", async () => {
      await expect(fetchFrom("<html>")).rejects.toThrow("invalid recommendations");
      await expect(fetchFrom(" ".repeat(1_000_001))).rejects.toThrow("is longer than 1000000 bytes");
    });
  });

  it("reports a response that is not from a coordinator", async () => {
    await expect(fetchRecommendations("http://127.0.0.1:1", randomUUID(), NEVER)).rejects.toThrow();
  });
});
