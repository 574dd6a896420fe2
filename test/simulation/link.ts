import type { IslandLink, IslandView } from "../../coordinator/islands/island.ts";
import { ServiceError } from "../../shared/errors.ts";
import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import { singleFramesOf, type FromIsland, type NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { CoordinatorLife } from "./coordinator-life.ts";

/** A numbered frame of an attempt. */
type FrameName = Pick<NumberedFrame, "jobId" | "attempt" | "seq">;

export interface LinkDeps {
  readonly life: CoordinatorLife;
  /** Account of the Island's token. */
  readonly accountId: string;
  readonly sessionId: string;
  /** Returns whether the frames that an Island drops after this acknowledgement are stored. */
  readonly mayForget: (frame: FrameName) => boolean;
  /** Called for a fault that must not occur. */
  readonly onFault: (fault: string) => void;
}

/**
 * A connection of an Island with the frames in flight in both directions, and the coordinator's end of it, which acts
 * like an `IslandSession` with a socket. The seed decides when a frame arrives. Each direction keeps its order, but two
 * connections of one Island have no common order.
 */
export class Link implements IslandLink {
  readonly up: FromIsland[] = [];
  readonly down: FromCoordinator[] = [];
  /** Whether frames are lost without notice. */
  isStalled = false;
  /** Whether the Island still uses the connection. */
  isHeldByIsland = true;
  readonly #deps: LinkDeps;
  #island: IslandView | null = null;
  #isGreeting = false;
  #isClosing = false;
  #isGone = false;

  constructor(deps: LinkDeps) {
    this.#deps = deps;
  }

  get isOpen(): boolean {
    return !this.#isClosing && !this.#deps.life.isDead;
  }

  /** Whether the coordinator has released the connection. */
  get isGone(): boolean {
    return this.#isGone || this.#deps.life.isDead;
  }

  send(frame: FromCoordinator): void {
    if (!this.isOpen) return;
    this.down.push(frame);
    for (const { jobId, attempt, seq } of acknowledgedBy(frame)) {
      if (this.#deps.mayForget({ jobId, attempt, seq })) continue;
      this.#deps.onFault(`frame ${seq} of attempt ${attempt} was acknowledged before it was stored`);
    }
  }

  dismiss(reason: string, retryAfterMs: number | null): void {
    this.send({ type: "goodbye", reason, retryAfterMs });
    this.#isClosing = true;
  }

  /** Delivers the next frame of the Island. */
  deliverUp(): void {
    const frame = this.up.shift();
    if (frame === undefined || !this.isOpen) return;
    try {
      this.#receive(frame);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#isClosing = true;
    }
  }

  /** Notifies the coordinator that the connection is lost. */
  lose(): void {
    if (this.isGone) return;
    this.#isClosing = true;
    this.#isGone = true;
    if (this.#island !== null) this.#deps.life.connections.disconnect(this.#island, this);
  }

  #receive(frame: FromIsland): void {
    const { connections } = this.#deps.life;
    if (this.#island !== null) {
      for (const single of singleFramesOf(frame)) void connections.receive(this.#island, single);
      return;
    }
    if (frame.type !== "hello" || this.#isGreeting) throw new ProtocolError(`${frame.type}: sent before hello`);
    this.#isGreeting = true;
    const { accountId, sessionId, onFault } = this.#deps;
    connections.connect(frame, { accountId, tokenCreatedAtMs: 0 }, sessionId, this).then(
      (island) => {
        this.#island = island;
        if (island !== null && !this.isOpen) connections.disconnect(island, this);
      },
      (error: unknown) => {
        if (!(error instanceof ServiceError)) onFault(`letting an Island in failed: ${String(error)}`);
        this.#isClosing = true;
      },
    );
  }
}

/** Returns the last frame that an Island drops when it receives this one, with all earlier ones. */
function acknowledgedBy(frame: FromCoordinator): FrameName[] {
  if (frame.type === "ack") return [frame];
  if (frame.type !== "welcome") return [];
  return frame.held.flatMap((held) =>
    held.action === "continue" && held.ackedSeq > 0 ? [{ ...held, seq: held.ackedSeq }] : [],
  );
}
