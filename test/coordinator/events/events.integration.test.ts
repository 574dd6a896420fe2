import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../shared/clock.ts";
import { auditTrail } from "../../../coordinator/operators/audit-trail.ts";
import { operatorAccounts } from "../../../coordinator/operators/operator-accounts.ts";
import {
  beginFrames,
  failedFrame,
  finishedFrame,
  outputFrame,
  runFrames,
} from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { signIn } from "../../support/operator.ts";
import { unlessSeveral } from "../../support/network/several-coordinators.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { Listener } from "./listener.ts";

let coordinator: TestCoordinator;
beforeAll(async () => {
  coordinator = await TestCoordinator.open();
});
afterAll(() => coordinator[Symbol.asyncDispose]());

let accounts = 0;
const newAccount = () => coordinator.createAccount(`listener${(accounts += 1)}@example.com`);
const ask = (key: string, method: string, path: string, body?: unknown) =>
  call(coordinator.url, key, method, path, body);
const INPUT = { messages: [{ role: "user", content: "Hi" }] };
const submit = async (key: string): Promise<string> =>
  (await ask(key, "POST", "/jobs", { workload: "tiny-chat", input: INPUT })).body.data.id;
/** Jobs of other tests may be waiting as well. */
const join = (token: string, hostName = "garage") =>
  FakeIsland.join(coordinator.url, token, { hostId: randomUUID(), hostName, slots: 20 });

