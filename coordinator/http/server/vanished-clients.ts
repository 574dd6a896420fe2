import { readFile, readlink } from "node:fs/promises";
import type { Socket } from "node:net";
import { endianness } from "node:os";
import type { Clock, Timer } from "../../../shared/clock.ts";

/** What the system knows of the connections of `S`. Its methods never reject. */
interface ConnectionFacts<S> {
  /**
   * For each connection whose other side does not answer, how often in a row it was asked in vain: bytes were sent again and are not
   * acknowledged, or its full buffer was probed. By what {@link keyOf} gives.
   */
  unanswered(): Promise<ReadonlyMap<string, number>>;
  /** Null for a socket that is closed. */
  keyOf(socket: S): Promise<string | null>;
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
export class VanishedClients<S extends { destroy(): unknown }> {
  readonly #clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly #facts: ConnectionFacts<S>;
  readonly #sockets: () => Iterable<S>;
  readonly #suspects = new Map<S, Suspect>();
  readonly #keys = new WeakMap<S, string>();
  #timer: Timer | null = null;
  #isClosed = false;

  /** @param sockets those that are watched, at the moment of the call. */
  constructor(clock: Pick<Clock, "monotonicMs" | "schedule">, facts: ConnectionFacts<S>, sockets: () => Iterable<S>) {
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
      const key = await this.#keyOf(socket);
      this.#note(socket, key === null ? 0 : (counts.get(key) ?? 0));
    }
  }

  /** A count that falls means that something was acknowledged. */
  #note(socket: S, count: number): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#suspects.get(socket);
    if (count === 0) return void this.#suspects.delete(socket);
    const sinceMs = before === undefined || count < before.count ? nowMs : before.sinceMs;
    this.#suspects.set(socket, { sinceMs, count });
    if (nowMs - sinceMs >= VANISHED_AFTER_MS) socket.destroy();
  }

  async #keyOf(socket: S): Promise<string | null> {
    const known = this.#keys.get(socket);
    if (known !== undefined) return known;
    const key = await this.#facts.keyOf(socket);
    if (key !== null) this.#keys.set(socket, key);
    return key;
  }
}

/**
 * One line of /proc/net/tcp: this side's port, the other side; established; the timer that runs, 01 to send again, 04 to probe a full
 * buffer; the number of each in a row without an answer, and the inode. Source: proc(5).
 */
const LINE = /^\s*\d+: \S+:([0-9A-F]{4}) (\S+) 01 \S+ (01|04):[0-9A-F]+ ([0-9A-F]{8}) +\d+ +(\d+) (\d+) /gm;

/** By inode, or by {@link peerKey}. @param table a text in the form of /proc/net/tcp. */
export function parseUnanswered(table: string, by: "inode" | "peer" = "inode"): [key: string, count: number][] {
  return [...table.matchAll(LINE)].flatMap(
    ([, port = "", peer = "", timer, sentAgain = "", probes = "", inode = ""]): [string, number][] => {
      const count = timer === "01" ? Number.parseInt(sentAgain, 16) : Number(probes);
      return count === 0 ? [] : [[by === "inode" ? inode : `${port} ${peer}`, count]];
    },
  );
}

/** A connection by this side's port and the other side, as the system writes them. @param address 4 or 16 bytes. */
export function peerKey(localPort: number, address: Uint8Array, port: number): string {
  const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, "0");
  const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
  // Each group of four bytes is written as a number of this machine.
  const words = Array.from({ length: address.byteLength / 4 }, (_, word) =>
    hex(view.getUint32(4 * word, endianness() === "LE"), 8),
  );
  return `${hex(localPort, 4)} ${words.join("")}:${hex(port, 4)}`;
}

/** Counts of all connections of this machine's network. */
async function unansweredBy(key: "inode" | "peer"): Promise<ReadonlyMap<string, number>> {
  // Without IPv6 there is one table only.
  const read = (name: string): Promise<string> => readFile(`/proc/self/net/${name}`, "latin1").catch(() => "");
  const tables = await Promise.all([read("tcp"), read("tcp6")]);
  return new Map(tables.flatMap((table) => parseUnanswered(table, key)));
}

/** As Linux tells them; null elsewhere. */
export function linuxConnectionFacts(): ConnectionFacts<Socket> | null {
  if (process.platform !== "linux") return null;
  return {
    unanswered: () => unansweredBy("inode"),
    async keyOf(socket) {
      const { fd } = (socket as unknown as { _handle?: { fd?: number } | null })._handle ?? {};
      if (fd === undefined || fd < 0) return null;
      const target = await readlink(`/proc/self/fd/${fd}`).catch(() => "");
      return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? null;
    },
  };
}

/** The same for a transport that knows its peers and not their descriptors. */
export function linuxPeerFacts<S>(keyOf: (socket: S) => string | null): ConnectionFacts<S> | null {
  if (process.platform !== "linux") return null;
  return { unanswered: () => unansweredBy("peer"), keyOf: async (socket) => keyOf(socket) };
}
