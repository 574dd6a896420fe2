import { once } from "node:events";
import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { systemClock } from "../../shared/clock.ts";
import type { Assign, FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import { makeHello, makeIslandState } from "../../test/support/network/frames.ts";
import { serveWorker } from "../harness/worker.ts";
import { HEARTBEAT_MS, machineMs, pack, SESSION_PATH, SUBPROTOCOL, unpackFromCoordinator } from "./frames.ts";
import { prepareScript, type PreparedFrames } from "./prepared-frames.ts";

/** Worker process: load generator of Islands that complete every job with the same text, over the public protocol. */

export interface IslandSeat {
  readonly token: string;
  readonly hostId: string;
}
/** Completion of a job. */
export interface Script {
  readonly tokens: number;
  /** Time between two tokens; 0 to send all frames at once. */
  readonly gapMs: number;
  /** Whether a job starts at once but ends only on a call. */
  readonly isHeld?: boolean;
  /** Whether to record when each token is sent, for `takeSent`. */
  readonly isTimed?: boolean;
}
export interface IslandCounts {
  readonly assigned: number;
  /** Number of ended jobs that the coordinator has acknowledged as durable. */
  readonly acknowledged: number;
  readonly framesSent: number;
  readonly acks: number;
}

const PARALLEL_DIALS = 64;
const HEARTBEAT = pack({ type: "heartbeat", state: makeIslandState() });
const counts = { assigned: 0, acknowledged: 0, framesSent: 0, acks: 0 };
const assignedAt: { jobId: string; atMs: number }[] = [];
const sentAtMs: number[] = [];
const islands: ScriptedIsland[] = [];
const faults: string[] = [];
let script: Script = { tokens: 1, gapMs: 0 };
let frames = prepareScript(script.tokens);
let isClosing = false;

class ScriptedIsland {
  readonly #socket: WebSocket;
  readonly held: Assign[] = [];
  readonly welcomed: Promise<void>;
  #onAssign: ((atMs: number) => void) | undefined;
  #onWelcome: (() => void) | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.welcomed = new Promise((resolve) => (this.#onWelcome = resolve));
    socket.on("message", (data) => this.#read(unpackFromCoordinator(data as Buffer)));
    socket.on("close", (code, reason) => {
      if (!isClosing) faults.push(`a session closed with ${code}: ${reason.toString()}`);
    });
    socket.on("error", (error) => faults.push(String(error)));
  }

  heartbeat(): void {
    this.#socket.send(HEARTBEAT);
  }

  close(): void {
    this.#socket.close();
  }

  /** Ends the oldest held job. @returns milliseconds until the next `assign`. */
  async endHeld(): Promise<number> {
    const job = this.held.shift();
    if (job === undefined) throw new Error("The Island has no held job");
    const assigned = new Promise<number>((resolve) => (this.#onAssign = resolve));
    const endedMs = machineMs();
    this.#send(frames.rest, job.jobId);
    return (await assigned) - endedMs;
  }

  #read(frame: FromCoordinator): void {
    if (frame.type === "assign") this.#take(frame);
    else if (frame.type === "welcome") this.#onWelcome?.();
    else if (frame.type === "ack") {
      counts.acks += 1;
      if (frame.seq === script.tokens + 1) counts.acknowledged += 1;
    } else if (frame.type === "cancel") {
      faults.push(`job ${frame.jobId} was cancelled: ${frame.reason}`);
    } else if (frame.type === "goodbye") faults.push(`goodbye: ${frame.reason}`);
  }

  #take(job: Assign): void {
    const atMs = machineMs();
    counts.assigned += 1;
    assignedAt.push({ jobId: job.jobId, atMs });
    if (job.attempt !== 1) faults.push(`job ${job.jobId} has attempt ${job.attempt}: its first attempt was lost`);
    if (script.isHeld) {
      this.#send(frames.begin, job.jobId);
      this.held.push(job);
      this.#onAssign?.(atMs);
    } else if (script.gapMs === 0) {
      this.#send(frames.whole, job.jobId);
    } else {
      this.#send(frames.begin, job.jobId);
      this.#stream(job.jobId, 0, atMs);
    }
  }

  #stream(jobId: string, index: number, beganMs: number): void {
    if (script.isTimed === true) sentAtMs.push(machineMs());
    this.#send(frames.tokens[index] as PreparedFrames, jobId);
    if (index === script.tokens - 1) return;
    // The number of due tokens is computed from the clock, so that late timers do not slow the stream.
    const dueMs = beganMs + (index + 1) * script.gapMs;
    systemClock.schedule(dueMs - machineMs(), () => this.#stream(jobId, index + 1, beganMs));
  }

  #send(prepared: PreparedFrames, jobId: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    counts.framesSent += prepared.count;
    const { _socket: socket } = this.#socket as unknown as { _socket: Socket };
    socket.write(prepared.bytesFor(jobId));
  }
}