describe("GET /events", () => {
  it("sends client and host only their own changes", async () => {
    const [client, host] = [await newAccount(), await newAccount()];
    const [mine, theirs] = [await Listener.open(coordinator.url, client), await Listener.open(coordinator.url, host)];
    await Promise.all([mine.next("reset"), theirs.next("reset")]);
    const id = await submit(client.key);
    await mine.next("job", ({ status }) => status === "pending");
    await mine.next("balance");
    await using island = await join(host.islandToken);
    const assign = await island.next("assign", ({ jobId }) => jobId === id);
    await theirs.next("island", ({ online }) => online === true);
    island.send(...beginFrames(assign));
    await mine.next("job", ({ status }) => status === "running");
    island.send(outputFrame(assign, 1, "Hi"), finishedFrame(assign, 2, { completionTokens: 1 }));
    const { data: ended } = await mine.next("job", ({ status }) => status === "completed");
    const { type, cargo, updated_at, ...row } = ended;
    expect([type, cargo, updated_at]).toEqual(["job", "tiny-chat", row.completed_at]);
    const [{ input: _, workload_id: __, ...listed }] = (await ask(client.key, "GET", "/jobs")).body.data;
    expect(listed).toEqual(row);
    const earned = await theirs.next("balance");
    expect(earned.data.balance).toBe((await ask(host.key, "GET", "/account")).body.data.credits);
    expect(mine.statesOf(id).filter((state) => state === "completed")).toHaveLength(1);
    expect(mine.names).not.toContain("island");
    expect(theirs.names).not.toContain("job");

    const up = await theirs.next("island");
    const { body } = await ask(host.key, "GET", `/islands/${up.data.id}`);
    // The event contains the fields that the list returns.
    const ofOne = ["cached_models", "cached_cargos", "days", "engine_models", "standings"];
    expect(Object.keys(up.data).sort()).toEqual(
      [...Object.keys(body.data).filter((name) => !ofOne.includes(name)), "type", "online"].sort(),
    );
    await ask(host.key, "PATCH", `/islands/${up.data.id}`, { name: "attic" });
    await theirs.next("island", ({ name }) => name === "attic");
    island.cut();
    await theirs.next("island", ({ online }) => online === false);
    await ask(host.key, "DELETE", `/islands/${up.data.id}`);
    await theirs.next("island_removed");
    await Promise.all([mine.close(), theirs.close()]);
  });

  it("includes the reason for a failed job", async () => {
    const { key, islandToken } = await newAccount();
    const listener = await Listener.open(coordinator.url, { key });
    await using island = await join(islandToken);
    const id = await submit(key);
    const assign = await island.next("assign", ({ jobId }) => jobId === id);
    island.send(...beginFrames(assign), failedFrame(assign, 1, "model_invalid"));
    const { data } = await listener.next("job", ({ status }) => status === "failed");
    expect(data).toMatchObject({ id, code: "model_invalid" });
    await listener.close();
  });

  it("starts each connection with reset, ignores Last-Event-ID, and repeats nothing", async () => {
    const { key } = await newAccount();
    const listener = await Listener.open(coordinator.url, { key });
    const first = await submit(key);
    await listener.next("job", ({ id }) => id === first);
    await listener.next("balance");
    await listener.close();
    const second = await submit(key);
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const lastEventId of [undefined, "", "coord_1-1.coord_2-7", "x".repeat(9_000)]) {
      const again = await Listener.open(coordinator.url, {
        key,
        ...(lastEventId === undefined ? {} : { lastEventId }),
      });
      await again.next("reset");
      const third = await submit(key);
      await again.next("job", ({ id }) => id === third);
      expect([again.names[0], again.statesOf(first), again.statesOf(second)]).toEqual(["reset", [], []]);
      await again.close();
    }
    const last = await Listener.open(coordinator.url, { key, path: "/events?last_event_id=coord_1-1" });
    await last.next("reset");
    await coordinator.stop();
    await last.over;
    await coordinator.start();
    const later = await Listener.open(coordinator.url, { key });
    await later.next("reset");
    expect(later.names).toEqual(["reset"]);
    await later.close();
  });

  it("ends at once with its key or session, and is opened by the cookie of a page", async () => {
    const account = await newAccount();
    const { key } = account;
    const { body } = await ask(key, "POST", "/api-keys", { name: "short", scopes: "read" });
    const byKey = await Listener.open(coordinator.url, { key: body.key });
    await ask(key, "DELETE", `/api-keys/${body.id}`);
    await byKey.over;
    const credentials = { email: `page${(accounts += 1)}@example.com`, password: "long enough" };
    const console = { "atoll-console": "1" };
    const begun = await call(coordinator.url, null, "POST", "/auth/register", credentials, console);
    const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const page = await Listener.open(coordinator.url, { headers: { cookie, accept: "text/event-stream" } });
    await page.next("reset");
    await call(coordinator.url, null, "POST", "/auth/logout", undefined, { cookie, ...console });
    await page.over;
    await expect(Listener.open(coordinator.url, { headers: { cookie, ...console } })).rejects.toThrow(/401/);

    // The command line does not notify this process.
    const { body: other } = await ask(key, "POST", "/api-keys", { name: "short", scopes: "read" });
    const left = await Listener.open(coordinator.url, { key: other.key });
    await coordinator.withStore((_store, service) => service.revokeKey(account.id, other.id));
    await left.over;
  });

  it(
    ...unlessSeveral(
      "counts ten tabs as one stream, and leaves the others to chats",
      "each coordinator allows ten tabs",
    ),
    async () => {
      const { key } = await newAccount();
      const tabs = await Promise.all(Array.from({ length: 10 }, () => Listener.open(coordinator.url, { key })));
      await expect(Listener.open(coordinator.url, { key })).rejects.toThrow(/429.*concurrent_streams/);
      const id = await submit(key);
      const streams = [];
      for (let i = 0; i < 5; i += 1) {
        const response = await fetch(`${coordinator.url}/api/v1/jobs/${id}/stream`, {
          headers: { authorization: `Bearer ${key}` },
        });
        streams.push(response);
      }
      expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
      await Promise.all(streams.map(async ({ body }) => body?.cancel()));
      await Promise.all(tabs.map((tab) => tab.close()));
    },
  );

  it("sends a handful of events for a chat of a thousand tokens", async () => {
    const { key, islandToken } = await newAccount();
    const listener = await Listener.open(coordinator.url, { key });
    await using island = await join(islandToken);
    await listener.next("island");
    const before = listener.received.length;
    const id = await submit(key);
    const assign = await island.next("assign", ({ jobId }) => jobId === id);
    island.send(...beginFrames(assign));
    for (let seq = 1; seq <= 1_000; seq += 1) island.send(outputFrame(assign, seq, "word "));
    island.send(finishedFrame(assign, 1_001, { completionTokens: 1_000 }));
    await listener.next("job", ({ status }) => status === "completed");
    // Four events show the job as pending, queued, running and completed. The others show the balance after the hold
    // and the charge, and the Island with its slot taken, with its slot free, and after a heartbeat.
    expect(listener.received.length - before).toBeLessThanOrEqual(9);
    await listener.close();
  });

  it("reports credits that an operator grants, by the API and by a command", async () => {
    const operator = await signIn(coordinator, "giver@example.com", { isOperator: true });
    const account = await newAccount();
    const { credits } = (await ask(account.key, "GET", "/account")).body.data;
    const listener = await Listener.open(coordinator.url, account);
    await listener.next("reset");
    await ask(operator, "POST", `/operator/accounts/${account.id}/grants`, { credits: 5 });
    await listener.next("balance", ({ balance }) => balance === credits + 5);
    // This process receives no message about the grant.
    await coordinator.withStore(async (store) => {
      const accountsOf = operatorAccounts(store, auditTrail(store.audit, systemClock), systemClock);
      await accountsOf.grant({ via: "command", actor: "root", origin: "here" }, account.id, { credits: 2, note: null });
    });
    await listener.next("balance", ({ balance }) => balance === credits + 7);
    await listener.close();
  });

  it("reports other changes of the account, such as a key, an Island token and a role", async () => {
    const account = await newAccount();
    const listener = await Listener.open(coordinator.url, account);
    const changesOfAccount = async (count: number): Promise<unknown> => {
      await until(
        async () => listener.names.filter((name) => name === "account").length,
        (received) => received >= count,
        "account events",
      );
      return listener.received.findLast(({ event }) => event === "account")?.data;
    };
    const { body } = await ask(account.key, "POST", "/api-keys", { name: "short", scopes: "read" });
    expect(await changesOfAccount(1)).toEqual({
      type: "account",
      ...(await ask(account.key, "GET", "/account")).body.data,
    });
    await ask(account.key, "DELETE", `/api-keys/${body.id}`);
    await changesOfAccount(2);
    await ask(account.key, "POST", "/island-tokens", {});
    await changesOfAccount(3);
    await coordinator.withStore(async (store) => {
      const accountsOf = operatorAccounts(store, auditTrail(store.audit, systemClock), systemClock);
      await accountsOf.setRole({ via: "command", actor: "root", origin: "here" }, account.id, "operator");
    });
    await listener.next("account", ({ role }) => role === "operator");
    await listener.close();
  });

  it("is complete even if a job ran before the first listener", async () => {
    const { key, islandToken } = await newAccount();
    await using island = await join(islandToken);
    const id = await submit(key);
    island.send(...runFrames(await island.next("assign", ({ jobId }) => jobId === id), "Hi"));
    await until(
      () => ask(key, "GET", `/jobs/${id}`),
      ({ body }) => body.data.status === "completed",
      "completed",
    );
    const listener = await Listener.open(coordinator.url, { key });
    await listener.next("reset");
    expect(listener.names).toEqual(["reset"]);
    await listener.close();
  });
});
