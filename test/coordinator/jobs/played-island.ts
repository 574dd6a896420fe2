import { randomUUID } from "node:crypto";
import type { IslandLink, IslandView } from "../../../coordinator/islands/island.ts";
import type { Assign, FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import type { SingleFrame, HeldJob, Hello, IslandState } from "../../../shared/protocol/from-island.ts";
import { makeHello, makeIslandState } from "../../support/network/frames.ts";
import type { JobWorld } from "./job-world.ts";

/** An Island of a {@link JobWorld} without a socket, whose frames the test writes. */
export class PlayedIsland implements IslandLink {
  readonly hostId: string;
  /** Frames from the coordinator, in order. */
  readonly frames: FromCoordinator[] = [];
  /** Each dismissal with its reason and the time to reconnect. */
  readonly dismissals: [string, number | null][] = [];
  readonly #world: JobWorld;
  readonly #accountId: string;
  #view: IslandView | null = null;
  isOpen = true;

  private constructor(world: JobWorld, accountId: string, hostId: string) {
    this.#world = world;
    this.#accountId = accountId;
    this.hostId = hostId;
  }

  static async join(world: JobWorld, accountId: string, hello: Partial<Hello> = {}): Promise<PlayedIsland> {
    const island = new PlayedIsland(world, accountId, hello.hostId ?? randomUUID());
    await island.connect(hello);
    return island;
  }

  /** Connects the Island of an earlier world with these attempts. */
  static async rejoin(world: JobWorld, accountId: string, hostId: string, ...held: Assign[]): Promise<PlayedIsland> {
    const island = new PlayedIsland(world, accountId, hostId);
    await island.comeBack(...held);
    return island;
  }

  async connect(hello: Partial<Hello> = {}): Promise<void> {
    this.isOpen = true;
    const first = makeHello({ slots: 1, ...hello, hostId: this.hostId });
    this.#view = await this.#world.connections.connect(
      first,
      { accountId: this.#accountId, tokenCreatedAtMs: 0 },
      randomUUID(),
      this,
    );
  }

  /** Reconnects with these attempts. */
  comeBack(...held: Assign[]): Promise<void> {
    return this.connect({
      held: held.map((assign): HeldJob => ({ ...nameOf(assign), claim: assign.claim, started: true })),
    });
  }

  send(frame: FromCoordinator): void {
    this.frames.push(frame);
  }

  dismiss(reason: string, retryAfterMs: number | null): void {
    this.dismissals.push([reason, retryAfterMs]);
    this.lose();
  }

  lose(): void {
    this.isOpen = false;
    if (this.#view !== null) this.#world.connections.disconnect(this.#view, this);
    this.#view = null;
  }

  /** Sends frames. Resolves when their effects are durable. */
  async say(...frames: SingleFrame[]): Promise<void> {
    if (this.#view === null) throw new Error("The Island is not connected");
    for (const frame of frames) await this.#world.connections.receive(this.#view, frame);
  }

  /** Sends a heartbeat. */
  beat(state: Partial<IslandState> = {}): Promise<void> {
    return this.say({ type: "heartbeat", state: makeIslandState(state) });
  }

  /** Returns the most recent frame of a type, or undefined if it was not sent. */
  last<T extends FromCoordinator["type"]>(type: T): Extract<FromCoordinator, { type: T }> | undefined {
    return this.frames.findLast((frame): frame is Extract<FromCoordinator, { type: T }> => frame.type === type);
  }

  /** The most recent attempt that was assigned to the Island. */
  get assign(): Assign {
    const frame = this.last("assign");
    if (frame === undefined) throw new Error("No job was assigned to the Island");
    return frame;
  }
}

export function nameOf({ jobId, attempt }: Assign): { jobId: string; attempt: number } {
  return { jobId, attempt };
}
