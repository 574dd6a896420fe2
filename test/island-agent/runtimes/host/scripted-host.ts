/** A host process that sends the messages named in its jobs, and ends as its load request specifies. */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { CHANNEL_FD, HostChannel } from "../../../../island-agent/runtimes/host/host-channel.ts";
import type { LoadScript, RunScript } from "./host-world.ts";

interface Request {
  readonly kind: string;
  readonly request?: LoadScript;
  readonly job?: RunScript;
}

const pipe = new Socket({ fd: CHANNEL_FD });
pipe.on("close", () => process.kill(process.pid, "SIGKILL"));
const channel = new HostChannel(pipe, {
  onMessage: (message) => handle(message as Request),
  onBroken: () => process.exit(1),
});
const eaten: Buffer[] = [];

function handle({ kind, request, job }: Request): void {
  if (kind === "load") load(request ?? {});
  if (kind === "estimate")
    channel.send({ kind: "refused", error: { code: "model_invalid", message: "no", retryable: false } });
  if (kind === "end") process.kill(process.pid, "SIGKILL");
  if (job !== undefined) run(job);
}

function load({ stderr, signal, eatBytes }: LoadScript): void {
  if (stderr !== undefined) writeSync(2, stderr);
  if (signal !== undefined) process.kill(process.pid, signal);
  else if (eatBytes !== undefined) eat(eatBytes);
  else channel.send({ kind: "loaded", memory: { ramBytes: process.memoryUsage.rss(), vramBytes: 0 }, facts: {} });
}

function run({ messages = [], raw, floodsChannel, eatBytes }: RunScript): void {
  for (const message of messages) channel.send(message);
  if (raw !== undefined) pipe.write(raw);
  if (eatBytes !== undefined) eat(eatBytes);
  if (floodsChannel === true) flood();
}

function flood(): void {
  pipe.write("a".repeat(1_048_576), () => setImmediate(flood));
}

/** The memory is filled, so that its pages are resident. */
function eat(bytes: number): void {
  eaten.push(Buffer.alloc(bytes, 1));
}
