import { randomUUID } from "node:crypto";
import type { IslandLink, IslandView } from "../../../coordinator/islands/island.ts";
import type { Assign, FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, failedFrame, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { makeHello } from "../../support/network/frames.ts";
import type { JobWorld } from "./job-world.ts";

interface HeldAttempt {
  readonly assign: Assign;
  seq: number;
  started: boolean;
}

/** Actions of an Island on an attempt that it holds. */
export const DEEDS = ["start", "output", "finish", "empty", "fail", "giveUp", "refuse", "repeat"] as const;
export type AuditEvent = (typeof DEEDS)[number];

/** An agent without a socket. It acts as a test directs, and keeps its attempts. */
export class ScriptedAgent implements IslandLink {
  readonly hostId = randomUUID();
  readonly #world: JobWorld;
  readonly #accountId: string;
  #held: HeldAttempt[] = [];
  #island: IslandView | null = null;
  #last: (() => Promise<void>) | null = null;
  #isConnecting = false;

  constructor(world: JobWorld, accountId: string) {
    this.#world = world;
    this.#accountId = accountId;
  }

  get isOpen(): boolean {
    return this.#isConnecting || this.#island !== null;
  }

  send(frame: FromCoordinator): void {
    if (frame.type === "assign") this.#held.push({ assign: frame, seq: 0, started: false });
    if (frame.type === "welcome") {
      const kept = new Set(frame.held.filter(({ action }) => action === "continue").map(({ jobId }) => jobId));
      this.#held = this.#held.filter(({ assign }) => kept.has(assign.jobId));
    }
  }

  dismiss(): void {
    this.#island = null;
  }

  /** Connects the agent, with or without the jobs that it held before. No-op while the agent is connected. */
  async connect(keepsJobs: boolean): Promise<void> {
    if (this.#island !== null || this.#isConnecting) return;
    this.#isConnecting = true;
    if (!keepsJobs) this.#held = [];
    const held = this.#held.map(({ assign: { jobId, attempt, claim }, started }) => ({
      jobId,
      attempt,
      claim,
      started,
    }));
    const hello = makeHello({ hostId: this.hostId, slots: 2, held });
    const owner = { accountId: this.#accountId, tokenCreatedAtMs: 0 };
    this.#island = await this.#world.connections.connect(hello, owner, randomUUID(), this);
    this.#isConnecting = false;
  }

  lose(): void {
    if (this.#island === null) return;
    this.#world.connections.disconnect(this.#island, this);
    this.#island = null;
  }

  /**
   * Acts on the `pick`th attempt that the agent holds. The coordinator handles the frames at once. No-op if the agent
   * holds no attempt or is away.
   */
  async act(auditEvent: AuditEvent, pick: number): Promise<void> {
    const island = this.#island;
    const held = this.#held[pick % Math.max(1, this.#held.length)];
    if (island === null || held === undefined) return;
    if (auditEvent !== "repeat") {
      const frames = this.#framesOf(auditEvent, held);
      this.#last = async () => {
        const taken = frames.map((frame) => this.#world.connections.receive(island, frame) ?? Promise.resolve());
        await Promise.all(taken);
      };
    }
    await this.#last?.();
  }

  #framesOf(auditEvent: Exclude<AuditEvent, "repeat">, held: HeldAttempt) {
    const { assign } = held;
    const { jobId, attempt } = assign;
    if (auditEvent === "start" || auditEvent === "output") held.started = true;
    else this.#held = this.#held.filter((other) => other !== held);
    switch (auditEvent) {
      case "start":
        return beginFrames(assign);
      case "output":
        return [outputFrame(assign, ++held.seq, "a", "b", "c")];
      case "finish":
        return [outputFrame(assign, ++held.seq, "d"), finishedFrame(assign, ++held.seq, { completionTokens: 4 })];
      case "empty":
        return [finishedFrame(assign, ++held.seq, { completionTokens: 1_000 })];
      case "fail":
        return [failedFrame(assign, ++held.seq, "invalid_input")];
      case "giveUp":
        // The same frame confirms a cancelled run.
        return [{ type: "cancelled" as const, jobId, attempt, seq: ++held.seq }];
      case "refuse":
        return [{ type: "refused" as const, jobId, attempt, code: "model_unavailable" as const, message: "no" }];
      default:
        return auditEvent satisfies never;
    }
  }
}
