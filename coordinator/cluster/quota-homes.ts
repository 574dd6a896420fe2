import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { BusError, type Bus } from "../bus/bus.ts";
import type { Peer } from "../store/cluster-store.ts";
import type { Members } from "./members.ts";

export interface QuotaHomesDeps {
  readonly members: Pick<Members, "self" | "living">;
  readonly bus: Pick<Bus, "downBecause" | "request">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** A home answers from memory, within a millisecond. */
const MAX_ANSWER_MS = 500;
/** One that did not answer is not asked for so long: a coordinator that stands still holds up no requests. */
const SILENCE_MS = 1_000;
const MAX_SILENT = 1_000;

/** The subject on which a coordinator answers questions about quotas. */
export const quotaSubject = (coordinatorId: string): string => `${coordinatorId}.quota`;

/**
 * Which coordinator counts for an account: its home. All that know the same living coordinators choose the same one, and when one comes
 * or goes only the accounts of that one move (rendezvous hashing).
 */
export class QuotaHomes {
  readonly #deps: QuotaHomesDeps;
  #seeds: readonly { readonly id: string; readonly seed: number }[] = [];
  #seedsOf: readonly Peer[] | null = null;
  /** Until when a coordinator is not asked, by its id. */
  readonly #silentUntilMs = recentMap<number>(MAX_SILENT);

  constructor(deps: QuotaHomesDeps) {
    this.#deps = deps;
  }

  get selfId(): string {
    return this.#deps.members.self.id;
  }

  /** Id of the coordinator that counts for the account. */
  of(accountId: string): string {
    const { living, self } = this.#deps.members;
    if (living !== this.#seedsOf) {
      this.#seeds = living.map(({ id }) => ({ id, seed: hashOf(id) }));
      this.#seedsOf = living;
    }
    const hash = hashOf(accountId);
    let [home, best] = [self.id, -1];
    for (const { id, seed } of this.#seeds) {
      const weight = mix(hash ^ seed);
      if (weight > best) [home, best] = [id, weight];
    }
    return home;
  }

  /** No other coordinator can be asked. */
  get isCutOff(): boolean {
    return this.#deps.bus.downBecause !== null;
  }

  /** Whether the home can be asked now; always, if it is this coordinator and others can reach it. */
  isInReach(homeId: string): boolean {
    const { members, clock } = this.#deps;
    if (this.isCutOff) return members.living.length <= 1;
    return homeId === this.selfId || clock.monotonicMs() >= (this.#silentUntilMs.get(homeId) ?? -Infinity);
  }

  /** This coordinator's part of a limit while the home of an account is out of reach, as all the others take theirs. */
  partOf(limit: number): number {
    return limit === 0 ? 0 : Math.max(1, Math.floor(limit / Math.max(1, this.#deps.members.living.length)));
  }

  /** Undefined if the home gives no answer. */
  async ask(homeId: string, question: object): Promise<object | undefined> {
    try {
      const answer = await this.#deps.bus.request(quotaSubject(homeId), question, MAX_ANSWER_MS);
      return typeof answer === "object" && answer !== null ? answer : undefined;
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      this.#silentUntilMs.set(homeId, this.#deps.clock.monotonicMs() + SILENCE_MS);
      return undefined;
    }
  }
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
