/**
 * Runs in a separate network namespace. Starts a coordinator with an Island, and in a second namespace two clients, one
 * with a stream and one without. Removes the link between the namespaces, so that no side is notified. Then prints as
 * JSON which of the two jobs were cancelled at the Island within the limit.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { resolveConfig } from "../../../coordinator/config/resolve-config.ts";
import { openCoordinator } from "../../../coordinator/coordinator.ts";
import { systemClock } from "../../../shared/clock.ts";
import { insertAccount } from "../../support/store/account-rows.ts";
import { beginFrames, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { smallCatalog } from "../../support/small-catalog.ts";

const LIMIT_MS = 30_000;
const children: ChildProcess[] = [];

function start(command: string, ...args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return child;
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
}

const elsewhere = start("unshare", "-n", "sh", "-c", "echo ready; exec sleep 120");
await once(elsewhere.stdout!, "data");
const inOther = ["-t", String(elsewhere.pid), "-n"];
run("ip", "link", "set", "lo", "up");
run("ip", "link", "add", "here", "type", "veth", "peer", "name", "there", "netns", String(elsewhere.pid));
run("ip", "addr", "add", "10.9.0.1/24", "dev", "here");
run("ip", "link", "set", "here", "up");
run("nsenter", ...inOther, "ip", "addr", "add", "10.9.0.2/24", "dev", "there");
run("nsenter", ...inOther, "ip", "link", "set", "there", "up");

const directory = await mkdtemp(join(tmpdir(), "atoll-vanished-"));
const flags = { port: 0, host: "0.0.0.0", dataDirectory: directory, registration: "closed", logLevel: "silent" };
const coordinator = await openCoordinator({
  config: resolveConfig({ flags, env: {}, toml: null, shippedCatalogDirectory: smallCatalog() }),
  clock: systemClock,
  log: pino({ level: "silent" }),
  version: "0.0.0-test",
  onFatal: (error) => {
    throw error;
  },
});
const port = new URL(coordinator.url).port;
const account = insertAccount(directory, "client@example.com", 1_000, {});
const island = await FakeIsland.join(`http://127.0.0.1:${port}`, account.islandToken, { slots: 2 });

/** Starts a client in the other namespace. Resolves with its job when the Island has started it. */
async function chat(stream: boolean) {
  const body = JSON.stringify({ stream, messages: [{ role: "user", content: "Hi" }] });
  const url = `http://10.9.0.1:${port}/api/v1/chat/completions`;
  const headers = ["-H", `Authorization: Bearer ${account.key}`, "-H", "Content-Type: application/json"];
  const client = start("nsenter", ...inOther, "curl", "-sN", ...headers, "-d", body, url);
  const assign = await island.next("assign");
  island.send(...beginFrames(assign));
  return { client, assign };
}

const waiting = await chat(false);
const streaming = await chat(true);
let seq = 0;
const speech = setInterval(() => island.send(outputFrame(streaming.assign, ++seq, "word ")), 200);
await once(streaming.client.stdout!, "data");
run("nsenter", ...inOther, "ip", "link", "set", "there", "down");

const cancelled = new Set<string>();
const names = new Map([
  [waiting.assign.jobId, "waiting"],
  [streaming.assign.jobId, "streaming"],
]);
const listen = async (): Promise<void> => {
  while (cancelled.size < names.size) cancelled.add(names.get((await island.next("cancel")).jobId) ?? "another");
};
const limit = new AbortController();
await Promise.race([listen(), systemClock.sleep(LIMIT_MS, limit.signal)]);
limit.abort();
clearInterval(speech);
process.stdout.write(JSON.stringify([...cancelled].sort()));
for (const child of children) child.kill("SIGKILL");
island.cut();
await coordinator.close();
await rm(directory, { recursive: true, force: true });
process.exit(0);
