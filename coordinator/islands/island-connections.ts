import { ServiceError } from "../../shared/errors.ts";
import { MAX_FRAME_BYTES, ProtocolError } from "../../shared/protocol/codec.ts";
import type { HeldDecision, QuarantineNotice } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, HeldJob, Hello, IslandState, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { IslandIdentity } from "../accounts/identity.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Env } from "../env.ts";
import type { Store } from "../store/store.ts";
import type { CargoSigner } from "./cargo-signer.ts";
import type { IslandLink, IslandView } from "./island.ts";
import { REMOVED, REPLACED, type IslandRegistry } from "./island-registry.ts";

/** An Island that its operator suspended asks again after this time, so that it comes back when it is reinstated. */
export const SUSPENDED_RETRY_MS = 60_000;

/** A frame in which an Island reports on one of its attempts. */
type AttemptFrame = Extract<FromIsland, { attempt: number }>;

/** Receives the reports of Islands on their attempts. Implemented by `dispatch/`. */
export interface AttemptReports {
  /**
   * Brings jobs here that a returning Island says it holds and another coordinator has, if its proofs are valid. Undefined when there are
   * none. @throws {ServiceError} `storage_unavailable`.
   */
  claim(hostId: string, accountId: string, held: readonly HeldJob[]): Promise<void> | undefined;
  /** Decides, for each job that a returning Island says it holds, whether the Island continues it. */
  reconcile(island: IslandView, held: readonly HeldJob[]): HeldDecision[];
  noteProgress(island: IslandView, state: IslandState): void;
  /**
   * Acts on a frame. Resolves when what it says is durable, which is when a numbered frame is acknowledged; output that is stored
   * together has one promise. False when the frame was not handled: it comes again. Undefined when there is nothing to wait for and nothing
   * to acknowledge.
   * @throws {ProtocolError} when a numbered frame is missing before this one.
   */
  receive(islandId: string, frame: AttemptFrame): Promise<void | false> | undefined;
}

/**
 * Which session of an Island is the newest, where several coordinators may have one. That is not known for a session without a number
 * (null), which storage did not give.
 */
export interface SessionOrder {
  /** The number of a session whose hello has just come. Never rejects. */
  next(hostId: string): Promise<number | null>;
  /** False if the Island has a newer session, here or elsewhere. */
  admits(hostId: string, number: number | null): boolean;
  /** The session has begun: older ones of the same account end. */
  begin(hostId: string, accountId: string, number: number | null): void;
}

export type IslandConnections = ReturnType<typeof islandConnections>;

/**
 * Handles the frames of all Islands.
 * @param quarantineOf What the owner of an Island should know of its quarantine; null if it is in none.
 * @param suspensionOf Why the operator suspended an Island or its account; null if neither is suspended.
 */
