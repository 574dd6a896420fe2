/** A host process that says what its jobs tell it to, word for word, and dies as its load order tells. */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { CHANNEL_FD, HostChannel } from "../../../../island-agent/runtimes/host/host-channel.ts";
import type { HostWord, LoadWord } from "./host-world.ts";

interface Order {
  readonly kind: string;
  readonly order?: LoadWord;
  readonly job?: HostWord;
}

const pipe = new Socket({ fd: CHANNEL_FD });
pipe.on("close", () => process.kill(process.pid, "SIGKILL"));
const channel = new HostChannel(pipe, {
  onMessage: (message) => obey(message as Order),
  onBroken: () => process.exit(1),
});
const eaten: Buffer[] = [];

function obey({ kind, order, job }: Order): void {
  if (kind === "load") load(order ?? {});
  if (kind === "estimate")
    channel.send({ kind: "refused", error: { code: "model_invalid", message: "no", retryable: false } });
  if (kind === "end") process.kill(process.pid, "SIGKILL");
  if (job !== undefined) run(job);
}

function load({ stderr, signal, eatBytes }: LoadWord): void {
  if (stderr !== undefined) writeSync(2, stderr);
  if (signal !== undefined) process.kill(process.pid, signal);
  else if (eatBytes !== undefined) eat(eatBytes);
  else channel.send({ kind: "loaded", memory: { ramBytes: process.memoryUsage.rss(), vramBytes: 0 }, facts: {} });
}

function run({ messages = [], raw, floodsChannel, eatBytes }: HostWord): void {
  for (const message of messages) channel.send(message);
  if (raw !== undefined) pipe.write(raw);
  if (eatBytes !== undefined) eat(eatBytes);
  if (floodsChannel === true) flood();
}

function flood(): void {
  pipe.write("a".repeat(1_048_576), () => setImmediate(flood));
}

/** Filled, so that the pages are there. */
function eat(bytes: number): void {
  eaten.push(Buffer.alloc(bytes, 1));
}
