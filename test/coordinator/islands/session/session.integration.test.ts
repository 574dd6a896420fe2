import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pack } from "msgpackr";
import { MAX_HOSTS } from "../../../../coordinator/store/islands.ts";
import { MAX_FRAME_BYTES } from "../../../../shared/protocol/codec.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { makeHello } from "../../../support/network/frames.ts";
import { call } from "../../../support/http/http.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let token: string;

beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  token = (await coordinator.createAccount("host@example.com")).islandToken;
});
afterAll(() => coordinator[Symbol.asyncDispose]());

const dial = (): Promise<FakeIsland> => FakeIsland.dial(coordinator.url, token);

describe("IslandSession", () => {
  it("welcomes an Island with the heartbeat interval", async () => {
    await using island = await dial();
    island.send(makeHello({ hostId: randomUUID() }));
    expect(await island.next("welcome")).toMatchObject({
      heartbeatMs: 3_600_000,
      maxFrameBytes: MAX_FRAME_BYTES,
      held: [],
    });
  });

  it.each([
    ["a text frame", (island: FakeIsland) => island.sendRaw("hello"), "frame is text"],
    [
      "bytes that are not MessagePack",
      (island: FakeIsland) => island.sendRaw(Buffer.from([0xc1, 0xff])),
      "must be MessagePack",
    ],
    ["an unknown frame", (island: FakeIsland) => island.sendRaw(pack({ type: "reboot" })), "type"],
    ["a frame before hello", (island: FakeIsland) => island.send({ type: "draining" }), "draining: sent before hello"],
    [
      "a hello with an invalid field",
      (island: FakeIsland) => island.sendRaw(pack({ ...makeHello(), slots: 0 })),
      "slots",
    ],
  ])("closes with 1008 and the reason after %s", async (_title, send, reason) => {
    const island = await dial();
    send(island);
    const closed = await island.closed;
    expect(closed.code).toBe(1008);
    expect(closed.reason).toContain(reason);
  });

  it("serves an older agent that reports input of running jobs", async () => {
    const owner = await coordinator.createAccount("earlier@example.com");
    const held = { jobId: "job_1", attempt: 1, claim: "none", started: true };
    const input = { received: 1, taken: 0, hasEnd: false };
    await using island = await FakeIsland.dial(coordinator.url, owner.islandToken);
    const hello = makeHello({ hostId: randomUUID(), features: ["jobs.input"] });
    island.sendRaw(pack({ ...hello, held: [{ ...held, input }] }));
    expect(await island.next("welcome")).toMatchObject({ held: [{ jobId: "job_1", action: "drop" }] });
    island.sendRaw(pack({ type: "taken", jobId: "job_1", attempt: 1, upTo: 1 }));
    const job = { workload: "tiny-chat", input: { prompt: "Hi" } };
    expect((await call(coordinator.url, owner.key, "POST", "/jobs", job)).status).toBe(201);
    expect(await island.next("assign")).toMatchObject({ cargo: { slug: "tiny-chat" } });
  });

  it("closes with 1008 after a second hello", async () => {
    const island = await FakeIsland.join(coordinator.url, token, { hostId: randomUUID() });
    island.send(makeHello());
    expect(await island.closed).toEqual({ code: 1008, reason: "hello: sent twice" });
  });

  it("closes with 1009 after a frame over 8 MB", async () => {
    const island = await dial();
    island.sendRaw(Buffer.alloc(MAX_FRAME_BYTES + 1));
    expect((await island.closed).code).toBe(1009);
  });

  it("closes with 1002 and the supported versions for an unknown protocol version", async () => {
    const island = await FakeIsland.dial(coordinator.url, token, "atoll.island.v9");
    expect(await island.closed).toEqual({
      code: 1002,
      reason: "unsupported protocol version; supported: atoll.island.v1",
    });
  });

  it.each([
    ["a made-up token", `it_${"x".repeat(40)}`],
    ["an API key", "ak_no"],
  ])("responds with 401 to %s", async (_title, wrong) => {
    await expect(FakeIsland.dial(coordinator.url, wrong)).rejects.toThrow("401");
  });

  it("rejects a host id of another account", async () => {
    const hostId = randomUUID();
    await using _first = await FakeIsland.join(coordinator.url, token, { hostId });
    const other = await coordinator.createAccount("thief@example.com");
    const island = await FakeIsland.dial(coordinator.url, other.islandToken);
    island.send(makeHello({ hostId }));
    expect(await island.closed).toEqual({ code: 1008, reason: "This host id belongs to another account" });
  });

  it(
    ...unlessSeveral(
      "rejects a connected host id of another account, even if the host is no longer stored",
      "only the coordinator with the session still knows the host",
    ),
    async () => {
      const hostId = randomUUID();
      const host = await coordinator.createAccount("many@example.com");
      await using _first = await FakeIsland.join(coordinator.url, host.islandToken, { hostId });
      await coordinator.withStore(async ({ islands }) => {
        const stored = await islands.get(hostId);
        if (stored === undefined) throw new Error("The host is not stored");
        const later = { ...stored, lastSeenAtMs: stored.lastSeenAtMs + 1 };
        // Opens a few sessions at a time, because a connection pool rejects calls that wait too long.
        for (let saved = 0; saved < MAX_HOSTS; saved += 100) {
          await Promise.all(Array.from({ length: 100 }, () => islands.save({ ...later, hostId: randomUUID() }, 0)));
        }
        expect(await islands.get(hostId)).toBeUndefined();
      });
      const island = await FakeIsland.dial(coordinator.url, token);
      island.send(makeHello({ hostId }));
      expect(await island.closed).toEqual({ code: 1008, reason: "This host id belongs to another account" });
    },
  );

  it("dismisses the older session of a host permanently when a newer one starts", async () => {
    const hostId = randomUUID();
    const older = await FakeIsland.join(coordinator.url, token, { hostId });
    await using _newer = await FakeIsland.join(coordinator.url, token, { hostId });
    expect(await older.next("goodbye")).toMatchObject({ retryAfterMs: null });
    expect((await older.closed).code).toBe(1001);
  });

  it(
    ...unlessSeveral(
      "sends goodbye with a reconnect delay when the coordinator shuts down",
      "Islands move to other coordinators at once",
    ),
    async () => {
      await using going = await TestCoordinator.open();
      const { islandToken } = await going.createAccount("host@example.com");
      const island = await FakeIsland.join(going.url, islandToken);
      const stopped = going.stop();
      expect(await island.next("goodbye")).toMatchObject({ retryAfterMs: 1_000 });
      await stopped;
    },
  );
});