async function dial(url: string, { token, hostId }: IslandSeat, slots: number): Promise<void> {
  const address = new URL(SESSION_PATH, url.replace(/^http/, "ws"));
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(address, SUBPROTOCOL, { headers, perMessageDeflate: false });
  await once(socket, "open");
  // Listens before it sends `hello`, because the first jobs may arrive together with the welcome.
  const island = new ScriptedIsland(socket);
  socket.send(pack(makeHello({ hostId, slots })));
  await island.welcomed;
  islands.push(island);
}

/** Sends one heartbeat for each Island in each interval, spread over the interval. */
function beat(intervalMs: number): void {
  const STEPS = 100;
  let step = 0;
  const next = (): void => {
    for (let index = step % STEPS; index < islands.length; index += STEPS) islands[index]?.heartbeat();
    step += 1;
    if (!isClosing) systemClock.schedule(intervalMs / STEPS, next);
  };
  next();
}

const api = {
  /** Connects Islands. Resolves when all Islands have received `welcome`. Further Islands can be connected later. */
  async connect({ url, seats, slots }: { url: string; seats: readonly IslandSeat[]; slots: number }): Promise<void> {
    if (islands.length === 0) beat(HEARTBEAT_MS);
    const waiting = [...seats];
    const work = async (): Promise<void> => {
      for (let seat = waiting.pop(); seat !== undefined; seat = waiting.pop()) await dial(url, seat, slots);
    };
    await Promise.all(Array.from({ length: PARALLEL_DIALS }, work));
  },
  script(next: Script): void {
    script = next;
    frames = prepareScript(next.tokens);
  },
  /** Returns the counts. @throws if a session closed or a job was cancelled. */
  counts(): IslandCounts {
    if (faults.length > 0) throw new Error(`Islands had faults: ${faults.slice(0, 5).join("\n")}`);
    return { ...counts };
  },
  /** Returns the assignment times of jobs since the last call, by {@link machineMs}. */
  takeAssigned(): { jobId: string; atMs: number }[] {
    return assignedAt.splice(0);
  },
  /** Returns the times of tokens sent since the last call, by {@link machineMs}. Only for a timed script. */
  takeSent(): number[] {
    return sentAtMs.splice(0);
  },
  /** Ends held jobs one after the other. Returns the milliseconds from each end to the Island's next `assign`. */
  async endHeld({ count }: { count: number }): Promise<number[]> {
    const holders = islands.filter(({ held }) => held.length > 0);
    const tookMs: number[] = [];
    for (let index = 0; index < count; index += 1) {
      tookMs.push((await holders[index % holders.length]?.endHeld()) ?? Number.NaN);
    }
    return tookMs;
  },
  close(): void {
    isClosing = true;
    for (const island of islands.splice(0)) island.close();
  },
};
export type IslandsApi = typeof api;
serveWorker(api);
