import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { EventFollower } from "../../../coordinator/cluster/event-follower.ts";
import { EventSource } from "../../../coordinator/cluster/event-source.ts";
import { AccountEvents, GATHER_MS } from "../../../coordinator/events/account-events.ts";
import type { EventReader } from "../../../coordinator/events/event-reader.ts";
import { parsePosition } from "../../../coordinator/events/position.ts";
import type { JobState } from "../../../shared/job-state.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Random } from "../../support/random.ts";
import { makeJobChange, readAll } from "../events/event-builders.ts";
import { FaultyBus } from "./faulty-bus.ts";

const ACCOUNT = "user_1";
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Coordinators on one bus; all have the time of one clock. */
class Network {
  readonly clock = new ManualClock();
  readonly bus = new LocalBus();
  readonly random = new Random(7);
  readonly members = new Map<string, Member>();
  published = 0;
  #living: string[] = [];

  constructor(...ids: string[]) {
    for (const id of ids) this.start(id);
  }

  get living() {
    return this.#living.map((id) => ({ id, address: "", version: "" }));
  }

  start(id: string): Member {
    const member = new Member(this, id);
    this.members.set(id, member);
    this.#setLiving([...this.#living, id]);
    return member;
  }

  kill(id: string): void {
    this.at(id).close();
    this.#setLiving(this.#living.filter((other) => other !== id));
  }

  at(id: string): Member {
    return this.members.get(id) as Member;
  }

