import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { MAX_FRAME_BYTES, ProtocolError } from "../../shared/protocol/codec.ts";
import type { QuarantineNotice } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello } from "../../shared/protocol/from-island.ts";
import type { IslandIdentity } from "../accounts/identity.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Store } from "../store/store.ts";
import { Acknowledgements } from "./session/acknowledgements.ts";
import type { AttemptReports } from "./attempt-reports.ts";
import type { CargoSigner } from "./cargo-signer.ts";
import type { IslandLink, IslandView } from "./island.ts";
import { REMOVED, REPLACED, type IslandRegistry } from "./island-registry.ts";
import type { SessionOrder } from "./session-order.ts";
import { SUSPENDED_RETRY_MS, type SuspendedIslands } from "./suspended-islands.ts";

export interface IslandConnectionsDeps {
  readonly store: Pick<Store, "islands">;
  readonly registry: IslandRegistry;
  readonly reports: AttemptReports;
  readonly signer: Pick<CargoSigner, "sign">;
  readonly catalog: Pick<Catalog, "find">;
  readonly clock: Pick<Clock, "now">;
  readonly heartbeatMs: number;
  /** What the owner of an Island should know of its quarantine; null if it is in none. */
  readonly quarantineOf: (hostId: string) => QuarantineNotice | null;
  /** Undefined for a coordinator that is alone: what comes later is newer. */
  readonly order?: SessionOrder | undefined;
  /** Absent: none is. */
  readonly suspended?: SuspendedIslands | undefined;
}

/** What a session does with the frames of its Island. */
export class IslandConnections {
  readonly #deps: IslandConnectionsDeps;
  readonly #acknowledgements: Acknowledgements;

  constructor(deps: IslandConnectionsDeps) {
    this.#deps = deps;
    const { registry, quarantineOf } = deps;
    this.#acknowledgements = new Acknowledgements((hostId, { type, jobId, attempt, seq }) => {
      // Only the end of a run changes it.
      const news = type === "output" ? {} : { quarantine: quarantineOf(hostId) };
      registry.send(hostId, { type: "ack", jobId, attempt, seq, ...news });
    });
  }

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
    const { store, clock, registry, reports, heartbeatMs, quarantineOf, order } = this.#deps;
    const { accountId, tokenCreatedAtMs } = owner;
    const { hostId, agentVersion, hostName = null, hardware, runtimes } = hello;
    const report = { hostId, accountId, agentVersion, hostName, hardware, runtimes, lastSeenAtMs: clock.now() };
    // Taken now, as another session may begin while this one waits.
    const numbering = order?.next(hostId);
    const saved = await store.islands.save(report, tokenCreatedAtMs);
    if (saved === "removed") {
      link.dismiss(REMOVED, null);
      return null;
    }
    // Also one whose row was dropped while it is connected.
    const isOfAnother = (registry.get(hostId)?.accountId ?? accountId) !== accountId;
    if (saved === "of_another" || isOfAnother)
      throw new ServiceError("insufficient_scope", "This host id belongs to another account");
    const number = numbering === undefined ? null : await numbering;
    if (!this.#isWelcome(hostId, accountId, number, link)) return null;
    const claimed = reports.claim(hostId, accountId, hello.held);
    if (claimed !== undefined) await claimed;
    if (!this.#isWelcome(hostId, accountId, number, link)) return null;
    const island = registry.connect(hello, accountId, link);
    const held = reports.reconcile(island, hello.held);
    const quarantine = quarantineOf(hostId);
    link.send({ type: "welcome", sessionId, heartbeatMs, maxFrameBytes: MAX_FRAME_BYTES, held, quarantine });
    registry.resume(island, held);
    order?.begin(hostId, accountId, number);
    return island;
  }

  disconnect(island: IslandView, link: IslandLink): void {
    this.#deps.registry.disconnect(island, link);
  }

  noteRoundTrip(island: IslandView, rttMs: number): void {
    this.#deps.registry.setRoundTrip(island, rttMs);
  }

  /**
   * Acts on a frame. Resolves when what it says is durable, with false if nobody heard it; undefined for frames that are not stored.
   * @throws {ProtocolError} for a frame that does not fit the session's state.
   */
  receive(island: IslandView, frame: FromIsland): Promise<void | false> | undefined {
    const { registry, reports } = this.#deps;
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
        this.#offer(island, frame.slugs);
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
        if (durable !== undefined) this.#acknowledgements.add(island.hostId, frame, durable);
        return durable;
      }
      default:
        return frame satisfies never;
    }
  }

  /** False once the Island has left, is suspended, or has a newer session; then this one ends. */
  #isWelcome(hostId: string, accountId: string, number: number | null, link: IslandLink): boolean {
    if (!link.isOpen) return false;
    const suspended = this.#deps.suspended?.reasonFor(hostId, accountId) ?? null;
    if (suspended !== null) {
      link.dismiss(suspended, SUSPENDED_RETRY_MS);
      return false;
    }
    const isNewest = this.#deps.order?.admits(hostId, number) ?? true;
    if (!isNewest) link.dismiss(REPLACED, null);
    return isNewest;
  }

  /** Sends the Cargos that the Island asked for, if its owner may run them. */
  #offer(island: IslandView, slugs: readonly string[]): void {
    const { catalog, registry, signer } = this.#deps;
    for (const slug of new Set(slugs)) {
      const entry = catalog.find(slug, island.accountId);
      if (entry !== undefined) registry.send(island.hostId, { type: "preload", ...signer.sign(entry) });
    }
  }
}
