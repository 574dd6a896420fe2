import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { fetchEarnings } from "../../../island-agent/execution/earnings.ts";
import { systemClock } from "../../../shared/clock.ts";

const REPORT = {
  name: "garage",
  uptime: { today: 1, days_7: 1, days_30: null },
  earned: { today: 1, days_7: 2, days_30: 3 },
  recent: [],
};

/** Returns the earnings that an agent reads from a coordinator's response. */
async function read(data: object) {
  await using server = createServer((_, response) => response.end(JSON.stringify({ data })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const coordinatorUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return (await fetchEarnings({ coordinatorUrl, hostId: "id", token: "it_1" }, systemClock)).earnings;
}

describe("fetchEarnings()", () => {
  it("reads a report of an earlier coordinator, which has no standings", async () => {
    expect(await read(REPORT)).toEqual({ ...REPORT, standings: [] });
  });

  it("removes control characters from standings, and ignores standings of an unknown form", async () => {
    const one = { cargo: "tiny", state: "new", streak: 1, reason: null, proven_after: 10, held_credits: 0.5 };
    const standings = [{ ...one, reason: "a\u001B[2Jlie" }];
    expect((await read({ ...REPORT, standings }))?.standings).toEqual([{ ...one, reason: "a[2Jlie" }]);
    expect(await read({ ...REPORT, standings: [{ cargo: 1 }] })).toEqual({ ...REPORT, standings: [] });
  });
});
