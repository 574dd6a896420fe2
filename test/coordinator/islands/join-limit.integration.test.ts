import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, type Listener } from "../../../coordinator/http/server/transport.ts";
import { joinLimit, openIslandGateway, type IslandGateway } from "../../../coordinator/islands/gateway.ts";
import type { IslandConnections } from "../../../coordinator/islands/island-connections.ts";
import { SESSION_PATH, SUBPROTOCOL } from "../../../shared/protocol/codec.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { TEST_TRANSPORT } from "../../support/transport.ts";

const wrongToken = (): string => `it_${randomUUID()}`;

describe("upgrades without a valid token", () => {
  let clock: ManualClock;
  let listener: Listener;
  let gateway: IslandGateway;
  /** Valid tokens. */
  let tokens: Set<string>;
  let lookUps: string[];
  let onLookUp: () => Promise<void>;
  beforeEach(async () => {
    clock = new ManualClock();
    [tokens, lookUps, onLookUp] = [new Set(), [], async () => undefined];
    const limits = { heartbeatMs: 10_000, islandSessionsPerToken: 50, islandSessionsPerAccount: 100 };
    const accounts = {
      authenticateIsland: async (token: string) => {
        lookUps.push(token);
        await onLookUp();
        return tokens.has(token) ? { accountId: "user_1", tokenId: "itk_1", tokenCreatedAtMs: 0 } : undefined;
      },
    };
    gateway = openIslandGateway(
      testEnv(limits, { clock }),
      // The handler is unused, because these tests send no frames.
      undefined as unknown as IslandConnections,
      accounts,
      "",
      { intakeMemoryBytes: 1, islandIntakeBytes: 1 },
      (request) => String(request.headers["x-address"]),
    );
    listener = await listen(() => new Response(null, { status: 404 }), {
      ...TEST_TRANSPORT,
      host: "127.0.0.1",
      port: 0,
    });
    listener.onUpgrade(SESSION_PATH, (request) => gateway.upgrade(request));
  });
  afterEach(() => listener.close(AbortSignal.abort()));

  /** Returns the status of the upgrade response, and Retry-After if it is present. */
  async function dial(token: string | null, address = "192.0.2.1"): Promise<unknown[]> {
    const socket = new WebSocket(`ws://127.0.0.1:${listener.port}${SESSION_PATH}`, SUBPROTOCOL, {
      headers: { "x-address": address, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    });
    socket.on("error", () => undefined);
    try {
      return await new Promise((resolve) => {
        socket.once("open", () => resolve([101]));
        socket.once("unexpected-response", (_request, { statusCode, headers }) => {
          const retryAfter = headers["retry-after"];
          resolve(retryAfter === undefined ? [statusCode] : [statusCode, retryAfter]);
        });
      });
    } finally {
      socket.terminate();
    }
  }
  const flood = async (): Promise<void> => {
    for (let i = 0; i < 30; i += 1) expect(await dial(wrongToken())).toEqual([401]);
  };

  it("are refused with 429 after 30 from one address within a minute, before the token is looked up", async () => {
    await flood();
    const before = lookUps.length;
    for (let i = 0; i < 5; i += 1) expect(await dial(wrongToken())).toEqual([429, "60"]);
    expect(lookUps).toHaveLength(before);
    expect(await dial(wrongToken(), "192.0.2.2")).toEqual([401]);
    clock.advance(60_000);
    expect(await dial(wrongToken())).toEqual([401]);
  });

  it("open no session if the token is revoked while it is looked up", async () => {
    tokens.add("it_known");
    onLookUp = async () => gateway.endSessionsOf("itk_1");
    const island = await FakeIsland.dial(`http://127.0.0.1:${listener.port}`, "it_known");
    expect(await island.next("goodbye")).toMatchObject({ reason: "the Island token was revoked", retryAfterMs: null });
    await island.closed;
  });

  it("do not count if they have no token, because a joining Island requests the key without one", async () => {
    for (let i = 0; i < 40; i += 1) expect(await dial(null)).toEqual([401]);
    tokens.add("it_new");
    expect(await dial("it_new")).toEqual([101]);
  });

  it("do not block an Island that was accepted before, as long as its token is valid", async () => {
    tokens.add("it_known");
    for (let i = 0; i < 40; i += 1) expect(await dial("it_known")).toEqual([101]);
    await flood();
    for (let i = 0; i < 5; i += 1) expect(await dial("it_known")).toEqual([101]);
    expect(await dial("it_known", "192.0.2.2")).toEqual([101]);
    // A new Island waits for as long as Retry-After specifies.
    tokens.add("it_new");
    expect(await dial("it_new")).toEqual([429, "60"]);
    tokens.delete("it_known");
    expect(await dial("it_known")).toEqual([401]);
    expect(await dial("it_known")).toEqual([429, "60"]);
    clock.advance(60_000);
    expect(await dial("it_new")).toEqual([101]);
  });
});

describe("joinLimit()", () => {
  it("remembers the most recently accepted tokens", () => {
    const limit = joinLimit(new ManualClock(), 2);
    for (const token of ["a", "b", "a", "c"]) limit.accepted(token);
    for (let i = 0; i < 30; i += 1) limit.refused("here", `wrong ${i}`);
    expect(() => limit.assertMayTry("here", "b")).toThrow(/requests_per_minute/);
    for (const token of ["a", "c"]) expect(() => limit.assertMayTry("here", token)).not.toThrow();
  });
});

describe("a coordinator during a flood of invalid tokens", () => {
  it("responds with 429 to their address, while its Islands reconnect", async () => {
    await using coordinator = await TestCoordinator.open();
    const { islandToken } = await coordinator.createAccount("host@example.com");
    await using _island = await FakeIsland.join(coordinator.url, islandToken);
    for (let i = 0; i < 30; i += 1) {
      await expect(FakeIsland.dial(coordinator.url, wrongToken())).rejects.toThrow("401");
    }
    await expect(FakeIsland.dial(coordinator.url, wrongToken())).rejects.toThrow("429");
    await using _again = await FakeIsland.join(coordinator.url, islandToken);
  });
});
