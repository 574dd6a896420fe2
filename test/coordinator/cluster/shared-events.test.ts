import { describe, expect, it } from "vitest";
import type { Unsubscribe } from "../../../coordinator/bus/bus.ts";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import type { Peers } from "../../../coordinator/cluster/peers.ts";
import { shareEvents } from "../../../coordinator/cluster/share-events.ts";
import { accountEvents, GATHER_MS, type AccountEvents } from "../../../coordinator/events/account-events.ts";
import type { JobState } from "../../../shared/job-state.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Random } from "../../support/random.ts";
import { makeJobChange, TestReader } from "../events/event-builders.ts";
import { FaultyBus, NO_FAULTS } from "./faulty-bus.ts";
import { peerOf, peersOn } from "./peers-on.ts";

const ACCOUNT = "user_1";
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Several coordinators on one bus, with a common clock. */
class Network {
  readonly clock = new ManualClock();
  readonly bus = new LocalBus();
  readonly random = new Random(7);
  readonly members = new Map<string, Member>();
  readonly warnings: object[] = [];
  #live: string[] = [];

  constructor(...ids: string[]) {
    for (const id of ids) this.start(id);
  }

  get published(): number {
    return [...this.members.values()].reduce((sum, { bus }) => sum + bus.published, 0);
  }

  start(id: string): Member {
    const member = new Member(this, id);
    this.members.set(id, member);
    this.#setLive([...this.#live, id]);
    return member;
  }

  kill(id: string): void {
    this.at(id).events.close();
    this.#setLive(this.#live.filter((other) => other !== id));
  }

  at(id: string): Member {
    return this.members.get(id) as Member;
  }

  /** Advances time and delivers messages. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= GATHER_MS) {
      this.clock.advance(Math.min(left, GATHER_MS));
      await settled();
    }
  }

  #setLive(ids: string[]): void {
    this.#live = ids;
    for (const id of ids) this.at(id).peers.setLive(ids.map(peerOf));
  }
}

class MemberBus extends FaultyBus {
  published = 0;
  /** A stalled coordinator does not reply. */
  isFrozen = false;

  override publish(subject: string, message: unknown): void {
    this.published += 1;
    super.publish(subject, message);
  }

  override handle(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    return super.handle(subject, (message) => (this.isFrozen ? new Promise(() => undefined) : handler(message)));
  }
}

class Member {
  readonly events: AccountEvents;
  readonly bus: MemberBus;
  readonly peers: Peers;
  readonly #network: Network;

  constructor(network: Network, id: string) {
    this.#network = network;
    const { clock, warnings } = network;
    const log = { warn: (facts: object) => void warnings.push(facts) };
    this.bus = new MemberBus(network.bus, clock, network.random);
    this.events = accountEvents(clock);
    this.peers = peersOn(this.bus, id, [id], { clock, log });
    shareEvents(this.events, this.peers, clock);
  }

  open(accountId = ACCOUNT): Promise<TestReader> {
    return TestReader.open(this.events, accountId);
  }

