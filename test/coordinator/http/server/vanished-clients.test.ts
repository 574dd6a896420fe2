import type { Socket } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { parseUnanswered, peerKey, cutVanishedClients } from "../../../../coordinator/http/server/vanished-clients.ts";
import { settle } from "../../../support/event-log.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

/**
 * Lines of Linux 6.1 for four connections. The cable of one client was pulled while it was reading (2106539), and the
 * cable of another while its buffer was full (2106542). One connection is idle (2106531). The client of the last one is
 * alive and reads nothing (2106541).
 */
const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1FA3 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2106500 1 0000000000000000
   1: 0100090A:1FA3 0200090A:B5E0 01 00000000:00000000 02:00000014 00000000     0        3 2106531 2 00000000df92
   2: 0100090A:1FA3 0200090A:B5EE 01 000000F2:00000000 01:00000026 0000000A     0        0 2106539 3 000000003d03
   3: 0100090A:1FA3 0200090A:B5EF 01 000000F2:00000000 01:00000026 00000000     0        0 2106540 3 000000003d03
   4: 0100090A:1FA3 0200090A:B5F0 01 00012620:00000000 04:000000A3 00000000     0        0 2106541 3 000000003d03
   5: 0100090A:1FA3 0200090A:B5F1 01 00012620:00000000 04:0000117A 00000000     0        4 2106542 3 000000003d03
`;
const VANISHED_AFTER_MS = 12_000;
const CHECK_EVERY_MS = 2_500;

let clock: ManualClock;
let counts: Map<string, number>;
let cut: string[];
let lookUps: number;
let stopWatch: () => void;

function socketOf(inode: string): Socket {
  return { inode, destroy: () => cut.push(inode) } as unknown as Socket;
}

beforeEach(() => {
  clock = new ManualClock();
  counts = new Map();
  cut = [];
  lookUps = 0;
  const sockets = [socketOf("1"), socketOf("2")];
  const facts = {
    unanswered: async () => counts,
    keyOf: async (socket: Socket) => {
      lookUps += 1;
      return (socket as unknown as { inode: string }).inode;
    },
  };
  stopWatch = cutVanishedClients(clock, facts, () =>
    sockets.filter((socket) => !cut.includes((socket as unknown as { inode: string }).inode)),
  );
});

/** Advances the clock. Each check ends before the next is due. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += CHECK_EVERY_MS) {
    clock.advance(CHECK_EVERY_MS);
    await settle();
  }
}

describe("cutVanishedClients()", () => {
  it("cuts a client that acknowledges nothing, within 30 s minus the keepalive interval", async () => {
    counts.set("1", 2);
    await pass(VANISHED_AFTER_MS);
    counts.set("1", 5);
    expect(cut).toEqual([]);
    await pass(CHECK_EVERY_MS);
    expect(cut).toEqual(["1"]);
    stopWatch();
    expect(clock.pendingTimers).toBe(0);
  });

  it("keeps a client that acknowledges now and then on a bad link", async () => {
    for (let round = 0; round < 20; round += 1) {
      counts.set("1", 1 + (round % 3));
      await pass(CHECK_EVERY_MS);
    }
    expect(cut).toEqual([]);
  });

  it("does not examine the socket of a client that reads slowly and acknowledges", async () => {
    await pass(10 * VANISHED_AFTER_MS);
    expect([cut, lookUps]).toEqual([[], 0]);
    counts.set("2", 1);
    await pass(2 * CHECK_EVERY_MS);
    expect(lookUps).toBe(2);
  });
});

describe("parseUnanswered()", () => {
  it("returns only the connections with unacknowledged retransmissions or probes", () => {
    expect(parseUnanswered(TABLE)).toEqual([
      ["2106539", 10],
      ["2106542", 4],
    ]);
  });
});

it("peerKey() names a connection by its ports and the remote address, for IPv4 and IPv6", () => {
  const counts = new Map(parseUnanswered(TABLE, "peer"));
  expect(counts.get(peerKey(8_099, Uint8Array.of(10, 9, 0, 2), 0xb5_ee))).toBe(10);
  const mapped = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1);
  expect(peerKey(8_099, mapped, 80)).toBe("1FA3 0000000000000000FFFF00000100007F:0050");
});
