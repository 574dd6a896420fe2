import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import {
  unsharedCredentials,
  watchCredentials,
  type CredentialWatch,
} from "../../../coordinator/cluster/credential-watch.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { peersOn } from "./peers-on.ts";

/** Storage that replies when the test releases a reply. */
class HeldChanges {
  revision = 1;
  reads = 0;
  isAway = false;
  hold: Promise<void> | null = null;
  atMs = 0;
  readonly gone = new Set<string>();
  readonly asked: (readonly string[])[] = [];
  readonly ends: { readonly revision: number; readonly credential: string }[] = [];

  end(credential: string): void {
    this.revision += 1;
    this.gone.add(credential);
    this.ends.push({ revision: this.revision, credential });
  }

  /** Acts as if an hour had passed. */
  forgetEnds(): void {
    this.ends.length = 0;
    this.atMs += 3_600_000;
  }

  async endedOf(credentials: readonly string[]): Promise<string[]> {
    this.asked.push(credentials);
    if (this.isAway) throw new ServiceError("storage_unavailable", "away");
    return credentials.filter((credential) => this.gone.has(credential));
  }

  async since(revision: number | null): Promise<{ revision: number; ended: string[]; atMs: number }> {
    this.reads += 1;
    if (this.isAway) throw new ServiceError("storage_unavailable", "away");
    const answer = {
      atMs: this.atMs,
      revision: this.revision,
      ended: this.ends.flatMap((end) => (end.revision > (revision ?? Infinity) ? [end.credential] : [])),
    };
    await this.hold;
    return answer;
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("unsharedCredentials()", () => {
  it("ends a revoked credential within a second, or once storage is available again", async () => {
    const changes = new HeldChanges();
    const clock = new ManualClock();
    const ended: string[] = [];
    const accounts = {
      endedOf: (credentials: readonly string[]) => changes.endedOf(credentials),
      credentialsRevision: async () => (await changes.since(null)).revision,
    };
    const watch = unsharedCredentials(accounts, { clock, log: testEnv().log });
    watch.serve({ end: (credential) => ended.push(credential), open: () => ["itk_1", "itk_2", "itk_3"] });
    const passSecond = async (): Promise<void> => {
      clock.advance(1_000);
      await settle();
    };
    await passSecond();
    changes.end("itk_1");
    await passSecond();
    expect(ended).toEqual(["itk_1"]);
    await passSecond();
    changes.isAway = true;
    changes.end("itk_2");
    for (let round = 0; round < 10; round += 1) await passSecond();
    expect(ended).toEqual(["itk_1", "itk_1"]);
    changes.isAway = false;
    await passSecond();
    expect(ended).toEqual(["itk_1", "itk_1", "itk_1", "itk_2"]);
    watch.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("unsharedCredentials() while a session opens", () => {
  it("ends a credential that was revoked after its look-up and checked before its session opened", async () => {
    const changes = new HeldChanges();
    const clock = new ManualClock();
    const ended: string[] = [];
    const open: string[] = [];
    const accounts = {
      endedOf: (credentials: readonly string[]) => changes.endedOf(credentials),
      credentialsRevision: async () => (await changes.since(null)).revision,
    };
    const watch = unsharedCredentials(accounts, { clock, log: testEnv().log });
    watch.serve({ end: (credential) => ended.push(credential), open: () => open });
    changes.end("itk_1");
    clock.advance(1_000);
    await settle();
    open.push("itk_1");
    clock.advance(1_000);
    await settle();
    expect(ended).toEqual(["itk_1"]);
    open.length = 0;
    const asked = changes.asked.length;
    clock.advance(5_000);
    await settle();
    expect(changes.asked).toHaveLength(asked);
    watch.close();
  });
});

describe("watchCredentials()", () => {
  let changes: HeldChanges;
  let clock: ManualClock;
  let bus: LocalBus;
  let [one, two]: CredentialWatch[] = [];
  let ended: string[];
  let open: string[];
  const watch = (): CredentialWatch => watchCredentials(changes, changes, peersOn(bus, "c1"), clock);
  beforeEach(() => {
    [changes, clock, bus, ended, open] = [new HeldChanges(), new ManualClock(), new LocalBus(), [], []];
    [one, two] = [watch(), watch()];
    two?.serve({ end: (credential) => ended.push(credential), open: () => open });
  });
  afterEach(() => {
    one?.close();
    two?.close();
  });

  it("reads storage twice a second, not for each caller", async () => {
    two?.close();
    expect(await one?.revision()).toBe(1);
    for (let round = 1; round <= 4; round += 1) {
      clock.advance(500);
      await settle();
      expect(one?.revision()).toBe(1);
      expect(changes.reads).toBe(1 + round);
    }
  });

  it("finds a change by another program within half a second, and ends the credential once", async () => {
    await two?.revision();
    changes.end("key_1");
    changes.end("session");
    clock.advance(500);
    await settle();
    expect([two?.revision(), ended]).toEqual([3, ["key_1", "session"]]);
    clock.advance(500);
    await settle();
    expect(ended).toHaveLength(2);
  });

  it("finds a local change with the next call, and a remote one with its message", async () => {
    await Promise.all([one?.revision(), two?.revision()]);
    changes.end("key_1");
    one?.changed();
    expect(await one?.revision()).toBe(2);
    await settle();
    expect([two?.revision(), ended]).toEqual([2, ["key_1"]]);
  });

  it("does not use a reading that started before a local change", async () => {
    await one?.revision();
    const held = Promise.withResolvers<void>();
    changes.hold = held.promise;
    clock.advance(500);
    changes.hold = null;
    changes.end("key_1");
    one?.changed();
    expect(await one?.revision()).toBe(2);
    held.resolve();
    await settle();
    expect(await one?.revision()).toBe(2);
  });

  it("rejects calls with the storage error rather than use data older than a second", async () => {
    await one?.revision();
    changes.isAway = true;
    clock.advance(999);
    await settle();
    expect(one?.revision()).toBe(1);
    clock.advance(1);
    await expect(one?.revision()).rejects.toMatchObject({ code: "storage_unavailable" });
    changes.isAway = false;
    expect(await one?.revision()).toBe(1);
  });

  it("checks the open credentials with the first reading, as they may have ended before it", async () => {
    open = ["itk_1", "itk_2"];
    changes.end("itk_1");
    await two?.revision();
    expect(ended).toEqual(["itk_1"]);
  });

  it("ends a credential that was revoked while storage was unavailable", async () => {
    open = ["itk_1"];
    await two?.revision();
    changes.isAway = true;
    for (let round = 0; round < 20; round += 1) {
      clock.advance(500);
      await settle();
    }
    changes.end("itk_1");
    changes.isAway = false;
    clock.advance(500);
    await settle();
    expect(ended).toEqual(["itk_1"]);
  });

  it("checks all open credentials after a gap in which storage may have dropped ended ones", async () => {
    await two?.revision();
    open = ["key_1", ...Array.from({ length: 1_500 }, (_, index) => `token ${index}`), "session", "key_1"];
    changes.end("key_1");
    changes.end("session");
    changes.end("not open here");
    changes.forgetEnds();
    expect(await two?.revision()).toBe(1);
    clock.advance(1_000);
    expect([await two?.revision(), ended]).toEqual([4, ["key_1", "session"]]);
    expect(changes.asked.map(({ length }) => length)).toEqual([1_000, 502]);
    changes.atMs += 1_000_000;
    clock.advance(1_000);
    await two?.revision();
    expect(changes.asked).toHaveLength(2);
  });

  it("reads again if storage fails before it replies", async () => {
    await two?.revision();
    open = ["key_1"];
    changes.end("key_1");
    changes.forgetEnds();
    changes.hold = Promise.resolve().then(() => void (changes.isAway = true));
    clock.advance(1_000);
    await expect(two?.revision()).rejects.toMatchObject({ code: "storage_unavailable" });
    changes.isAway = false;
    changes.hold = null;
    expect([await two?.revision(), ended]).toEqual([2, ["key_1"]]);
  });

  it("leaves no timer after close", () => {
    one?.close();
    two?.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
