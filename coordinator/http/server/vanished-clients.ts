import { readFile, readlink } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../../shared/clock.ts";

/** What the system knows of connections. Its methods never reject. */
export interface ConnectionFacts {
  /**
   * For each connection whose other side does not answer, how often in a row it was asked in vain: bytes were sent again and are not
   * acknowledged, or its full buffer was probed. By the connection's inode.
   */
  unanswered(): Promise<ReadonlyMap<string, number>>;
  /** Null for a socket that is closed. */
  inodeOf(socket: Socket): Promise<string | null>;
}

interface Suspect {
  /** Monotonic. */
  readonly sinceMs: number;
  readonly count: number;
}

const CHECK_EVERY_MS = 2_500;
/** A connection that lives acknowledges sooner, also on a bad link and with a reader that reads nothing. */
const VANISHED_AFTER_MS = 12_000;

/**
 * Cuts connections whose clients vanished without a word (no power, no network). The system itself sends for a quarter of an hour
 * before it gives up; Node has no way to set TCP_USER_TIMEOUT. TCP keep-alive finds those who vanish while nothing is under way.
 */
export class VanishedClients {
  readonly #clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly #facts: ConnectionFacts;
  readonly #sockets: () => Iterable<Socket>;
  readonly #suspects = new Map<Socket, Suspect>();
  readonly #inodes = new WeakMap<Socket, string>();
  #timer: Timer | null = null;
  #isClosed = false;

  /** @param sockets those that are watched, at the moment of the call. */
  constructor(clock: Pick<Clock, "monotonicMs" | "schedule">, facts: ConnectionFacts, sockets: () => Iterable<Socket>) {
    this.#clock = clock;
    this.#facts = facts;
    this.#sockets = sockets;
    this.#scheduleCheck();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #scheduleCheck(): void {
    if (this.#isClosed) return;
    this.#timer = this.#clock.schedule(CHECK_EVERY_MS, () => void this.#check().then(() => this.#scheduleCheck()));
  }

  async #check(): Promise<void> {
    const sockets = new Set(this.#sockets());
    const counts = sockets.size === 0 ? new Map<string, number>() : await this.#facts.unanswered();
    for (const socket of this.#suspects.keys()) if (!sockets.has(socket)) this.#suspects.delete(socket);
    if (counts.size === 0) return this.#suspects.clear();
    for (const socket of sockets) {
      const inode = await this.#inodeOf(socket);
      this.#note(socket, inode === null ? 0 : (counts.get(inode) ?? 0));
    }
  }

  /** A count that falls means that something was acknowledged. */
  #note(socket: Socket, count: number): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#suspects.get(socket);
    if (count === 0) return void this.#suspects.delete(socket);
    const sinceMs = before === undefined || count < before.count ? nowMs : before.sinceMs;
    this.#suspects.set(socket, { sinceMs, count });
    if (nowMs - sinceMs >= VANISHED_AFTER_MS) socket.destroy();
  }

  async #inodeOf(socket: Socket): Promise<string | null> {
    const known = this.#inodes.get(socket);
    if (known !== undefined) return known;
    const inode = await this.#facts.inodeOf(socket);
    if (inode !== null) this.#inodes.set(socket, inode);
    return inode;
  }
}

/**
 * One line of /proc/net/tcp: established; the timer that runs, 01 to send again, 04 to probe a full buffer; the number of each in a row
 * without an answer, and the inode. Source: proc(5).
 */
const LINE = /^\s*\d+: \S+ \S+ 01 \S+ (01|04):[0-9A-F]+ ([0-9A-F]{8}) +\d+ +(\d+) (\d+) /gm;

/** By inode. @param table a text in the form of /proc/net/tcp. */
export function parseUnanswered(table: string): [inode: string, count: number][] {
  return [...table.matchAll(LINE)].flatMap(([, timer, sentAgain = "", probes = "", inode = ""]) => {
    const count = timer === "01" ? Number.parseInt(sentAgain, 16) : Number(probes);
    return count === 0 ? [] : [[inode, count]];
  });
}

/** As Linux tells them; null elsewhere. */
export function linuxConnectionFacts(): ConnectionFacts | null {
  if (process.platform !== "linux") return null;
  return {
    async unanswered() {
      // Without IPv6 there is one table only.
      const read = (name: string): Promise<string> => readFile(`/proc/self/net/${name}`, "latin1").catch(() => "");
      const tables = await Promise.all([read("tcp"), read("tcp6")]);
      return new Map(tables.flatMap(parseUnanswered));
    },
    async inodeOf(socket) {
      const { fd } = (socket as unknown as { _handle?: { fd?: number } | null })._handle ?? {};
      if (fd === undefined || fd < 0) return null;
      const target = await readlink(`/proc/self/fd/${fd}`).catch(() => "");
      return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? null;
    },
  };
}
