import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashSecret, newSecret } from "../../../../coordinator/accounts/secrets.ts";
import { accountEvents, GATHER_MS } from "../../../../coordinator/events/account-events.ts";
import type { HttpDeps } from "../../../../coordinator/http/http-deps.ts";
import { listen } from "../../../../coordinator/http/server/transport.ts";
import { relayEvents } from "../../../../coordinator/http/streaming/relay-events.ts";
import type { Overview } from "../../../../coordinator/operators/network-view.ts";
import { Listener, type ReceivedEvent } from "../../events/listener.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { TEST_LISTEN } from "../../../support/transport.ts";
import { makeJobChange } from "../../events/event-builders.ts";
import { Api, eventually } from "../api.ts";
import { dechunk } from "../sse-events.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

/** Larger than one write of 100 changes, and far smaller than a socket's own buffers. */
const MAX_HELD_BYTES = 64 * 1_024;
const ROUNDS = 120;
const JOBS = 300;

const OVERVIEW: Overview = {
  islands: { online: 1, known: 2 },
  slots: { free: 1, all: 4 },
  jobs: { running: 3, waiting: 0, finishedLastMinute: 9 },
  queue: [],
  tokensPerSecond: 12.5,
  firstTokenMs: { p50: 80, p99: 300 },
  errorsLastMinute: 0,
  work: { promptTokens: 0, cachedTokens: 0, islands: [] },
  coordinators: [],
};

/** Returns the token of a new session. */
async function sessionOf({ accountId, store, clock }: Api): Promise<string> {
  const [token, createdAtMs] = [newSecret("st"), clock.now()];
  const session = { tokenHash: hashSecret(token), accountId, createdAtMs, expiresAtMs: createdAtMs + 3_600_000 };
  await store.accounts.createSession(session, 20);
  return token;
}

describe("an event stream", () => {
  it("holds one write for a client that does not read, and sends one reset instead of dropped changes once it reads", async () => {
    const opened = Promise.withResolvers<ServerResponse>();
    const { clock, store, accountId } = api;
    const events = accountEvents(clock);
    const fakes = { islands: { some: async () => [] }, options: { heartbeatMs: 15_000 } };
    const deps = { clock, events, store, ...fakes } as unknown as HttpDeps;
    const listener = await listen(async (_request, { outgoing: response }) => {
      const mayRead = async (): Promise<boolean> => true;
      relayEvents(deps, accountId, response, mayRead, null);
      opened.resolve(response);
      return RESPONSE_ALREADY_SENT;
    }, TEST_LISTEN);
    const socket = connect(listener.port, "127.0.0.1");
    await once(socket, "connect");
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const response = await opened.promise;
    let most = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let i = 0; i < JOBS; i += 1) {
        const state = round === ROUNDS - 1 ? "completed" : "running";
        events.note(accountId, makeJobChange(`job_${round % 3}_${i}`, clock.now(), { state }));
      }
      clock.advance(GATHER_MS);
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, response.writableLength);
    }
    expect(most).toBeLessThan(MAX_HELD_BYTES);
    let text = "";
    socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    socket.resume();
    const resets = (): number => text.split("event: reset").length - 1;
    // The second reset replaces the dropped changes.
    await eventually(() => resets() >= 2);
    expect(text.split("event: job").length - 1).toBeLessThan((ROUNDS * JOBS) / 2);
    await eventually(() => {
      // A reset that is not written yet covers this change as well.
      events.note(accountId, makeJobChange("next", clock.now()));
      clock.advance(GATHER_MS);
      return text.includes('"id":"next"');
    });
    // Chunks of the response start with their length.
    expect(text).not.toMatch(/event: reset\ndata: [^\n]*\n\n(?:\r\n[0-9a-f]+\r\n)?event: reset/);
    socket.destroy();
    events.close();
    await listener.close(AbortSignal.abort());
  });

  it("gets a comment line at each heartbeat, and ends when the coordinator stops", async () => {
    const socket = await api.raw("GET /api/v1/events HTTP/1.1", "Host: localhost", `Authorization: Bearer ${api.key}`);
    let text = "";
    socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    await eventually(() => text.includes("event: reset"));
    api.clock.advance(15_000);
    await eventually(() => text.includes(": heartbeat\n\n"));
    api.events.close();
    await eventually(() => text.endsWith("0\r\n\r\n"));
    expect(dechunk(text)).toMatch(/^event: reset\ndata: \{"type":"reset"\}\n\n: heartbeat\n\n$/);
  });

  it("is not opened by HEAD", async () => {
    const { status, headers, text } = await api.call("HEAD", "/events");
    expect([status, headers.get("content-type"), text]).toEqual([200, "text/event-stream; charset=utf-8", ""]);
    expect(api.events.isWatched(api.accountId)).toBe(false);
  });

  it("requires the scope read", async () => {
    expect((await api.call("GET", "/events", { key: api.writeKey })).status).toBe(403);
    expect((await api.call("GET", "/events", { key: null })).status).toBe(401);
  });
});

