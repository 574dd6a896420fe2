import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSecret, newSecret } from "../../coordinator/accounts/secrets.ts";
import { Cluster } from "../support/network/cluster.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { call, until } from "../support/http/http.ts";

let cluster: Cluster;
let operator: string;

/** Longer than the timeout of the test, which shows that a suspension does not wait for heartbeats. */
const LONG_WAITS = ["--heartbeat-s", "3600", "--sse-heartbeat-s", "3600", "--lease-ms", "600000"];

describe("an operator of three coordinators", () => {
  beforeAll(async () => {
    cluster = await Cluster.open({ flags: LONG_WAITS });
    const { id } = cluster.createAccount("op@example.com");
    operator = newSecret("st");
    const nowMs = Date.now();
    await cluster.postgres.query(
      `INSERT INTO sessions (token_hash, account_id, created_at_ms, expires_at_ms)
       VALUES ('${hashSecret(operator)}', '${id}', ${nowMs}, ${nowMs + 3_600_000});`,
      "atoll",
    );
    const result = await cluster.manage("account", "role", "--email", "op@example.com", "--operator");
    expect(result.code).toBe(0);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const url = (index: number): string => cluster.at(index).url;
  const request = (index: number, key: string, method: string, path: string, body?: unknown) =>
    call(url(index), key, method, path, body);

  it("suspends an account at all of them, which rejects its requests, ends its streams and jobs, and disconnects its Islands", async () => {
    const account = cluster.createAccount("spam@example.com", 1_000);
    const islands = await Promise.all(
      [0, 1, 2].map((index) => FakeIsland.join(url(index), account.islandToken, { hostId: randomUUID() })),
    );
    const submitted = await Promise.all(
      [0, 1, 2].map((index) =>
        request(index, account.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } }),
      ),
    );
    const ids = submitted.map(({ body }) => body.data.id as string);
    const streams = await Promise.all(
      ids.map((id, index) =>
        fetch(`${url((index + 1) % 3)}/api/v1/jobs/${id}/stream`, {
          headers: { authorization: `Bearer ${account.key}` },
        }),
      ),
    );
    const ended = Promise.all(
      streams.map((stream) =>
        stream.text().then(
          () => "whole",
          () => "cut",
        ),
      ),
    );
    await until(
      async () => (await request(2, operator, "GET", "/operator/overview")).body.data,
      ({ islands: { online } }) => online === 3,
      "three Islands in the overview of one coordinator",
    );
    await until(
      async () => (await request(2, "", "GET", "/network")).body.data,
      ({ islands_online: online }) => online === 3,
      "three Islands in what one coordinator shows visitors",
    );
    const { status } = await request(0, operator, "POST", `/operator/accounts/${account.id}/suspension`, {
      reason: "spam",
    });
    expect(status).toBe(200);
    await Promise.all([ended, ...islands.map((island) => island.next("goodbye"))]);
    for (const index of [0, 1, 2]) {
      await until(
        () => request(index, account.key, "GET", "/account"),
        ({ body }) => body.error?.code === "account_suspended",
        "refused",
      );
    }
    await until(
      async () =>
        (await request(1, operator, "GET", `/operator/jobs?account=${account.id}`)).body.data as { status: string }[],
      (jobs) => jobs.length === 3 && jobs.every((job) => job.status === "cancelled"),
      "three cancelled jobs",
    );
    await Promise.all(islands.map((island) => island[Symbol.asyncDispose]()));
  });

  it("suspends an Island of another coordinator, and lists the Islands of all", async () => {
    const account = cluster.createAccount("host@example.com", 1_000);
    const hostIds = [randomUUID(), randomUUID()];
    const [first, second] = await Promise.all(
      hostIds.map((hostId, index) => FakeIsland.join(url(index), account.islandToken, { hostId })),
    );
    const listed = async () =>
      (await request(2, operator, "GET", `/operator/islands?account=${account.id}`)).body.data as {
        id: string;
        status: string;
      }[];
    const byId = new Map((await listed()).map(({ id, status }) => [id, status]));
    expect(byId).toEqual(new Map(hostIds.map((id) => [id, "online"])));
    expect(
      (await request(2, operator, "POST", `/operator/islands/${hostIds[0]}/suspension`, { reason: "lies" })).status,
    ).toBe(200);
    expect(await first?.next("goodbye")).toMatchObject({ reason: "the operator suspended this Island: lies" });
    const after = new Map((await listed()).map(({ id, status }) => [id, status]));
    expect(after).toEqual(
      new Map([
        [hostIds[0], "suspended"],
        [hostIds[1], "online"],
      ]),
    );
    // The other coordinators reject it as well.
    await until(
      async () => {
        const dialled = await FakeIsland.join(url(1), account.islandToken, { hostId: hostIds[0] ?? "" }).catch(
          (error: Error) => error,
        );
        if (!(dialled instanceof Error)) await dialled[Symbol.asyncDispose]();
        return dialled instanceof Error;
      },
      (isRefused) => isRefused,
      "refused at another coordinator",
    );
    await second?.[Symbol.asyncDispose]();
    const { body } = await request(1, operator, "GET", `/operator/audit?target=${hostIds[0]}`);
    expect(body.data).toMatchObject([{ action: "island.suspend", via: "api", after: { because: "lies" } }]);
  });
});
