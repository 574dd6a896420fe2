import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { CHAT_FILE } from "../catalog/cargo-builders.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeIslandState } from "../../support/network/frames.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { unlessSeveral } from "../../support/network/several-coordinators.ts";

/** Rows of SPEC.md that no other test shows from outside. test/traceability.md lists them. */
let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com");
});
afterEach(() => coordinator[Symbol.asyncDispose]());

const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);
const join = (hostId: string = randomUUID()): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId });
const stateOf = async (id: string): Promise<string> => (await api("GET", `/jobs/${id}`)).body.data.status as string;
const accept = ({ jobId, attempt }: Assign) => ({ type: "accepted" as const, jobId, attempt });
const start = ({ jobId, attempt }: Assign) => ({ type: "started" as const, jobId, attempt });

async function submit(workload = "tiny-chat"): Promise<string> {
  const { status, body } = await api("POST", "/jobs", { workload, input: { prompt: "Hi" } });
  expect([status, body.data.status]).toEqual([201, "submitted"]);
  return body.data.id as string;
}

const untilState = (id: string, state: string) =>
  until(
    () => stateOf(id),
    (now) => now === state,
    `${id} is ${state}`,
  );

describe("the states of a job, as its client sees them", () => {
  it("are pending, queued and running, and a cancel ends each at once", async () => {
    const cancelled = async (id: string) => {
      expect((await api("DELETE", `/jobs/${id}`)).body).toEqual({ data: { id, status: "cancelled" } });
      expect(await stateOf(id)).toBe("cancelled");
    };
    const pending = await submit();
    expect(await stateOf(pending)).toBe("pending");
    await cancelled(pending);
    await using island = await join();
    const queued = await submit();
    await island.next("assign", ({ jobId }) => jobId === queued);
    await untilState(queued, "queued");
    await cancelled(queued);
    const running = await submit();
    const assign = await island.next("assign", ({ jobId }) => jobId === running);
    island.send(accept(assign), start(assign));
    await untilState(running, "running");
    await cancelled(running);
  });

  it(
    ...unlessSeveral(
      "end with timeout when a run takes longer than its Cargo allows",
      "all know a new Cargo within a second",
    ),
    async () => {
      const short = { ...CHAT_FILE, required_vram_mb: 0, run_limit_s: 0.05 };
      expect((await api("POST", "/cargos", short)).status).toBe(201);
      await using island = await join();
      const id = await submit(short.slug);
      const assign = await island.next("assign");
      island.send(accept(assign), start(assign));
      await island.next("cancel", ({ jobId }) => jobId === id);
      await untilState(id, "timeout");
      const { data } = (await api("GET", `/jobs/${id}`)).body;
      expect([data.error.code, data.error.message, data.usage.credits_used]).toEqual([
        "run_timeout",
        "The run took longer than its limit of 0.05 s",
        0,
      ]);
    },
  );

  it("have ids that sort by creation", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await submit());
    for (const id of ids) expect(id).toMatch(/^job_[0-9A-Z]{26}$/);
    expect(ids).toEqual(ids.toSorted());
  });
});

describe("an Island that polls recommendations", () => {
  it(
    ...unlessSeveral("needs no key, and gets the current demand at each poll", "each reports its own waiting jobs"),
    async () => {
      const hostId = randomUUID();
      await (await join(hostId))[Symbol.asyncDispose]();
      const poll = async () => {
        const path = `/island/recommendations?host_id=${hostId}`;
        const { status, body } = await call(coordinator.url, null, "GET", path);
        expect([status, body.host_id]).toEqual([200, hostId]);
        const list = body.recommendations as { workload_slug: string; queued_demand: number; demand_score: number }[];
        const { queued_demand, demand_score } = list.find((each) => each.workload_slug === "tiny-chat") ?? {};
        return { queued_demand, demand_score };
      };
      expect(await poll()).toEqual({ queued_demand: 0, demand_score: 0 });
      await submit();
      expect(await poll()).toEqual({ queued_demand: 1, demand_score: 10 });
    },
  );

  it("first gets, at equal demand, the Cargos that fewer other Islands have on disk", async () => {
    const hostId = randomUUID();
    const poll = async () => {
      const { body } = await call(coordinator.url, null, "GET", `/island/recommendations?host_id=${hostId}`);
      return body.recommendations as { workload_slug: string; model_url: string; model_hash: string | null }[];
    };
    const have = (...keys: string[]) => ({
      state: makeIslandState({ cachedModels: keys.map((key) => ({ key, bytes: 1 })) }),
    });
    const runtimes = (["llmcpp", "wasm"] as const).map((type) => ({ type, version: "test" }));
    await using asking = await FakeIsland.join(coordinator.url, account.islandToken, { hostId, runtimes });
    const slugs = (await poll()).map(({ workload_slug }) => workload_slug);
    // The default Cargo comes first, whichever Islands have it.
    const [accountStatus, first = expect.fail(), second = expect.fail()] = await poll();
    const keys = [first, second].map(({ model_hash, model_url }) => model_hash ?? model_url);
    await using other = await FakeIsland.join(coordinator.url, account.islandToken, {
      hostId: randomUUID(),
      ...have(keys[0] ?? ""),
    });
    // Cargos on the polling Island itself do not count.
    asking.send({ type: "heartbeat", ...have(...keys) });
    const spread = await until(poll, ([, best]) => best?.workload_slug === second.workload_slug, "another order");
    expect(spread.map(({ workload_slug }) => workload_slug)).toEqual([
      accountStatus?.workload_slug,
      ...slugs.slice(2),
      first.workload_slug,
    ]);
    other.cut();
    await until(poll, ([, best]) => best?.workload_slug === first.workload_slug, "the first order again");
  });
});

describe("paths", () => {
  it("of the API start with /api/v1 or /v1, and are served nowhere else", async () => {
    for (const path of ["/health", "/cargos"]) {
      expect((await fetch(`${coordinator.url}/api/v1${path}`)).status).toBe(200);
      for (const base of ["", "/api", "/api/v2", "/v2"]) {
        expect([base, (await fetch(`${coordinator.url}${base}${path}`)).status]).toEqual([base, 404]);
      }
    }
  });
});