describe("?scope=network", () => {
  const path = "/events?scope=network";
  let session = "";
  beforeEach(async () => {
    session = await sessionOf(api);
    await api.store.operators.setRole(api.accountId, "operator");
  });

  const title = "adds the overview for an operator: one look in two seconds for all who listen, told if it changed";
  it(...unlessSeveral(title, "each looks for itself"), async () => {
    let looks = 0;
    api.overview = async () => ({ ...OVERVIEW, errorsLastMinute: Math.floor((looks += 1) / 2) });
    const first = await Listener.open(api.url, { key: session, path });
    const { data } = await first.next("overview");
    expect(data).toMatchObject({ type: "overview", tokens_per_second: 12.5, errors_last_minute: 0 });
    expect(data).toEqual({
      type: "overview",
      ...(await api.call("GET", "/operator/overview", { key: session })).body.data,
      errors_last_minute: 0,
    });
    looks = 1;
    const second = await Listener.open(api.url, { key: session, path });
    // The coordinator sends a known overview at once.
    expect((await second.next("overview")).data).toEqual(data);
    api.clock.advance(2_000);
    const isSecond = ({ errors_last_minute }: ReceivedEvent["data"]): boolean => errors_last_minute === 1;
    await Promise.all([first.next("overview", isSecond), second.next("overview", isSecond)]);
    // The third poll returns the same as the second.
    for (const count of [3, 4]) {
      await new Promise((resolve) => setImmediate(resolve));
      api.clock.advance(2_000);
      await eventually(() => looks === count);
    }
    await second.next("overview", ({ errors_last_minute: errors }) => errors === 2);
    expect(second.names).toEqual(["reset", "overview", "overview", "overview"]);
    await Promise.all([first.close(), second.close()]);
    await eventually(() => api.clock.pendingTimers <= 1);
    api.clock.advance(10_000);
    expect(looks).toBe(4);
  });

  it("sends an event if only the queue has changed", async () => {
    const line = {
      slug: "tiny",
      onlyIslandsOf: null,
      oldestAtMs: 1,
      jobs: 1,
      reason: "no_island_online",
      message: "",
    } as const;
    let queue: Overview["queue"] = [line];
    api.overview = async () => ({ ...OVERVIEW, queue });
    const listener = await Listener.open(api.url, { key: session, path });
    await listener.next("overview");
    queue = [{ ...line, slug: "other" }];
    api.clock.advance(2_000);
    await eventually(() => listener.names.filter((name) => name === "overview").length === 2);
    await listener.close();
  });

  it("is refused to keys and to other accounts, and an unknown scope is named", async () => {
    await api.store.operators.setRole(api.accountId, "user");
    for (const method of ["GET", "HEAD"]) expect((await api.call(method, path, { key: session })).status).toBe(403);
    await api.store.operators.setRole(api.accountId, "operator");
    expect((await api.call("GET", path)).body.error.code).toBe("operator_only");
    const unknown = await api.call("GET", "/events?scope=all", { key: session });
    expect([unknown.status, unknown.text]).toEqual([422, expect.stringContaining("scope")]);
    expect(api.events.isWatched(api.accountId)).toBe(false);
  });

  it("ends when the account loses the operator role, and sends nothing newer", async () => {
    let errors = 0;
    api.overview = async () => ({ ...OVERVIEW, errorsLastMinute: (errors += 1) });
    const listener = await Listener.open(api.url, { key: session, path });
    await listener.next("overview");
    await api.store.operators.setRole(api.accountId, "user");
    api.clock.advance(2_000);
    await listener.over;
    expect(listener.names).toEqual(["reset", "overview"]);
  });
});
