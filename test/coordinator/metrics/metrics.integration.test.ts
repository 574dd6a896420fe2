import { randomUUID } from "node:crypto";
import { request, type RequestOptions } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com");
});
afterAll(() => coordinator[Symbol.asyncDispose]());

const read = async (): Promise<string> => (await fetch(`${coordinator.url}/api/v1/metrics`)).text();
/** Sends a request with headers and methods that `fetch` does not support. */
async function statusOf(path: string, options: RequestOptions): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sent = request(`${coordinator.url}${path}`, options, (answer) => resolve(answer.resume().statusCode));
  sent.on("error", reject).end();
  return promise;
}
const statusWith = (headers: Record<string, string>) => statusOf("/api/v1/metrics", { headers });
const submit = () =>
  call(coordinator.url, account.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } });

describe("GET /metrics", () => {
  it("counts Islands, unfinished jobs, ended jobs and their tokens", async () => {
    expect(await read()).toContain("atoll_islands_connected 0\n");
    await using island = await FakeIsland.join(coordinator.url, account.islandToken, {
      hostId: randomUUID(),
      slots: 1,
    });
    await submit();
    await submit();
    const assign = await island.next("assign");
    const busy = await read();
    expect(busy).toContain("atoll_islands_connected 1\n");
    expect(busy).toContain('atoll_jobs_unfinished{state="pending"} 1\n');
    expect(busy).toContain('atoll_jobs_unfinished{state="queued"} 1\n');
    island.send(...beginFrames(assign), outputFrame(assign, 1, "a", "b"), finishedFrame(assign, 2));
    await island.next("ack", (ack) => ack.seq === 2);
    const after = await read();
    expect(after).toContain('atoll_jobs_ended_total{state="completed"} 1\n');
    expect(after).toContain('atoll_jobs_ended_total{state="failed"} 0\n');
    expect(after).toContain("atoll_tokens_delivered_total 2\n");
    const commits = Number(/^atoll_storage_commits_total (\d+)$/m.exec(after)?.[1]);
    // Two submissions, one end and the start cause commits, but tokens do not.
    expect(commits).toBeGreaterThanOrEqual(3);
    expect(commits).toBeLessThan(20);
    expect(after).toContain('atoll_info{version="0.0.0-test"} 1\n');
  });

  it("uses Prometheus' text format", async () => {
    const response = await fetch(`${coordinator.url}/api/v1/metrics`);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await response.text()).toMatch(/^# HELP atoll_info /m);
  });
});

describe("the labels of requests", () => {
  const routes = async () =>
    new Set([...(await read()).matchAll(/^atoll_http_requests_total\{(.*)\} /gm)].map(([, labels]) => labels));

  it("are limited to those of the program, whatever clients send", async () => {
    const before = await routes();
    for (const nth of [1, 2, 3]) {
      const headers = { "user-agent": `agent ${nth}`, "x-request-id": `id-${nth}` };
      await statusOf(`/none/of/this/${nth}`, { headers });
      await statusOf(`/api/v1/jobs/${nth}?page=${nth}`, { headers });
      await statusOf(`/api/v1/jobs/${nth}`, { method: "PUT", headers });
      await statusOf(`/api/v1/jobs/${nth}`, { method: ["PURGE", "MKCOL", "LOCK"][nth - 1] ?? "", headers });
      // Browsers get pages of the console here, and programs get a 404.
      await statusOf(`/operator/islands/${nth}`, { headers });
      await statusOf(`/jobs/${nth}`, { headers });
    }
    const added = new Set([...(await routes())].filter((labels) => !before.has(labels)));
    expect(added).toEqual(
      new Set([
        'method="GET",route="/api/v1/jobs/:id",status="401"',
        'method="GET",route="/jobs/*",status="404"',
        'method="GET",route="/operator/*",status="404"',
        'method="GET",route="none",status="404"',
        'method="PUT",route="none",status="405"',
        'method="other",route="none",status="405"',
      ]),
    );
  });
});

describe("GET /metrics without a token", () => {
  it.each(["x-forwarded-for", "forwarded", "x-real-ip", "via", "cf-connecting-ip", "x-forwarded-server"])(
    "is disabled behind a proxy (%s)",
    async (name) => {
      expect(await statusWith({ [name]: "203.0.113.7" })).toBe(404);
    },
  );

  it("is disabled for pages of other origins in a browser on this machine", async () => {
    expect(await statusWith({ origin: "https://evil.example" })).toBe(404);
    const { port } = new URL(coordinator.url);
    // In DNS rebinding, the page's owner resolves its name to 127.0.0.1, so that the browser sees one origin.
    expect(await statusWith({ host: `evil.example:${port}` })).toBe(421);
    expect(await statusWith({ host: `localhost:${port}` })).toBe(200);
    expect(await statusWith({ host: `[::1]:${port}` })).toBe(200);
  });
});

describe("GET /metrics of an exposed coordinator", () => {
  const publicUrl = "https://atoll.example";
  const read = (url: string, token?: string) =>
    fetch(`${url}/api/v1/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });

  it("is disabled", async () => {
    await using exposed = await TestCoordinator.open({ publicUrl, registration: "closed" });
    expect((await read(exposed.url)).status).toBe(404);
  });

  it("requires the operator's token if one is set", async () => {
    const env = { ATOLL_METRICS_TOKEN: "long-random-text" };
    await using exposed = await TestCoordinator.open({ publicUrl, registration: "closed" }, env);
    expect([(await read(exposed.url)).status, (await read(exposed.url, "wrong")).status]).toEqual([401, 401]);
    const viaProxy = { authorization: "Bearer long-random-text", "x-forwarded-for": "203.0.113.7" };
    expect((await fetch(`${exposed.url}/api/v1/metrics`, { headers: viaProxy })).status).toBe(200);
    const answer = await read(exposed.url, "long-random-text");
    expect([answer.status, (await answer.text()).includes("atoll_info")]).toEqual([200, true]);
  });
});
