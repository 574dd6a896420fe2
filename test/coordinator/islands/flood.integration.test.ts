import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { encodeFrame } from "../../../shared/protocol/codec.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { insertAccount, type NewAccount } from "../../support/store/account-rows.ts";
import { beginFrames, finishedFrame, runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeFastDirectory } from "../../support/fast-directory.ts";
import { makeHello } from "../../support/network/frames.ts";
import { call, until } from "../../support/http/http.ts";
import { Program } from "../../support/program.ts";
import { smallCatalog } from "../../support/small-catalog.ts";

const HEAP_MB = 90;
const IMAGE_CHARS = 7_500_000;
/** Together, the images exceed the free part of the coordinator's heap. */
const IMAGES = 8;
const IMAGE = { type: "image" as const, data: "A".repeat(IMAGE_CHARS), format: "png" };

let directory: string;
let coordinator: Program;
let url: string;
let flooder: NewAccount;
let honest: NewAccount;

beforeEach(async () => {
  directory = await makeFastDirectory("atoll-flood-");
  await start();
  flooder = insertAccount(directory, "flooder@example.com", 1_000, { requestsPerMinute: 100_000 });
  honest = insertAccount(directory, "honest@example.com", 1_000, { requestsPerMinute: 100_000 });
});
afterEach(async () => {
  await coordinator[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const args = ["serve", "--port", "0", "--data", directory, "--log-level", "warn", "--catalog-directory"];
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`, ATOLL_MAX_OUTPUT_MB: "64" };
  coordinator = new Program("coordinator", [...args, smallCatalog()], env);
  url = (await coordinator.printed(/listening on (\S+)\n/))[1] as string;
}

/** Encodes each frame after the previous frame was sent, so that the test holds none of them. */
async function flood(island: FakeIsland, assign: Assign): Promise<void> {
  island.send(...beginFrames(assign));
  const { jobId, attempt } = assign;
  for (let seq = 1; seq <= IMAGES; seq += 1) {
    island.sendRaw(encodeFrame({ type: "output", jobId, attempt, seq, items: [IMAGE] }));
  }
  await island.next("ack", (ack) => ack.jobId === jobId && ack.seq === IMAGES);
}

async function assertChats(island: FakeIsland): Promise<void> {
  const answer = call(url, honest.key, "POST", "/chat/completions", { messages: [{ role: "user", content: "Hi" }] });
  island.send(...runFrames(await island.next("assign"), "Hel", "lo"));
  expect((await answer).body.choices[0].message.content).toBe("Hello");
  // A slow disk may be busy with the images for longer than a check waits.
  await until(
    () => call(url, null, "GET", "/health"),
    ({ status }) => status === 200,
    "healthy",
  );
}

const openStream = (jobId: string) =>
  fetch(`${url}/api/v1/jobs/${jobId}/stream`, { headers: { authorization: `Bearer ${flooder.key}` } });

/** Reads a stream to its end, and returns the data length of each image. */
async function imagesOf(response: Response): Promise<number[]> {
  let text = 0;
  const lengths: number[] = [];
  for await (const bytes of response.body ?? []) {
    for (let from = 0; from < bytes.length;) {
      const until = bytes.indexOf(10, from);
      text += (until < 0 ? bytes.length : until) - from;
      if (until < 0) break;
      if (text > IMAGE_CHARS) lengths.push(text - `data: {"type":"image","data":"","format":"png"}`.length);
      text = 0;
      from = until + 1;
    }
  }
  return lengths;
}

it(
  "a flood of images beyond the heap size does not end the coordinator, its readers or a restart",
  { timeout: 120_000 },
  async () => {
    const hostId = randomUUID();
    const wasm = { runtimes: [{ type: "wasm" as const, version: "test" }], hostId };
    const island = await FakeIsland.join(url, flooder.islandToken, wasm);
    await using chats = await FakeIsland.join(url, honest.islandToken, { hostId: randomUUID() });
    await call(url, flooder.key, "POST", "/jobs", { workload: "base64", input: { data: "a" } });
    const assign = await island.next("assign");
    await Promise.all([flood(island, assign), assertChats(chats)]);
    const { jobId, attempt, claim } = assign;
    // These readers receive only what the system buffers for them.
    const stuck = await Promise.all([openStream(jobId), openStream(jobId), openStream(jobId)]);
    await assertChats(chats);
    for (const response of stuck) await response.body?.cancel();

    coordinator.kill("SIGKILL");
    await coordinator.ended();
    await start();
    const again = await FakeIsland.dial(url, flooder.islandToken);
    again.send(makeHello({ ...wasm, held: [{ jobId, attempt, claim, started: true }] }));
    expect((await again.next("welcome")).held).toMatchObject([{ action: "continue", ackedSeq: IMAGES }]);
    const live = imagesOf(await openStream(jobId));
    again.send(finishedFrame(assign, IMAGES + 1, { output: { data: "done" } }));
    const all = Array.from({ length: IMAGES }, () => IMAGE_CHARS);
    expect(await live).toEqual(all);
    expect(await imagesOf(await openStream(jobId))).toEqual(all);
    const { status, body } = await call(url, flooder.key, "GET", `/jobs/${jobId}`);
    expect([status, body.data.status, body.data.output]).toEqual([200, "completed", { data: "done" }]);
  },
);