  /** Time passes, and messages arrive. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= GATHER_MS) {
      this.clock.advance(Math.min(left, GATHER_MS));
      await settled();
    }
  }

  #setLiving(ids: string[]): void {
    this.#living = ids;
    for (const id of ids) for (const listener of this.at(id).onChange) listener();
  }
}

class Member {
  readonly events: AccountEvents;
  readonly bus: FaultyBus;
  readonly onChange = new Set<() => void>();
  readonly #network: Network;
  readonly #follower: EventFollower;
  readonly #source: EventSource;

  constructor(network: Network, id: string) {
    this.#network = network;
    this.bus = new FaultyBus(network.bus, network.clock, network.random);
    const { clock } = network;
    this.events = new AccountEvents({ selfId: id, clock });
    const members = {
      self: { id, address: "", version: "" },
      get living() {
        return network.living;
      },
      onChange: (listener: () => void) => {
        this.onChange.add(listener);
        return () => this.onChange.delete(listener);
      },
    };
    const counted = {
      publish: (subject: string, message: unknown): void => {
        network.published += 1;
        this.bus.publish(subject, message);
      },
      answer: this.bus.answer.bind(this.bus),
    };
    const follower = new EventFollower({ events: this.events, bus: this.bus, members, clock });
    const source = new EventSource({ events: this.events, bus: counted, clock });
    this.#follower = follower;
    this.#source = source;
    this.events.share({
      follow: (...wanted) => follower.follow(...wanted),
      unfollow: (accountId) => follower.unfollow(accountId),
      tell: (accountIds) => source.tell(accountIds),
    });
  }

  async open(position: string | null = null): Promise<EventReader> {
    return this.events.open(ACCOUNT, position === null ? null : parsePosition(position), () => undefined);
  }

  note(id: string, state: JobState = "running", atMs = this.#network.clock.now()): void {
    this.events.note(ACCOUNT, makeJobChange(id, atMs, { state }));
  }

  close(): void {
    this.#follower.close();
    this.#source.close();
    this.events.close();
  }
}

describe("events of several coordinators", () => {
  it("reach a listener wherever they happen, and cost nothing where nobody listens", async () => {
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
    expect(readAll(reader).sort()).toEqual(["a running", "b running", "c running"]);
    expect(network.published).toBe(2);
    // The coordinator goes on asking for another account.
    await one.events.open("user_2", null, () => undefined);
    reader.close();
    await network.pass(6_000);
    two.note("d");
    await network.pass(1_000);
    expect(network.published).toBe(2);
    await network.pass(120_000);
    expect(two.events.isWatched(ACCOUNT)).toBe(false);
  });

  it("go on at another coordinator after the last event that a client got", async () => {
    const network = new Network("one", "two", "three");
    const [one, two, three] = [network.at("one"), network.at("two"), network.at("three")];
    const reader = await one.open();
    for (const member of [one, two, three]) member.note("first");
    await network.pass(2 * GATHER_MS);
    readAll(reader);
    const { position } = reader;
    reader.close();
    for (const [id, member] of network.members) member.note(`missed at ${id}`);
    await network.pass(2 * GATHER_MS);
    const again = await two.open(position);
    expect(readAll(again).sort()).toEqual([
      "missed at one running",
      "missed at three running",
      "missed at two running",
    ]);
    one.note("next");
    await network.pass(2 * GATHER_MS);
    expect(readAll(again)).toEqual(["next running"]);
  });

  it("that may be missing are told as reset: a coordinator died, another one came, one was not heard at first", async () => {
    const network = new Network("one", "two");
    const reader = await network.at("one").open();
    const { position } = reader;
    network.kill("two");
    await settled();
    network.at("one").note("a");
    await network.pass(2 * GATHER_MS);
    expect(readAll(reader)).toEqual(["reset"]);
    network.at("one").note("b");
    await network.pass(2 * GATHER_MS);
    expect(readAll(reader)).toEqual(["b running"]);
    network.start("three");
    await network.pass(2 * GATHER_MS);
    expect(readAll(reader)).toEqual(["reset"]);
    network.at("three").note("b");
    await network.pass(2 * GATHER_MS);
    expect(readAll(reader)).toEqual(["b running"]);
    expect(readAll(await network.at("three").open(position))).toEqual(["reset"]);

    const late = new Network("one", "two");
    late.at("two").bus.downBecause = "cut";
    late.at("one").bus.downBecause = "cut";
    const alone = await late.at("one").open();
    late.at("two").bus.downBecause = null;
    late.at("one").bus.downBecause = null;
    await late.pass(2_000);
    expect(readAll(alone)).toEqual(["reset"]);
  });

  it("come whole after a forged position: a reset, and then all that changes", async () => {
    const network = new Network("one", "two");
    const [one, two] = [network.at("one"), network.at("two")];
    for (const forged of ["one-1.two-999999", "one-999999.two-1", "two-1", "one-1.two-1.three-1"]) {
      const reader = await one.open(forged);
      expect([forged, readAll(reader)]).toEqual([forged, ["reset"]]);
      one.note("a");
      two.note("b");
      await network.pass(2 * GATHER_MS);
      expect([forged, readAll(reader).sort()]).toEqual([forged, ["a running", "b running"]]);
      reader.close();
      await network.pass(180_000);
    }
  });

  it("are not lost with a message, and a listener that was cut off for seconds gets all", async () => {
    const network = new Network("one", "two");
    const [one, two] = [network.at("one"), network.at("two")];
    const reader = await one.open();
    for (const { bus } of [one, two]) bus.downBecause = "cut";
    two.note("a");
    await network.pass(3_000);
    two.note("b");
    await network.pass(500);
    expect(readAll(reader)).toEqual([]);
    for (const { bus } of [one, two]) bus.downBecause = null;
    await network.pass(2_000);
    expect(readAll(reader)).toEqual(["a running", "b running"]);
  });

  it("come in the order of the job when it moves, whichever message is late", async () => {
    const network = new Network("one", "two", "three");
    const reader = await network.at("one").open();
    const atMs = network.clock.now();
    network.at("three").note("job", "completed", atMs);
    await network.pass(2 * GATHER_MS);
    network.at("two").note("job", "running", atMs + 5);
    await network.pass(2 * GATHER_MS);
    expect(readAll(reader)).toEqual(["job completed"]);
  });

  it("are all told in the end over a bus that loses, repeats and delays", async () => {
    const network = new Network("one", "two", "three");
    const reader = await network.at("one").open();
    for (const { bus } of network.members.values()) bus.faults = { lose: 0.3, repeat: 0.2, delay: 0.3 };
    const last = new Map<string, string>();
    const told = (): void => {
      for (const text of readAll(reader)) {
        if (text === "reset") throw new Error("Nothing was lost for good");
        const [id = "", state = ""] = text.split(" ");
        last.set(id, state);
      }
    };
    for (let i = 0; i < 200; i += 1) {
      for (const [id, member] of network.members) member.note(`${id}-${i % 20}`, i < 180 ? "running" : "completed");
      await network.pass(GATHER_MS);
      told();
    }
    for (const { bus } of network.members.values()) bus.faults = { lose: 0, repeat: 0, delay: 0 };
    await network.pass(3_000);
    told();
    expect([last.size, new Set(last.values())]).toEqual([60, new Set(["completed"])]);
  });
});
