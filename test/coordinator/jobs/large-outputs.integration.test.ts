import { afterEach, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, collect, jobEvents, until, type SseEvent } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const MIB = 1_024 * 1_024;
/** Text with characters that JSON escapes, and with surrogate pairs at the boundaries of pieces. */
const LARGE_TEXT = `"${"\u{1F3DD}\n".repeat(80_000)}`;
const LARGE_IMAGE = Buffer.from(LARGE_TEXT).toString("base64");

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
let island: FakeIsland;

afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

async function open(flags: Record<string, unknown> = {}): Promise<void> {
  coordinator = await TestCoordinator.open(flags);
  account = await coordinator.createAccount("client@example.com");
  island = await join();
}

const join = (): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, {
    runtimes: [
      { type: "wasm", version: "test" },
      { type: "llmcpp", version: "test" },
    ],
  });
const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);
const eventsOf = (jobId: string, options = {}): Promise<SseEvent[]> =>
  collect(jobEvents(coordinator.url, account.key, jobId, options));

async function submit(workload: "base64" | "tiny-chat" = "base64"): Promise<Assign> {
  const input = workload === "base64" ? { data: "a" } : { prompt: "Hi", max_tokens: 4_096 };
  expect((await api("POST", "/jobs", { workload, input })).status).toBe(201);
  return island.next("assign");
}

function imageFrame({ jobId, attempt }: Assign, seq: number, data: string): FromIsland {
  return { type: "output", jobId, attempt, seq, items: [{ type: "image", data, format: "png" }] };
}

async function errorOf({ jobId }: Assign): Promise<{ code: string; message: string }> {
  const ended = await until(
    async () => (await api("GET", `/jobs/${jobId}`)).body.data,
    ({ status }) => status === "failed",
    "failed",
  );
  return ended.error;
}

it("large images and outputs reach every reader complete: live, replayed, and as JSON", async () => {
  await open();
  const assign = await submit();
  const { jobId } = assign;
  const live = eventsOf(jobId);
  island.send(...beginFrames(assign), imageFrame(assign, 1, "small"), imageFrame(assign, 2, LARGE_IMAGE));
  await island.next("ack", ({ seq }) => seq === 2);
  const running = (await api("GET", `/jobs/${jobId}/output`)).body.data;
  expect(running.output).toEqual({ format: "png", data: LARGE_IMAGE });

  const output = { data: LARGE_TEXT };
  island.send(finishedFrame(assign, 3, { output }));
  const events = await live;
  const images = events.filter(({ event }) => event === "image").map(({ data }) => data.data);
  expect(images).toEqual(["small", LARGE_IMAGE]);
  expect(events.at(-1)?.data.output).toEqual(output);
  expect(await eventsOf(jobId)).toEqual(events);
  expect((await api("GET", `/jobs/${jobId}`)).body.data.output).toEqual(output);
  expect((await api("GET", `/jobs/${jobId}/output`)).body.data.output).toEqual(output);
});

it("an ended job replays from every position as it was live, even after a restart of its coordinator", async () => {
  await open();
  const assign = await submit("tiny-chat");
  const live = eventsOf(assign.jobId);
  const words = ["Once", " upon\r\n", "", " a — ", "\u{1F3DD}", "."];
  island.send(...beginFrames(assign), ...words.map((word, index) => outputFrame(assign, index + 1, word)));
  island.send(finishedFrame(assign, words.length + 1, { completionTokens: words.length }));
  const events = await live;
  for (const _ of ["after its end", "after a restart"]) {
    expect(await eventsOf(assign.jobId)).toEqual(events);
    for (const [index, { id }] of events.slice(0, -1).entries()) {
      expect(await eventsOf(assign.jobId, { lastEventId: id })).toEqual(events.slice(index + 1));
    }
    await coordinator.stop();
    await coordinator.start();
  }
  expect((await api("GET", `/jobs/${assign.jobId}`)).body.data.output).toBe(words.join(""));
});

it("a job that exceeds its maximum output fails, both by images and by its result", async () => {
  await open({ maxOutputMb: 0.5 });
  const byImages = await submit();
  const image = "A".repeat(0.2 * MIB);
  island.send(...beginFrames(byImages), ...[1, 2, 3].map((seq) => imageFrame(byImages, seq, image)));
  expect(await island.next("cancel")).toMatchObject({ jobId: byImages.jobId });
  expect(await errorOf(byImages)).toMatchObject({ code: "output_too_large", message: /512 KiB/ });
  const byResult = await submit();
  island.send(...beginFrames(byResult), finishedFrame(byResult, 1, { output: { data: "A".repeat(0.6 * MIB) } }));
  await island.next("ack", ({ jobId }) => jobId === byResult.jobId);
  expect((await errorOf(byResult)).code).toBe("output_too_large");
});

it("the output of an account's jobs in memory is limited, without images", async () => {
  await open({ outputMemoryMb: 4, accountOutputMemoryMb: 1 });
  const [first, second, third] = [await submit("tiny-chat"), await submit("tiny-chat"), await submit()];
  const text = "x".repeat(0.4 * MIB);
  island.send(...beginFrames(first), outputFrame(first, 1, text));
  island.send(...beginFrames(second), outputFrame(second, 1, text));
  island.send(...beginFrames(third), imageFrame(third, 1, text), imageFrame(third, 2, text));
  await island.next("ack", ({ jobId, seq }) => jobId === third.jobId && seq === 2);
  island.send(outputFrame(second, 2, text));
  expect(await errorOf(second)).toMatchObject({ code: "output_too_large", message: /account/ });
  // The end of the job releases its memory.
  island.send(outputFrame(first, 2, text), finishedFrame(first, 3, { completionTokens: 2 }));
  await island.next("ack", ({ jobId, seq }) => jobId === first.jobId && seq === 3);
  expect((await api("GET", `/jobs/${first.jobId}`)).body.data.output).toBe(text + text);
});

it("the output of an Island's jobs in memory is limited", async () => {
  await open({ outputMemoryMb: 4, accountOutputMemoryMb: 4, islandOutputMemoryMb: 1 });
  const assign = await submit("tiny-chat");
  const text = "x".repeat(0.6 * MIB);
  island.send(...beginFrames(assign), outputFrame(assign, 1, text), outputFrame(assign, 2, text));
  expect(await errorOf(assign)).toMatchObject({ code: "output_too_large", message: /Island/ });
});

it("an account whose jobs have stored a day's output gets no more, whichever Island runs them", async () => {
  await open({ accountMbPerDay: 1 });
  const first = await submit();
  island.send(...beginFrames(first), imageFrame(first, 1, "A".repeat(0.6 * MIB)), finishedFrame(first, 2));
  await island.next("ack", ({ jobId, seq }) => jobId === first.jobId && seq === 2);
  const second = await submit();
  island.send(...beginFrames(second), imageFrame(second, 1, "A".repeat(0.6 * MIB)));
  expect(await errorOf(second)).toMatchObject({
    code: "output_too_large",
    message: expect.stringContaining("reached its daily limit"),
  });
});