  note(id: string, state: JobState = "running"): void {
    this.events.note(ACCOUNT, makeJobChange(id, this.#network.clock.now(), { state }));
  }
}

/** Disconnects these coordinators from the bus, or connects them again. */
function setDown(members: readonly Member[], isDown: boolean): void {
  for (const { bus } of members) bus.downReason = isDown ? "cut" : null;
}

describe("shareEvents()", () => {
  it("delivers an event to a client at any coordinator, and costs nothing without listeners", async () => {
    const network = new Network("one", "two", "three");
    const [one, two, three] = [network.at("one"), network.at("two"), network.at("three")];
    two.note("unheard");
    await network.pass(1_000);
    expect(network.published).toBe(0);
    const reader = await one.open();
    expect([two.events.isWatched(ACCOUNT), two.events.isWatched("user_2")]).toEqual([true, false]);
    one.note("a");
    two.note("b");
    three.note("c");
    await network.pass(2 * GATHER_MS);
    expect(reader.read().sort()).toEqual(["a running", "b running", "c running"]);
    expect(network.published).toBe(2);
    // The coordinator still asks for another account.
    const other = await one.open("user_2");
    reader.close();
    await network.pass(2_000);
    two.note("d");
    await network.pass(1_000);
    expect([network.published, two.events.isWatched(ACCOUNT), two.events.isWatched("user_2")]).toEqual([
      2,
      false,
      true,
    ]);
    other.close();
    await network.pass(2_000);
    expect([two.events.hasListeners, three.events.hasListeners]).toEqual([false, false]);
  });

  it("delivers each event once to every client, with clients of one account at all coordinators", async () => {
    const network = new Network("one", "two", "three");
    const members = [...network.members.values()];
    const readers = await Promise.all(members.map((member) => member.open()));
    readers.push(await network.at("one").open());
    for (const reader of readers) reader.calls = 0;
    for (const [id, member] of network.members) member.note(id);
    await network.pass(1_000);
    for (const reader of readers) {
      expect(reader.read().sort()).toEqual(["one running", "three running", "two running"]);
      expect(reader.calls).toBe(3);
    }
    expect(network.published).toBe(6);
  });

  it("sends a reset when a coordinator died, and when another one joined", async () => {
    const network = new Network("one", "two");
    const reader = await network.at("one").open();
    network.kill("two");
    network.at("one").note("a");
    await network.pass(2 * GATHER_MS);
    expect(reader.read()).toEqual(["reset"]);
    network.at("one").note("b");
    await network.pass(2 * GATHER_MS);
    expect(reader.read()).toEqual(["b running"]);
    network.start("three");
    await network.pass(1_000);
    expect(reader.read()).toEqual(["reset"]);
    network.at("three").note("b");
    await network.pass(2 * GATHER_MS);
    expect(reader.read()).toEqual(["b running"]);
  });

  it("sends a reset when a coordinator stopped before its lease ended", async () => {
    const network = new Network("one", "two");
    const reader = await network.at("one").open();
    network.at("two").note("lost");
    network.at("two").events.close();
    await network.pass(2_000);
    expect(reader.read()).toEqual([]);
    network.kill("two");
    expect(reader.read()).toEqual(["reset"]);
  });

  it("sends a reset once the bus is back, to earlier clients and to one that connected in between", async () => {
    const network = new Network("one", "two");
    const members = [network.at("one"), network.at("two")];
    const before = await network.at("one").open();
    setDown(members, true);
    const between = await network.at("one").open("user_2");
    await network.pass(3_000);
    expect([before.read(), between.read()]).toEqual([[], []]);
    setDown(members, false);
    await network.pass(1_000);
    expect([before.read(), between.read()]).toEqual([["reset"], ["reset"]]);
    network.at("two").note("a");
    await network.pass(2 * GATHER_MS);
    expect(before.read()).toEqual(["a running"]);
  });

  it("sends a reset within a second of a lost message, and no reset otherwise", async () => {
    const network = new Network("one", "two");
    const [one, two] = [network.at("one"), network.at("two")];
    const reader = await one.open();
    setDown([one, two], true);
    await network.pass(GATHER_MS);
    setDown([one, two], false);
    await network.pass(2_000);
    expect(reader.read()).toEqual([]);
    two.bus.faults = { lose: 1, repeat: 0, delay: 0 };
    two.note("lost");
    await network.pass(GATHER_MS);
    two.bus.faults = NO_FAULTS;
    await network.pass(1_000);
    expect(reader.read()).toEqual(["reset"]);
    two.note("a");
    await network.pass(2_000);
    expect(reader.read()).toEqual(["a running"]);
    two.bus.faults = { lose: 1, repeat: 0, delay: 0 };
    two.note("lost");
    await network.pass(GATHER_MS);
    two.bus.faults = NO_FAULTS;
    two.note("b");
    await network.pass(GATHER_MS);
    expect(reader.read()).toEqual(["reset"]);
  });

  it("ignores invalid messages and changes of an unknown kind", async () => {
    const network = new Network("one", "two");
    const reader = await network.at("one").open();
    for (const garbage of [null, 7, {}, ["two", { sent: 1, accountId: ACCOUNT, changes: "x" }]]) {
      network.bus.publish("events.one", garbage);
      await expect(network.bus.request("one.events", garbage)).rejects.toThrow();
    }
    await settled();
    expect(network.warnings).toMatchObject([{}, {}, {}, { coordinator: "two", subject: "events.one" }]);
    const changes = [{ type: "weather" }, { ...makeJobChange("a", 0), state: "odd" }, { type: "balance" }];
    network.bus.publish("events.one", ["two", { sent: 1, accountId: ACCOUNT, changes }]);
    network.bus.publish("events.one", ["stranger", { sent: 1, accountId: ACCOUNT, changes }]);
    await settled();
    expect(reader.read()).toEqual(["balance"]);
  });

  it("sends nothing to a silent coordinator, and a reset when it is active again", async () => {
    const network = new Network("one", "two");
    const [one, two] = [network.at("one"), network.at("two")];
    const reader = await one.open();
    setDown([one], true);
    await network.pass(4_000);
    expect(two.events.hasListeners).toBe(true);
    await network.pass(3_000);
    expect(two.events.hasListeners).toBe(false);
    setDown([one], false);
    await network.pass(2_000);
    expect(reader.read()).toEqual(["reset"]);
    two.note("a");
    await network.pass(2 * GATHER_MS);
    expect(reader.read()).toEqual(["a running"]);
  });

  it("stops soon after the last client left, even if the message about it was lost", async () => {
    const network = new Network("one", "two");
    const [one, two] = [network.at("one"), network.at("two")];
    const reader = await one.open();
    setDown([one], true);
    reader.close();
    await network.pass(2_000);
    expect(two.events.hasListeners).toBe(true);
    setDown([one], false);
    await network.pass(1_000);
    expect(two.events.hasListeners).toBe(false);
  });

  it("still detects a lost message within a second while another coordinator is stalled", async () => {
    const network = new Network("one", "two", "three");
    const three = network.at("three");
    const reader = await network.at("one").open();
    network.at("two").bus.isFrozen = true;
    await network.pass(2_000);
    three.bus.faults = { lose: 1, repeat: 0, delay: 0 };
    three.note("lost");
    await network.pass(GATHER_MS);
    three.bus.faults = NO_FAULTS;
    await network.pass(1_000);
    expect(reader.read()).toEqual(["reset"]);
  });

  it("keeps a client that reloads at each reset up to date over a bus that loses, repeats and delays messages", async () => {
    const network = new Network("one", "two", "three");
    const reader = await network.at("one").open();
    for (const { bus } of network.members.values()) bus.faults = { lose: 0.3, repeat: 0.2, delay: 0.3 };
    const [stored, shown] = [new Map<string, string>(), new Map<string, string>()];
    let resets = 0;
    const read = (): void => {
      for (const text of reader.read()) {
        const [id = "", state = ""] = text.split(" ");
        if (text !== "reset") shown.set(id, state);
        else for (const [job, last] of stored) shown.set(job, last);
        if (text === "reset") resets += 1;
      }
    };
    for (let i = 0; i < 200; i += 1) {
      for (const [id, member] of network.members) {
        const state = i < 180 ? "running" : "completed";
        stored.set(`${id}-${i % 20}`, state);
        member.note(`${id}-${i % 20}`, state);
      }
      await network.pass(GATHER_MS);
      read();
    }
    for (const { bus } of network.members.values()) bus.faults = NO_FAULTS;
    await network.pass(5_000);
    read();
    expect([shown.size, new Set(shown.values())]).toEqual([60, new Set(["completed"])]);
    expect(resets).toBeGreaterThan(0);
  });
});
