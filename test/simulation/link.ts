import type { IslandLink, IslandView } from "../../coordinator/islands/island.ts";
import { ServiceError } from "../../shared/errors.ts";
import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { CoordinatorLife } from "./coordinator-life.ts";

/** A numbered frame of an attempt. */
type FrameName = Pick<NumberedFrame, "jobId" | "attempt" | "seq">;

export interface LinkDeps {
  readonly life: CoordinatorLife;
  /** Of the Island's token. */
  readonly accountId: string;
  readonly sessionId: string;
  /** Whether what an Island forgets after this acknowledgement is stored. */
  readonly mayForget: (frame: FrameName) => boolean;
  /** A fault that no session may meet. */
  readonly onFault: (fault: string) => void;
}

/**
 * One connection of an Island, with the frames under way in both directions, and the coordinator's end of it: what `IslandSession`
 * does with a socket. A frame arrives when the seed says so; each direction keeps its order, and two connections of one Island have
 * none between them.
 */
export class Link implements IslandLink {
  readonly up: FromIsland[] = [];
  readonly down: FromCoordinator[] = [];
  /** Nothing arrives, and neither side knows. */
  isStalled = false;
  /** The Island still takes it for its connection. */
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

  /** The coordinator has nothing more to do with it. */
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

  /** The next frame of the Island arrives. */
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

  /** The coordinator learns that the connection is gone. */
  lose(): void {
    if (this.isGone) return;
    this.#isClosing = true;
    this.#isGone = true;
    if (this.#island !== null) this.#deps.life.connections.disconnect(this.#island, this);
  }

  #receive(frame: FromIsland): void {
    const { connections } = this.#deps.life;
    if (this.#island !== null) {
      void connections.receive(this.#island, frame);
      return;
    }
    if (frame.type !== "hello" || this.#isGreeting) throw new ProtocolError(`${frame.type}: before hello`);
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

/** The frames that an Island forgets when it gets this one; with them those before. */
function acknowledgedBy(frame: FromCoordinator): FrameName[] {
  if (frame.type === "ack") return [frame];
  if (frame.type !== "welcome") return [];
  return frame.held.flatMap((held) =>
    held.action === "continue" && held.ackedSeq > 0 ? [{ ...held, seq: held.ackedSeq }] : [],
  );
}
