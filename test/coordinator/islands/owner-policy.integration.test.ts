import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isSigned, readPublicKey } from "../../../shared/cargo-signature.ts";
import { checkToken } from "../../../island-agent/session/check-token.ts";
import { ALLOWS_ALL } from "../../island-agent/builders.ts";
import { CONTAINER_FILE } from "../catalog/cargo-builders.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { key: string; islandToken: string };
beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com");
  await coordinator.withStore((store) =>
    store.catalog.importCargo({ slug: CONTAINER_FILE.slug, file: CONTAINER_FILE, atMs: 1 }),
  );
  await coordinator.stop();
  await coordinator.start();
});
afterEach(() => coordinator[Symbol.asyncDispose]());

const runtimes = [{ type: "container" as const, version: "test" }];
const join = (hello: object) =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID(), runtimes, ...hello });
const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);

describe("a Cargo with network access", () => {
  it("waits until an owner allows it and reports that reason, then runs with a signed digest", async () => {
    await using closed = await join({ policy: { ...ALLOWS_ALL, network: false } });
    const { body } = await api("POST", "/jobs", { workload: CONTAINER_FILE.slug, input: { text: "a" } });
    const { waiting } = (await api("GET", `/jobs/${body.data.id}`)).body.data;
    expect(waiting).toMatchObject({
      reason: "no_island_fits",
      message: "Islands' owners do not allow containers with a network",
    });
    await using open = await join({ policy: ALLOWS_ALL });
    const { jobId, cargo, signature } = await open.next("assign");
    expect([jobId, cargo.container?.digest, cargo.category]).toEqual([
      body.data.id,
      CONTAINER_FILE.container.digest,
      "utility",
    ]);
    const checked = await checkToken(coordinator.url, account.islandToken);
    const key = readPublicKey(checked.ok ? checked.publicKey : "") ?? expect.fail("no key");
    const other = { ...cargo, container: { ...CONTAINER_FILE.container, digest: `sha256:${"b".repeat(64)}` } };
    expect([cargo, other].map((each) => isSigned(each, signature, key))).toEqual([true, false]);
    expect(closed.socket.readyState).toBe(closed.socket.OPEN);
  });

  it("is assigned to an older agent, which reports no policy", async () => {
    const { body } = await api("POST", "/jobs", { workload: CONTAINER_FILE.slug, input: { text: "a" } });
    await using old = await join({});
    expect((await old.next("assign")).jobId).toBe(body.data.id);
  });
});
