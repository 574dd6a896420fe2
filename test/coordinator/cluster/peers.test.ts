import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import type { News, Question } from "../../../coordinator/cluster/messages.ts";
import type { Peers } from "../../../coordinator/cluster/peers.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FaultyBus } from "./faulty-bus.ts";
import { Random } from "../../support/random.ts";
import { peersOn } from "./peers-on.ts";

const count = z.number().int();
const DOUBLE: Question<number, number> = { name: "double", question: count, reply: count, withinMs: 100 };
const NEWS: News<number> = { name: "news", content: count };
const IDS = ["c1", "c2", "c3"];
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let bus: LocalBus;
let warnings: object[];
let [one, two, three]: Peers[] = [];
beforeEach(() => {
  [bus, warnings] = [new LocalBus(), []];
  const log = { warn: (facts: object) => void warnings.push(facts) };
  [one, two, three] = IDS.map((id) => peersOn(bus, id, IDS, { log }));
});
const at = (peers: Peers | undefined): Peers => peers ?? expect.fail("not open");

describe("peers.ask()", () => {
  it("resolves with the reply of the peer, which receives the sender's id", async () => {
    const askers: string[] = [];
    at(two).handle(DOUBLE, (question, fromId) => {
      askers.push(fromId);
      return question * 2;
    });
    expect(await at(one).ask("c2", DOUBLE, 4)).toBe(8);
    expect(askers).toEqual(["c1"]);
  });

  it("rejects and counts requests that time out, are refused or get an invalid reply", async () => {
    at(two).handle(DOUBLE, () => {
      throw new Error("not now");
    });
    at(three).handle(DOUBLE, () => 0.5);
    await expect(at(one).ask("c4", DOUBLE, 1)).rejects.toMatchObject({ kind: "unreachable" });
    await expect(at(one).ask("c2", DOUBLE, 1)).rejects.toMatchObject({ kind: "refused", message: "not now" });
    await expect(at(one).ask("c3", DOUBLE, 1)).rejects.toMatchObject({ kind: "refused" });
    expect(at(one).failed).toEqual({ unreachable: 1, timeout: 0, refused: 2 });
    expect(warnings).toMatchObject([{ coordinator: "c3", subject: "double" }]);
  });

  it("reaches this coordinator itself even while the bus is down", async () => {
    const cut = new FaultyBus(bus, new ManualClock(), new Random(1));
    cut.downReason = "cut";
    const alone = peersOn(cut, "c4");
    alone.handle(DOUBLE, (question) => question * 2);
    expect(await alone.ask("c4", DOUBLE, 4)).toBe(8);
  });
});

describe("peers.handle()", () => {
  it("rejects a request with an invalid payload or without a sender", async () => {
    let asked = 0;
    at(two).handle(DOUBLE, () => (asked += 1));
    for (const envelope of [["c1", "four"], [7, 4], 4, null, ["c1"]])
      await expect(bus.request("c2.double", envelope)).rejects.toMatchObject({ kind: "refused" });
    expect(asked).toBe(0);
  });

  it("stops serving once it is closed", async () => {
    at(two).handle(DOUBLE, (question) => question * 2);
    at(two).close();
    await expect(at(one).ask("c2", DOUBLE, 4)).rejects.toMatchObject({ kind: "unreachable" });
  });
});

describe("peers.askAll()", () => {
  it("asks all other coordinators, and logs those that do not reply only if a fault is given", async () => {
    at(one).handle(DOUBLE, () => 1);
    at(two).handle(DOUBLE, (question) => question * 2);
    const replies = await at(one).askAll(DOUBLE, 4);
    expect(replies.map(({ id, reply }) => [id, reply])).toEqual([
      ["c2", 8],
      ["c3", undefined],
    ]);
    expect(warnings).toEqual([]);
    await at(one).askAll(DOUBLE, 4, "Peer did not double");
    expect(warnings).toMatchObject([{ coordinator: "c3" }]);
  });
});

describe("peers.onBroadcast()", () => {
  it("receives messages of a peer, and logs and drops invalid ones", async () => {
    const received: unknown[] = [];
    const stop = at(two).onBroadcast(NEWS, (content, fromId) => received.push([content, fromId]));
    at(one).broadcast(NEWS, 1);
    for (const envelope of [["c3", "x"], [3, 3], null]) bus.publish("news", envelope);
    await settle();
    expect(received).toEqual([[1, "c1"]]);
    expect(warnings).toMatchObject([{ coordinator: "c3", subject: "news" }, { coordinator: 3 }, { subject: "news" }]);
    stop();
    at(one).broadcast(NEWS, 2);
    await settle();
    expect(received).toHaveLength(1);
  });
});
