import type { Clock } from "../../shared/clock.ts";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { BusError } from "../bus/bus.ts";
import type { Peer } from "../store/cluster-store.ts";
import type { Question } from "./messages.ts";
import type { Peers } from "./peers.ts";

/** A quota owner that did not reply is not asked for so long: a coordinator that stands still holds up no requests. */
const SILENCE_MS = 1_000;
const MAX_SILENT = 1_000;

export type QuotaOwners = ReturnType<typeof quotaOwners>;

/**
 * Which coordinator counts for an account. All that know the same living coordinators choose the same one, and when one comes or goes only
 * the accounts of that one move (rendezvous hashing).
 */
export function quotaOwners(peers: Peers, clock: Clock) {
  let seeds: readonly { readonly id: string; readonly seed: number }[] = [];
  let seedsOf: readonly Peer[] | null = null;
  /** Until when a coordinator is not asked, by its id. */
  const silentUntilMs = recentMap<number>(MAX_SILENT);
  return {
    get selfId(): string {
      return peers.self.id;
    },
    /** Id of the coordinator that counts for the account. */
    of(accountId: string): string {
      const { living, self } = peers;
      if (living !== seedsOf) {
        seeds = living.map(({ id }) => ({ id, seed: hashOf(id) }));
        seedsOf = living;
      }
      const hash = hashOf(accountId);
      let [owner, best] = [self.id, -1];
      for (const { id, seed } of seeds) {
        const weight = mix(hash ^ seed);
        if (weight > best) [owner, best] = [id, weight];
      }
      return owner;
    },
    /** No other coordinator can be asked. */
    get isCutOff(): boolean {
      return peers.downBecause !== null;
    },
    /** Whether the owner can be asked now; always, if it is this coordinator and others can reach it. */
    isInReach(ownerId: string): boolean {
      if (peers.downBecause !== null) return peers.living.length <= 1;
      return ownerId === peers.self.id || clock.monotonicMs() >= (silentUntilMs.get(ownerId) ?? -Infinity);
    },
    /** This coordinator's part of a limit while the owner of an account's quota is out of reach, as all the others take theirs. */
    partOf(limit: number): number {
      return limit === 0 ? 0 : Math.max(1, Math.floor(limit / Math.max(1, peers.living.length)));
    },
    /** Undefined if the owner gives no reply. */
    async ask<Q, R>(ownerId: string, message: Question<Q, R>, question: DeepReadonly<Q>): Promise<R | undefined> {
      try {
        return await peers.ask(ownerId, message, question);
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        silentUntilMs.set(ownerId, clock.monotonicMs() + SILENCE_MS);
        return undefined;
      }
    },
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  return hash >>> 0;
}

/** Every bit of the result depends on every bit of the hash. Source: MurmurHash3, fmix32. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2_b2_ae_35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
