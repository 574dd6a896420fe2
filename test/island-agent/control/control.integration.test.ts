import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { getFromAgent, ControlRefusal, postToAgent } from "../../../island-agent/control/control-client.ts";
import { openControlServer, PlainText, type ControlAddress } from "../../../island-agent/control/control-server.ts";

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-control-"));
  file = join(directory, "control.json");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const open = (): Promise<AsyncDisposable> =>
  openControlServer(directory, process.pid, {
    "GET /status": () => ({ ok: true }),
    "GET /text": () => new PlainText("a_metric 1\n"),
    "POST /say": (body) => ({ said: body }),
    "POST /fail": () => {
      throw new Error("not now");
    },
  });
const address = async (): Promise<ControlAddress> => JSON.parse(await readFile(file, "utf8")) as ControlAddress;

describe("ControlServer", () => {
  it("responds to callers with the secret from the file", async () => {
    await using _server = await open();
    expect(await getFromAgent(directory, "/status")).toEqual({ ok: true });
  });

  it("sends text unchanged", async () => {
    await using _server = await open();
    expect(await getFromAgent(directory, "/text")).toBe("a_metric 1\n");
  });

  it("keeps its secret in a complete file that only the owner can read", async () => {
    await using _server = await open();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(["control.json"]);
    expect(await address()).toEqual({
      port: expect.any(Number),
      secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      pid: process.pid,
    });
  });

  it("replaces a leftover file, and makes it private", async () => {
    await writeFile(file, "{", { mode: 0o644 });
    await using _server = await open();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await getFromAgent(directory, "/status")).toEqual({ ok: true });
  });

  it.each([{}, { authorization: "Bearer wrong" }, { authorization: `Bearer ${"0".repeat(64)}` }])(
    "responds with 401 without the secret: %j",
    async (headers: Record<string, string>) => {
      await using _server = await open();
      const response = await fetch(`http://127.0.0.1:${(await address()).port}/status`, { headers });
      expect([response.status, await response.json()]).toEqual([401, { error: "unauthenticated" }]);
    },
  );

  it.each(["/", "/statuses", "/status?x=1", "/toString"])("responds with 404 for %s", async (path) => {
    await using _server = await open();
    const { port, secret } = await address();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${secret}` } });
    expect([response.status, await response.json()]).toEqual([404, { error: "not_found" }]);
  });

  it("accepts bodies, and returns refusals as messages", async () => {
    await using _server = await open();
    expect(await postToAgent(directory, "/say", { key: "a" })).toEqual({ said: { key: "a" } });
    expect(await postToAgent(directory, "/say")).toEqual({});
    await expect(postToAgent(directory, "/fail")).rejects.toThrow(new ControlRefusal("not now"));
    await expect(postToAgent(directory, "/say", "x".repeat(65_536))).rejects.toThrow("longer than 65536 bytes");
    await expect(getFromAgent(directory, "/say")).rejects.toThrow(
      "is a different version and does not support this command. Restart the agent",
    );
  });

  it("deletes its file when closed", async () => {
    const server = await open();
    await server[Symbol.asyncDispose]();
    expect(await readdir(directory)).toEqual([]);
  });
});

describe("getFromAgent()", () => {
  it("finds no agent without a file", async () => {
    expect(await getFromAgent(directory, "/status")).toBeUndefined();
  });

  it.each(["", "{", '{"port":', "null", "[]", '{"port":1}', '{"port":"x","secret":"y","pid":1}', "\0\0\0"])(
    "finds no agent in the damaged file %j",
    async (text) => {
      await writeFile(file, text);
      expect(await getFromAgent(directory, "/status")).toBeUndefined();
    },
  );

  it("finds no agent if one died and left its file", async () => {
    const server = await open();
    const text = await readFile(file);
    await server[Symbol.asyncDispose]();
    await writeFile(file, text);
    expect(await getFromAgent(directory, "/status")).toBeUndefined();
  });

  it.each([
    ["alive", process.pid, `The agent (pid ${process.pid}) does not respond`],
    ["gone", 2 ** 22 + 1, undefined],
  ])("distinguishes an unresponsive agent from none: its process is %s", async (_title, pid, message) => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    await writeFile(file, JSON.stringify({ port, secret: "0".repeat(64), pid }));
    const reply = postToAgent(directory, "/pause", undefined, 50);
    if (message === undefined) expect(await reply).toBeUndefined();
    else await expect(reply).rejects.toThrow(message);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it("finds no agent if the agent of another directory uses the port", async () => {
    await using _server = await open();
    const text = await address();
    await writeFile(file, JSON.stringify({ ...text, secret: "0".repeat(64), pid: 2 ** 22 + 1 }));
    expect(await getFromAgent(directory, "/status")).toBeUndefined();
  });

  it("finds no agent if another program uses the port", async () => {
    const other = createServer((_request, response) => response.end("<h1>hello</h1>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    await writeFile(file, JSON.stringify({ port, secret: "0".repeat(64), pid: 1 }));
    expect(await getFromAgent(directory, "/status")).toBeUndefined();
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
  });
});
