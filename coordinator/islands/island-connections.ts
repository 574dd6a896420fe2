import { ServiceError } from "../../shared/errors.ts";
import { MAX_FRAME_BYTES, ProtocolError } from "../../shared/protocol/codec.ts";
import { OUTPUTS_FEATURE, type HeldDecision, type QuarantineNotice } from "../../shared/protocol/from-coordinator.ts";
import type {
  FromIsland,
  HeldJob,
  Hello,
  IslandState,
  NumberedFrame,
  SingleFrame,
} from "../../shared/protocol/from-island.ts";
import type { IslandIdentity } from "../accounts/identity.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Env } from "../env.ts";
import type { Store } from "../store/store.ts";
import type { CargoSigner } from "./cargo-signer.ts";
import type { IslandLink, IslandView } from "./island.ts";
import { REMOVED, REPLACED, type IslandRegistry } from "./island-registry.ts";

/** Retry interval of a suspended Island, so that the Island returns after it is reinstated. */
export const SUSPENDED_RETRY_MS = 60_000;

type AttemptFrame = Extract<FromIsland, { attempt: number }>;

/** Receiver of attempt reports, implemented by `dispatch/`. */
export interface AttemptReports {
  /**
   * Claims jobs from other coordinators that a returning Island holds, if its attempt tokens are valid. Returns
   * undefined if the Island holds no such job. @throws {ServiceError} `storage_unavailable`
   */
  claim(hostId: string, accountId: string, held: readonly HeldJob[]): Promise<void> | undefined;
  /** Decides for each job that a returning Island holds whether the Island continues it. */
  reconcile(island: IslandView, held: readonly HeldJob[]): HeldDecision[];
  noteProgress(island: IslandView, state: IslandState): void;
  /**
   * Handles a frame. The promise resolves when the content is durable, and a numbered frame is then acknowledged.
   * Output that is stored together shares one promise. It resolves with false if the frame was not applied and the
   * Island will resend it. Returns undefined if the frame is neither stored nor acknowledged. @throws {ProtocolError}
   * if a numbered frame before this one is missing.
   */
  receive(islandId: string, frame: AttemptFrame): Promise<void | false> | undefined;
}

/** Orders an Island's sessions at all coordinators. The number of a session is null if storage failed. */
export interface SessionOrder {
  /** Returns the number of a session whose `hello` has just arrived. Never rejects. */
  next(hostId: string): Promise<number | null>;
  /** Returns false if the Island has a newer session at this or another coordinator. */
  admits(hostId: string, number: number | null): boolean;
  /** Ends the Island's older sessions, if they are of the same account. */
  begin(hostId: string, accountId: string, number: number | null): void;
}

export type IslandConnections = ReturnType<typeof islandConnections>;

/**
 * Handles the frames of all Islands.
 * @param quarantineOf Returns the quarantine notice for the owner of an Island; null if it is not in quarantine.
 * @param suspensionOf Returns why the operator suspended an Island or its account; null if neither is suspended.
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
    // Only the end of a run changes the quarantine.
    const notice = type === "output" ? {} : { quarantine: quarantineOf(hostId) };
    registry.send(hostId, { type: "ack", jobId, attempt, seq, ...notice });
  });

  /** Returns false if the Island has left, is suspended or has a newer session. Dismisses it in the last two cases. */
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

  /** Sends the Cargos that the Island requested, if its owner may run them. */
  const offer = (island: IslandView, slugs: readonly string[]): void => {
    for (const slug of new Set(slugs)) {
      const entry = catalog.find(slug, island.accountId);
      if (entry !== undefined) registry.send(island.hostId, { type: "preload", ...signer.sign(entry) });
    }
  };

  return {
    /**
     * Accepts an Island, decides which of its held jobs it continues, and sends `welcome`. Resolves with null if the
     * Island has left, is suspended or has a newer session. @throws {ServiceError} `insufficient_scope` if the host id
     * belongs to another account.
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
      // The number is requested now: another session may start while this session waits.
      const numbering = order.next(hostId);
      const saved = await store.islands.save(report, tokenCreatedAtMs);
      if (saved === "removed") {
        link.dismiss(REMOVED, null);
        return null;
      }
      // The row of a connected Island may have been dropped.
      const isOtherAccount = (registry.get(hostId)?.accountId ?? accountId) !== accountId;
      if (saved === "of_another" || isOtherAccount)
        throw new ServiceError("insufficient_scope", "This host id belongs to another account");
      const number = await numbering;
      if (!isWelcome(hostId, accountId, number, link)) return null;
      const claimed = reports.claim(hostId, accountId, hello.held);
      if (claimed !== undefined) await claimed;
      if (!isWelcome(hostId, accountId, number, link)) return null;
      const island = registry.connect(hello, accountId, link);
      const held = reports.reconcile(island, hello.held);
      const quarantine = quarantineOf(hostId);
      const limits = { heartbeatMs, maxFrameBytes: MAX_FRAME_BYTES };
      link.send({ type: "welcome", sessionId, ...limits, held, quarantine, features: [OUTPUTS_FEATURE] });
      registry.resume(island, held);
      order.begin(hostId, accountId, number);
      return island;
    },

    disconnect: (island: IslandView, link: IslandLink): void => registry.disconnect(island, link),
    noteRoundTrip: (island: IslandView, rttMs: number): void => registry.setRoundTrip(island, rttMs),

    /** See `AttemptReports.receive`. @throws {ProtocolError} if the frame does not fit the session's state. */
    receive(island: IslandView, frame: SingleFrame): Promise<void | false> | undefined {
      switch (frame.type) {
        case "hello":
          throw new ProtocolError("hello: sent twice");
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
 * Returns a function that sends one `ack` for all frames of an attempt that become durable in one write, instead of one
 * per token.
 * @param send Sends the `ack` for all frames up to `last`.
 */
export function acknowledgements(
  send: (hostId: string, last: Pick<NumberedFrame, "type" | "jobId" | "attempt" | "seq">) => void,
) {
  /** The last frame of each write in flight. */
  const lastOf = new WeakMap<Promise<void | false>, { type: NumberedFrame["type"]; seq: number }>();
  /** @param durable See `AttemptReports.receive`. */
  return (hostId: string, { type, jobId, attempt, seq }: NumberedFrame, durable: Promise<void | false>): void => {
    const known = lastOf.get(durable);
    if (known !== undefined) {
      known.type = type;
      known.seq = seq;
      return;
    }
    const last = { type, seq };
    lastOf.set(durable, last);
    void durable.then((isApplied) => {
      if (isApplied !== false) send(hostId, { ...last, jobId, attempt });
    });
  };
}
