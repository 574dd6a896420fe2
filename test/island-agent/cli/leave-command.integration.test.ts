import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leaveNetwork } from "../../../island-agent/cli/leave-command.ts";
import { storeKeys } from "../../../island-agent/config/config-file.ts";
import { loadHostId } from "../../../island-agent/hardware/host-id.ts";
import { systemClock } from "../../../shared/clock.ts";

const TOKEN = `it_${"x".repeat(40)}`;

let dataDirectory: string;
let servers: Server[];
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), "atoll-leave-"));
  servers = [];
  await storeKeys(dataDirectory, { "coordinator.token": TOKEN });
});
afterEach(async () => {
  for (const server of servers) server.close();
  await rm(dataDirectory, { recursive: true, force: true });
});

/** A coordinator that responds to each request with a status. */
async function coordinator(status: number): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const leave = async (urls: string[]): Promise<string> => {
  await loadHostId(dataDirectory);
  const location = { dataDirectory, env: {}, clock: systemClock };
  const [first = ""] = await leaveNetwork(location, { urls, token: TOKEN, modelBytes: 0 }, false);
  return first.slice(first.indexOf(". ") + 2);
};

describe("island leave", () => {
  it("tries the next coordinator if one is stopping or of an earlier version", async () => {
    const urls = [await coordinator(503), await coordinator(404), await coordinator(200)];
    expect(await leave(urls)).toBe("The coordinator deleted this Island");
  });

  it("deletes the token, with advice if no coordinator deleted the Island", async () => {
    const advice = "If the account still lists this Island, remove it in the console";
    const gone = await coordinator(200);
    servers.pop()?.close();
    expect(await leave([gone])).toBe(`The coordinator did not delete this Island: no response. ${advice}`);
    expect(await leave([gone, await coordinator(404)])).toBe(
      `The coordinator did not delete this Island: status 404. ${advice}`,
    );
    expect(await leave([await coordinator(401)])).toBe(`The coordinator rejected the token. ${advice}`);
    expect(await readFile(join(dataDirectory, "config.toml"), "utf8")).not.toContain(TOKEN);
  });
});
