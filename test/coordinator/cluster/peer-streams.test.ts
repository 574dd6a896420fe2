import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import type { Stream } from "../../../coordinator/cluster/messages.ts";
import type { Peers } from "../../../coordinator/cluster/peers.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Random } from "../../support/random.ts";
import { FaultyBus, NO_FAULTS } from "./faulty-bus.ts";
import { peerOf, peersOn } from "./peers-on.ts";

const COUNT: Stream<number, number> = { name: "count", question: z.number(), frame: z.number() };
const IDS = ["c1", "c2"];

let clock: ManualClock;
let buses: FaultyBus[];
let [server, follower]: Peers[] = [];
let warnings: object[];
/** Sends the next frames of the handler. */
let say: (...frames: unknown[]) => void;
/** Number of streams that are served, and the signals of all streams that started. */
let open: number;
let signals: AbortSignal[];
let stop: AbortController;

async function* frames(_from: number, signal: AbortSignal): AsyncGenerator<{ frame: number; chars: number }> {
  open += 1;
  signals.push(signal);
  const due: unknown[] = [];
  let wake = (): void => undefined;
  say = (...more) => {
    due.push(...more);
    wake();
  };
  signal.addEventListener("abort", () => wake());
  try {
    while (!signal.aborted) {
      for (const frame of due.splice(0)) {
        if (frame === "end") return;
        yield { frame: frame as number, chars: 1 };
      }
      if (due.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    open -= 1;
  }
}

beforeEach(() => {
  const bus = new LocalBus();
  [clock, warnings, open, signals, stop] = [new ManualClock(), [], 0, [], new AbortController()];
  buses = IDS.map(() => new FaultyBus(bus, clock, new Random(1)));
  const log = { warn: (facts: object) => void warnings.push(facts) };
  [server, follower] = IDS.map((id, index) => peersOn(buses[index] as FaultyBus, id, IDS, { clock, log }));
  server?.serve(COUNT, (question, _fromId, signal) => frames(question, signal));
});

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    clock.advance(Math.min(100, ms));
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Follows the stream, and records its frames and its end. */
function follow(): { readonly got: number[]; readonly end: () => unknown } {
  const got: number[] = [];
  let end: unknown;
  void (async () => {
    for await (const frame of follower?.stream("c1", COUNT, 0, stop.signal) ?? []) got.push(frame);
    return "over";
  })().then(
    (over) => (end = over),
    (error: unknown) => (end = error),
  );
  return { got, end: () => end };
}

const losing = async (frame: number): Promise<void> => {
  const bus = buses[0] as FaultyBus;
  bus.faults = { lose: 1, repeat: 0, delay: 0 };
  say(frame);
  await pass(1);
  bus.faults = NO_FAULTS;
};

describe("peers.stream()", () => {
  it("yields the frames of the peer in order, and ends with it", async () => {
    const { got, end } = follow();
    await pass(1);
    say(1, 2);
    await pass(100);
    say(3);
    await pass(200);
    expect([got, end(), open]).toEqual([[1, 2, 3], undefined, 1]);
    say("end");
    await pass(100);
    expect([end(), open]).toEqual(["over", 0]);
  });

  it("throws after a lost frame: at the next frame, or at the second heartbeat", async () => {
    const first = follow();
    await pass(1);
    await losing(1);
    say(2);
    await pass(100);
    expect([first.got, first.end()]).toMatchObject([[], { name: "StreamGap" }]);
    const second = follow();
    await pass(1);
    say(1);
    await pass(100);
    await losing(2);
    expect(second.end()).toBeUndefined();
    await pass(2_000);
    expect([second.got, second.end()]).toMatchObject([[1], { name: "StreamGap" }]);
  });

  it("throws when the peer is silent, and when it is unreachable", async () => {
    const { end } = follow();
    await pass(1);
    await buses[0]?.close();
    await pass(2_100);
    expect(end()).toMatchObject({ name: "BusError" });
    const again = follow();
    await pass(100);
    expect(again.end()).toMatchObject({ name: "BusError", kind: "unreachable" });
  });

  it("throws if the first frame takes longer than a second, but waits for later ones", async () => {
    const { end } = follow();
    await pass(900);
    expect(end()).toBeUndefined();
    await pass(200);
    expect(end()).toMatchObject({ name: "BusError", kind: "timeout" });
    const second = follow();
    await pass(500);
    say(1);
    await pass(3_000);
    expect([second.got, second.end()]).toEqual([[1], undefined]);
  });

  it("logs and drops a message that is not a list of numbered frames", async () => {
    const { got } = follow();
    await pass(100);
    for (const frames of [1, [1], [[1]], [["1", 0, 1]], [[1, -1, 1]], [[1, 0.5, 1]], [[1, 0, 1, 1]]])
      buses[0]?.publish("stream.c2", ["c1", frames]);
    await pass(100);
    say(7);
    await pass(100);
    expect([got, warnings.length]).toEqual([[7], 7]);
    expect(warnings[0]).toMatchObject({ coordinator: "c1", subject: "stream.c2" });
  });

  it("logs an invalid frame with the peer's id, and throws", async () => {
    const { got, end } = follow();
    await pass(1);
    say(1, "two");
    await pass(200);
    expect([got, end()]).toMatchObject([[1], { name: "BusError", kind: "refused" }]);
    expect(warnings).toMatchObject([{ coordinator: "c1", subject: "count" }]);
  });

  it("throws when too many frames wait for a slow reader", async () => {
    const reader = follower?.stream("c1", COUNT, 0, stop.signal)[Symbol.asyncIterator]();
    const first = reader?.next();
    await pass(1);
    for (let frame = 0; frame < 300; frame += 1) {
      say(frame);
      await pass(1);
    }
    expect((await first)?.value).toBe(0);
    const rest = async (): Promise<number> => {
      let count = 0;
      for (let next = await reader?.next(); next?.done === false; next = await reader?.next()) count += 1;
      return count;
    };
    await expect(rest()).rejects.toMatchObject({ name: "StreamGap" });
  });
});

describe("peers.serve()", () => {
  it("ends its handler at the next heartbeat after the follower stops reading", async () => {
    follow();
    await pass(100);
    expect(open).toBe(1);
    stop.abort();
    await pass(1_100);
    expect(open).toBe(0);
    follower?.close();
    server?.close();
    await pass(100);
    expect(clock.pendingTimers).toBe(0);
  });

  it("ends its handler at a later heartbeat if the first one was lost", async () => {
    follow();
    await pass(100);
    stop.abort();
    (buses[1] as FaultyBus).downReason = "cut";
    await pass(1_100);
    (buses[1] as FaultyBus).downReason = null;
    expect(open).toBe(1);
    await pass(1_100);
    expect(open).toBe(0);
  });

  it("ends its handler when the follower is silent, until the follower is dead", async () => {
    follow();
    await pass(100);
    await buses[1]?.close();
    let isOver = false;
    await pass(11_000);
    expect(open).toBe(0);
    const reason = signals[0]?.reason as { onOver: (listener: () => void) => void };
    reason.onOver(() => (isOver = true));
    await pass(11_000);
    expect(isOver).toBe(false);
    server?.setLive([peerOf("c1")]);
    await pass(5_000);
    expect(isOver).toBe(true);
  });

  it("sends the frames of a tick in one message, and shares messages between many streams", async () => {
    const says: ((...frames: unknown[]) => void)[] = [];
    const followed = [];
    for (let stream = 0; stream < 10; stream += 1) {
      followed.push(follow());
      await pass(1);
      says.push(say);
      say(0);
      await pass(1);
    }
    let messages = 0;
    buses[1]?.subscribe("stream.c2", () => (messages += 1));
    for (const each of says) each(1);
    await pass(1);
    expect([messages, followed.map(({ got }) => got.length)]).toEqual([1, Array.from({ length: 10 }, () => 2)]);
  });

  it("redirects its followers when it closes", async () => {
    const { end } = follow();
    await pass(100);
    server?.close();
    await pass(1);
    expect([end(), open]).toEqual(["over", 0]);
  });
});
