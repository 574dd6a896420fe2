import { describe, expect, it } from "vitest";
import { keepLease } from "../../../coordinator/cluster/membership.ts";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import type { Peers } from "../../../coordinator/cluster/peers.ts";
import type { ClusterStore, Peer } from "../../../coordinator/store/cluster-store.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { peerOf, peersOn } from "./peers-on.ts";

const LEASE_MS = 10_000;
const RENEW_MS = 2_000;
const AWAY = new ServiceError("storage_unavailable", "away");

/** Opens a member with scripted storage, and records its actions in order. */
function openMember(): {
  lease: ReturnType<typeof keepLease>;
  peers: Peers;
  did: string[];
  facts: { isAway: boolean; wasValid: boolean; peers: Peer[]; adoptable: string[][] };
  pass: (ms: number) => Promise<void>;
  storageReturns: () => void;
} {
  const clock = new ManualClock();
  const did: string[] = [];
  const facts = { isAway: false, wasValid: true, peers: [peerOf("a")], adoptable: [] as string[][] };
  const listeners = new Set<() => void>();
  const answer = async <T>(auditEvent: string, value: T): Promise<T> => {
    if (facts.isAway) throw AWAY;
    did.push(auditEvent);
    return value;
  };
  const cluster: Partial<ClusterStore> = {
    selfId: "a",
    renew: () => answer("renew", facts.wasValid),
    peers: () => answer("peers", facts.peers),
    reap: () => answer("reap", 0),
    adopt: () => answer("adopt", facts.adoptable.shift() ?? []),
    leave: () => answer("leave", undefined),
    onReturn: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const peers = peersOn(new LocalBus(), "a");
  const mover = {
    adopt: async (ids: readonly string[]) => {
      did.push(`take in ${ids.join()}`);
      return ids.length;
    },
    reconcile: async () => void did.push("reconcile"),
  };
  const env = testEnv({ leaseMs: LEASE_MS, leaseRenewMs: RENEW_MS }, { clock });
  const lease = keepLease(env, cluster as ClusterStore, { peers, learnTime: async () => undefined }, mover);
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= RENEW_MS) {
      clock.advance(Math.min(left, RENEW_MS));
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const storageReturns = (): void => listeners.forEach((listener) => listener());
  return { lease, peers, did, facts, pass, storageReturns };
}

describe("keepLease()", () => {
  it("adopts the jobs of dead coordinators in parts when it starts", async () => {
    const { lease, did, facts } = openMember();
    facts.wasValid = false;
    facts.adoptable = [["1", "2"], ["3"]];
    await lease.start();
    expect(did).toEqual(["renew", "peers", "adopt", "take in 1,2", "adopt", "take in 3", "adopt"]);
  });

  it("ends no other lease before it has held its own for a full lease time, because all coordinators may be returning", async () => {
    const { lease, did, facts, pass } = openMember();
    await lease.start();
    await pass(LEASE_MS - RENEW_MS);
    expect(did).not.toContain("reap");
    await pass(RENEW_MS);
    expect(did).toContain("reap");
    facts.isAway = true;
    await pass(LEASE_MS + RENEW_MS);
    facts.isAway = false;
    did.length = 0;
    await pass(LEASE_MS);
    expect(did).toContain("adopt");
    expect(did).not.toContain("reap");
    await pass(RENEW_MS);
    expect(did).toContain("reap");
  });

  it("compares memory with storage after its own lease had expired", async () => {
    const { lease, did, facts, pass } = openMember();
    await lease.start();
    await pass(RENEW_MS);
    expect(did).not.toContain("reconcile");
    facts.wasValid = false;
    await pass(RENEW_MS);
    facts.wasValid = true;
    await pass(RENEW_MS);
    expect(did.filter((auditEvent) => auditEvent === "reconcile")).toHaveLength(1);
  });

  it("compares memory with storage every minute", async () => {
    const { lease, did, pass } = openMember();
    await lease.start();
    await pass(180_000);
    expect(did.filter((auditEvent) => auditEvent === "reconcile")).toHaveLength(3);
  });

  it("compares once more after a coordinator has gone, because its last transfer message may be lost", async () => {
    const { lease, did, facts, pass } = openMember();
    facts.peers = [peerOf("a"), peerOf("b")];
    await lease.start();
    await pass(2 * RENEW_MS);
    expect(did).not.toContain("reconcile");
    facts.peers = [peerOf("a")];
    await pass(3 * RENEW_MS);
    expect(did.filter((auditEvent) => auditEvent === "reconcile")).toHaveLength(1);
  });

  it("compares once more after a storage outage, because replies to commits may be lost", async () => {
    const { lease, did, facts, pass, storageReturns } = openMember();
    const times = (): number => did.filter((auditEvent) => auditEvent === "reconcile").length;
    await lease.start();
    await pass(RENEW_MS);
    storageReturns();
    await pass(3 * RENEW_MS);
    expect(times()).toBe(1);
    facts.isAway = true;
    await pass(RENEW_MS);
    facts.isAway = false;
    await pass(3 * RENEW_MS);
    expect(times()).toBe(2);
    await lease.leave();
    storageReturns();
    await pass(3 * RENEW_MS);
    expect(times()).toBe(2);
  });

  it("reports changes of the live coordinators, and keeps them while storage is unavailable", async () => {
    const { lease, peers, facts, pass } = openMember();
    await lease.start();
    const seen: string[][] = [];
    const unsubscribe = peers.onChange(() => seen.push(peers.live.map(({ id }) => id)));
    facts.peers = [peerOf("a"), peerOf("b")];
    await pass(2 * RENEW_MS);
    facts.isAway = true;
    await pass(3 * LEASE_MS);
    expect(peers.live).toHaveLength(2);
    facts.isAway = false;
    facts.peers = [peerOf("a")];
    await pass(RENEW_MS);
    unsubscribe();
    facts.peers = [peerOf("a"), peerOf("c")];
    await pass(RENEW_MS);
    expect(seen).toEqual([["a", "b"], ["a"]]);
  });

  it("does not renew after it has left", async () => {
    const { lease, did, pass } = openMember();
    await lease.start();
    await pass(RENEW_MS);
    await lease.leave();
    await lease.leave();
    did.splice(0, did.indexOf("leave"));
    await pass(LEASE_MS);
    expect(did).toEqual(["leave"]);
  });
});
