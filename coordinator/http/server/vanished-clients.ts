import { readFile, readlink } from "node:fs/promises";
import type { Socket } from "node:net";
import { endianness } from "node:os";
import type { Clock, Timer } from "../../../shared/clock.ts";

/** What the operating system knows about connections. The functions never reject. */
interface ConnectionFacts<S> {
  /**
   * Returns by connection key how many times in a row the operating system retransmitted bytes, or probed a full
   * buffer, without a response of the client.
   */
  readonly unanswered: () => Promise<ReadonlyMap<string, number>>;
  /** Returns the connection key of a socket; null for a closed socket. */
  readonly keyOf: (socket: S) => Promise<string | null>;
}

interface Suspect {
  /** Monotonic time since which the count has not fallen. */
  readonly sinceMs: number;
  readonly count: number;
}

const CHECK_EVERY_MS = 2_500;
/**
 * Time without an acknowledgement after which a client counts as vanished. A live connection acknowledges sooner, even
 * on a bad link or with a client that reads nothing.
 */
const VANISHED_AFTER_MS = 12_000;

/**
 * Cuts connections whose clients vanished (no power, no network). The operating system itself retries for a quarter of
 * an hour, and Node cannot set TCP_USER_TIMEOUT. TCP keep-alive finds clients that vanish while no data is in flight.
 * @param facts If null, no connection is cut.
 * @returns A function that ends the watch.
 */
export function cutVanishedClients<S extends { destroy(): unknown }>(
  clock: Pick<Clock, "monotonicMs" | "schedule">,
  facts: ConnectionFacts<S> | null,
  openSockets: () => Iterable<S>,
): () => void {
  if (facts === null) return () => undefined;
  const { unanswered, keyOf } = facts;
  const suspects = new Map<S, Suspect>();
  const keys = new WeakMap<S, string>();
  let isStopped = false;

  async function findKey(socket: S): Promise<string | null> {
    const key = keys.get(socket) ?? (await keyOf(socket));
    if (key !== null) keys.set(socket, key);
    return key;
  }

  /**
   * Records the count of a socket, and cuts the connection of a vanished client. A lower count means that bytes were
   * acknowledged.
   */
  function note(socket: S, count: number): void {
    const nowMs = clock.monotonicMs();
    const before = suspects.get(socket);
    if (count === 0) return void suspects.delete(socket);
    const sinceMs = before === undefined || count < before.count ? nowMs : before.sinceMs;
    suspects.set(socket, { sinceMs, count });
    if (nowMs - sinceMs >= VANISHED_AFTER_MS) socket.destroy();
  }

  async function check(): Promise<void> {
    const sockets = new Set(openSockets());
    const counts = sockets.size === 0 ? new Map<string, number>() : await unanswered();
    for (const socket of suspects.keys()) if (!sockets.has(socket)) suspects.delete(socket);
    if (counts.size === 0) suspects.clear();
    else {
      for (const socket of sockets) {
        const key = await findKey(socket);
        note(socket, key === null ? 0 : (counts.get(key) ?? 0));
      }
    }
    if (!isStopped) timer = scheduleCheck();
  }

  function scheduleCheck(): Timer {
    return clock.schedule(CHECK_EVERY_MS, () => void check());
  }
  let timer = scheduleCheck();

  return () => {
    isStopped = true;
    timer.cancel();
  };
}

/**
 * Pattern of a line of /proc/net/tcp: local port, remote address, state 01 (established), active timer (01: retransmit,
 * 04: probe a full buffer), number of probes without a response, and inode. Source: proc(5).
 */
const LINE = /^\s*\d+: \S+:([0-9A-F]{4}) (\S+) 01 \S+ (01|04):[0-9A-F]+ ([0-9A-F]{8}) +\d+ +(\d+) (\d+) /gm;

/** Returns the counts by inode, or by {@link peerKey}. @param table Text in the format of /proc/net/tcp. */
export function parseUnanswered(table: string, by: "inode" | "peer" = "inode"): [key: string, count: number][] {
  return [...table.matchAll(LINE)].flatMap(
    ([, port = "", peer = "", timer, sentAgain = "", probes = "", inode = ""]): [string, number][] => {
      const count = timer === "01" ? Number.parseInt(sentAgain, 16) : Number(probes);
      return count === 0 ? [] : [[by === "inode" ? inode : `${port} ${peer}`, count]];
    },
  );
}

/**
 * Returns the local port and the remote address of a connection in the format of /proc/net/tcp.
 * @param address The remote address: 4 or 16 bytes.
 */
export function peerKey(localPort: number, address: Uint8Array, port: number): string {
  const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, "0");
  const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
  // The table shows each group of four bytes as a number in this machine's byte order.
  const words = Array.from({ length: address.byteLength / 4 }, (_, word) =>
    hex(view.getUint32(4 * word, endianness() === "LE"), 8),
  );
  return `${hex(localPort, 4)} ${words.join("")}:${hex(port, 4)}`;
}

async function unansweredBy(key: "inode" | "peer"): Promise<ReadonlyMap<string, number>> {
  // Without IPv6 the second table does not exist.
  const read = (name: string): Promise<string> => readFile(`/proc/self/net/${name}`, "latin1").catch(() => "");
  const tables = await Promise.all([read("tcp"), read("tcp6")]);
  return new Map(tables.flatMap((table) => parseUnanswered(table, key)));
}

/** Returns the facts for connections of node:http; null on other systems than Linux. */
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

/** Returns the facts for a transport that does not know file descriptors; null on other systems than Linux. */
export function linuxPeerFacts<S>(keyOf: (socket: S) => string | null): ConnectionFacts<S> | null {
  if (process.platform !== "linux") return null;
  return { unanswered: () => unansweredBy("peer"), keyOf: async (socket) => keyOf(socket) };
}