export function islandConnections(
  { clock, config }: Pick<Env<"heartbeatMs">, "clock" | "config">,
  store: Pick<Store, "islands">,
  registry: IslandRegistry,
  reports: AttemptReports,
  signer: Pick<CargoSigner, "sign">,
  catalog: Pick<Catalog, "find">,
  quarantineOf: (hostId: string) => QuarantineNotice | null,
  suspensionOf: (hostId: string, accountId: string) => string | null,
  order: SessionOrder,
) {
  const { heartbeatMs } = config;
  const acknowledge = acknowledgements((hostId, { type, jobId, attempt, seq }) => {
    // Only the end of a run changes it.
    const news = type === "output" ? {} : { quarantine: quarantineOf(hostId) };
    registry.send(hostId, { type: "ack", jobId, attempt, seq, ...news });
  });

  /** False once the Island has left, is suspended, or has a newer session; then this one ends. */
  const isWelcome = (hostId: string, accountId: string, number: number | null, link: IslandLink): boolean => {
    if (!link.isOpen) return false;
    const suspended = suspensionOf(hostId, accountId);
    if (suspended !== null) {
      link.dismiss(suspended, SUSPENDED_RETRY_MS);
      return false;
    }
    const isNewest = order.admits(hostId, number);
    if (!isNewest) link.dismiss(REPLACED, null);
    return isNewest;
  };

  /** Sends the Cargos that the Island asked for, if its owner may run them. */
  const offer = (island: IslandView, slugs: readonly string[]): void => {
    for (const slug of new Set(slugs)) {
      const entry = catalog.find(slug, island.accountId);
      if (entry !== undefined) registry.send(island.hostId, { type: "preload", ...signer.sign(entry) });
    }
  };

  return {
    /**
     * Lets an Island in, decides which of the jobs it holds it continues, and sends `welcome`. Null when it has left in the meantime, or has
     * a newer session.
     * @throws {ServiceError} `insufficient_scope` when the host id belongs to another account.
     */
    async connect(
      hello: Hello,
      owner: Pick<IslandIdentity, "accountId" | "tokenCreatedAtMs">,
      sessionId: string,
      link: IslandLink,
    ): Promise<IslandView | null> {
      const { accountId, tokenCreatedAtMs } = owner;
      const { hostId, agentVersion, hostName = null, hardware, runtimes } = hello;
      const report = { hostId, accountId, agentVersion, hostName, hardware, runtimes, lastSeenAtMs: clock.now() };
      // Taken now, as another session may begin while this one waits.
      const numbering = order.next(hostId);
      const saved = await store.islands.save(report, tokenCreatedAtMs);
      if (saved === "removed") {
        link.dismiss(REMOVED, null);
        return null;
      }
      // Also one whose row was dropped while it is connected.
      const isOfAnother = (registry.get(hostId)?.accountId ?? accountId) !== accountId;
      if (saved === "of_another" || isOfAnother)
        throw new ServiceError("insufficient_scope", "This host id belongs to another account");
      const number = await numbering;
      if (!isWelcome(hostId, accountId, number, link)) return null;
      const claimed = reports.claim(hostId, accountId, hello.held);
      if (claimed !== undefined) await claimed;
      if (!isWelcome(hostId, accountId, number, link)) return null;
      const island = registry.connect(hello, accountId, link);
      const held = reports.reconcile(island, hello.held);
      const quarantine = quarantineOf(hostId);
      link.send({ type: "welcome", sessionId, heartbeatMs, maxFrameBytes: MAX_FRAME_BYTES, held, quarantine });
      registry.resume(island, held);
      order.begin(hostId, accountId, number);
      return island;
    },

    disconnect: (island: IslandView, link: IslandLink): void => registry.disconnect(island, link),
    noteRoundTrip: (island: IslandView, rttMs: number): void => registry.setRoundTrip(island, rttMs),

    /**
     * Acts on a frame. Resolves when what it says is durable, with false if it was not handled; undefined for frames that are not stored.
     * @throws {ProtocolError} for a frame that does not fit the session's state.
     */
    receive(island: IslandView, frame: FromIsland): Promise<void | false> | undefined {
      switch (frame.type) {
        case "hello":
          throw new ProtocolError("hello: said twice");
        case "heartbeat":
          registry.update(island, frame.state);
          reports.noteProgress(island, frame.state);
          return undefined;
        case "draining":
        case "accepting":
          registry.setDraining(island, frame.type === "draining");
          return undefined;
        case "wanted":
          offer(island, frame.slugs);
          return undefined;
        case "taken":
          return undefined;
        case "accepted":
        case "started":
        case "refused":
          return reports.receive(island.hostId, frame);
        case "output":
        case "finished":
        case "failed":
        case "cancelled": {
          const durable = reports.receive(island.hostId, frame);
          if (durable !== undefined) acknowledge(island.hostId, frame, durable);
          return durable;
        }
        default:
          return frame satisfies never;
      }
    },
  };
}

/**
 * Sends one `ack` for all frames of an attempt that become durable in one write, instead of one for each token.
 * @param send Sends the Island the `ack` for the frames up to and with this one.
 */
export function acknowledgements(
  send: (hostId: string, last: Pick<NumberedFrame, "type" | "jobId" | "attempt" | "seq">) => void,
) {
  /** The last frame of each write that is under way. */
  const lastOf = new WeakMap<Promise<void | false>, { seq: number }>();
  /** @param durable Resolves when the frame is durable; the same promise for all frames of one write. False: the frame was not handled. */
  return (hostId: string, { type, jobId, attempt, seq }: NumberedFrame, durable: Promise<void | false>): void => {
    const last = lastOf.get(durable);
    if (last !== undefined) {
      last.seq = seq;
      return;
    }
    const first = { seq };
    lastOf.set(durable, first);
    void durable.then((heard) => {
      if (heard !== false) send(hostId, { type, jobId, attempt, seq: first.seq });
    });
  };
}
