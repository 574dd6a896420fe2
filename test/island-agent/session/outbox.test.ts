import { describe, expect, it } from "vitest";
import type { OutputItem } from "../../../shared/output.ts";
import { encodeFrame, readFromIsland } from "../../../shared/protocol/codec.ts";
import type { Outbox } from "../../../island-agent/session/outbox.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { finished, name, NEVER_FAILS, open, tick, token } from "./outbox-world.ts";

describe("Outbox", () => {
  it("sends the last output before the end, without waiting for the tick", () => {
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.output("job_1", 1, token("a"));
    outbox.end("job_1", 1, finished);
    expect(sent.slice(1).map((frame) => [frame.type, "seq" in frame ? frame.seq : 0])).toEqual([
      ["output", 1],
      ["finished", 2],
    ]);
  });

  it("holds a job until its end is acknowledged", () => {
    const { outbox } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.end("job_1", 1, finished);
    expect(outbox.held()).toEqual([{ jobId: "job_1", attempt: 1, claim: "claim of job_1 1", started: false }]);
    outbox.acknowledge("job_1", 1, 1);
    expect(outbox.isEmpty).toBe(true);
  });

  it("resends exactly the unacknowledged frames after a reconnect, including those added while disconnected", async () => {
    const { outbox } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.start("job_1", 1);
    for (const content of ["a", "b"]) {
      outbox.output("job_1", 1, token(content));
      await tick();
    }
    outbox.disconnect();
    outbox.output("job_1", 1, token("c"));
    outbox.end("job_1", 1, finished);
    const again: FromIsland[] = [];
    outbox.connect((frame) => again.push(frame), [{ jobId: "job_1", attempt: 1, action: "continue", ackedSeq: 1 }]);
    expect(again.map((frame) => ("seq" in frame ? frame.seq : frame.type))).toEqual([2, 3, 4]);
  });

  it("removes dropped attempts, and drops frames of an attempt that has ended", () => {
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.connect((frame) => sent.push(frame), [{ jobId: "job_1", attempt: 1, action: "drop" }]);
    outbox.end("job_1", 1, finished);
    expect(outbox.isEmpty).toBe(true);
    expect(sent.filter((frame) => frame.type === "finished")).toEqual([]);
  });

  it("ignores an acknowledgement of another attempt", () => {
    const { outbox } = open();
    outbox.open(name("job_1", 2), NEVER_FAILS);
    outbox.end("job_1", 2, finished);
    outbox.acknowledge("job_1", 1, 1);
    expect(outbox.has("job_1", 2)).toBe(true);
  });

  it("ends an attempt once", () => {
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.end("job_1", 1, finished);
    outbox.end("job_1", 1, { type: "cancelled" });
    expect(sent.filter((frame) => "seq" in frame)).toHaveLength(1);
  });

  it("reports a start between hello and welcome exactly once", () => {
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.open(name("job_2", 1), NEVER_FAILS);
    outbox.start("job_1", 1);
    outbox.disconnect();
    expect(outbox.held().map(({ started }) => started)).toEqual([true, false]);
    outbox.start("job_2", 1);
    const decisions = ["job_1", "job_2"].map((jobId) => {
      return { jobId, attempt: 1, action: "continue" as const, ackedSeq: 0 };
    });
    outbox.connect((frame) => sent.push(frame), decisions);
    expect(sent.filter(({ type }) => type === "started")).toEqual([
      { type: "started", jobId: "job_1", attempt: 1 },
      { type: "started", jobId: "job_2", attempt: 1 },
    ]);
  });

  it("reports prompt progress, and the latest again after a reconnect", () => {
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.start("job_1", 1);
    outbox.prompt("job_1", 1, { total: 900, done: 512 });
    outbox.disconnect();
    outbox.prompt("job_1", 1, { total: 900, done: 900 });
    outbox.held();
    outbox.connect((frame) => sent.push(frame), [{ jobId: "job_1", attempt: 1, action: "continue", ackedSeq: 0 }]);
    expect(sent.filter(({ type }) => type === "started")).toEqual([
      { type: "started", jobId: "job_1", attempt: 1 },
      { type: "started", jobId: "job_1", attempt: 1, prompt: { total: 900, done: 512 } },
      { type: "started", jobId: "job_1", attempt: 1, prompt: { total: 900, done: 900 } },
    ]);
  });

  it("emptied() resolves with the last acknowledgement, and immediately when no frame is unacknowledged", async () => {
    const { outbox } = open();
    await outbox.emptied();
    const events: string[] = [];
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.open(name("job_2", 1), NEVER_FAILS);
    const emptied = outbox.emptied().then(() => events.push("emptied"));
    for (const jobId of ["job_1", "job_2"]) {
      outbox.end(jobId, 1, finished);
      outbox.acknowledge(jobId, 1, 1);
      await tick();
      events.push(jobId);
    }
    await emptied;
    expect(events).toEqual(["job_1", "emptied", "job_2"]);
  });
});

describe("Outbox with frames that the coordinator would refuse", () => {
  const MAX = 100_000;
  const failures: string[] = [];
  const onFailure = (failure: Error): void => void failures.push(failure.message);

  function openSmall(): { outbox: Outbox; sent: FromIsland[] } {
    failures.length = 0;
    const { outbox } = open();
    const sent: FromIsland[] = [];
    outbox.connect((frame) => sent.push(frame), [], MAX);
    outbox.open(name("job_1", 1), onFailure);
    return { outbox, sent };
  }

  /** Frames that the coordinator receives. All of them must be valid and small enough. */
  function received(sent: readonly FromIsland[]): FromIsland[] {
    return sent.map((frame) => {
      const encoded = encodeFrame(frame);
      expect(encoded.length).toBeLessThanOrEqual(MAX);
      return readFromIsland(encoded);
    });
  }

  const outputOf = (sent: readonly FromIsland[]): OutputItem[] =>
    received(sent).flatMap((frame) => (frame.type === "output" ? frame.items : []));

  it("splits more items than a frame may have, in order", async () => {
    const { outbox } = open();
    const sent: FromIsland[] = [];
    outbox.connect((frame) => sent.push(frame), []);
    outbox.open(name("job_1", 1), NEVER_FAILS);
    const items = Array.from({ length: 25_000 }, (_, index) => token(String(index)));
    for (const item of items) outbox.output("job_1", 1, item);
    await tick();
    const frames = sent.flatMap((frame) => (frame.type === "output" ? [readFromIsland(encodeFrame(frame))] : []));
    expect(frames.map((frame) => "seq" in frame && frame.seq)).toEqual([1, 2, 3]);
    expect(frames.flatMap((frame) => (frame.type === "output" ? frame.items : []))).toEqual(items);
  });

  it("splits items that are too many bytes together", () => {
    const { outbox, sent } = openSmall();
    const items = ["a", "b", "c"].map((letter) => token(letter.repeat(30_000)));
    for (const item of items) outbox.output("job_1", 1, item);
    outbox.end("job_1", 1, finished);
    expect(outputOf(sent)).toEqual(items);
    expect(sent.at(-1)).toMatchObject({ type: "finished" });
    expect(failures).toEqual([]);
  });

  it.each<[string, OutputItem, string]>([
    ["is too large for a frame", { type: "image", data: "x".repeat(MAX), format: "png" }, "output_too_large"],
    ["has too long a field", { type: "image", data: "x", format: "x".repeat(21) }, "internal"],
    ["has a number that is none", { type: "token", content: "x", count: Number.NaN }, "internal"],
  ])("fails a job whose output %s, stops it, and sends nothing after", async (_, item, code) => {
    const { outbox, sent } = openSmall();
    outbox.output("job_1", 1, token("before"));
    await tick();
    outbox.output("job_1", 1, item);
    await tick();
    expect(failures).toHaveLength(1);
    outbox.output("job_1", 1, token("after"));
    const last = outbox.end("job_1", 1, finished);
    expect(last).toMatchObject({ type: "failed", code, retryable: false });
    expect(outputOf(sent)).toEqual([token("before")]);
    expect(received(sent).at(-1)).toMatchObject({ type: "failed", seq: 2 });
  });

  it("fails a job whose result is too large for a frame", () => {
    const { outbox, sent } = openSmall();
    const last = outbox.end("job_1", 1, { ...finished, output: "x".repeat(MAX) });
    expect(last).toMatchObject({ type: "failed", code: "output_too_large", retryable: false });
    expect(received(sent).at(-1)).toMatchObject({ ...last, seq: 1 });
  });

  it("fails a job whose result is not JSON", () => {
    const { outbox } = openSmall();
    const output = { when: new Date(0) } as never;
    expect(outbox.end("job_1", 1, { ...finished, output })).toMatchObject({ type: "failed", code: "internal" });
  });

  it("truncates a message to the limit of a frame", () => {
    const { outbox, sent } = openSmall();
    outbox.end("job_1", 1, { type: "failed", code: "internal", message: "x".repeat(5_000), retryable: true });
    expect(received(sent).at(-1)).toMatchObject({ message: "x".repeat(2_000), retryable: true });
  });

  it("fails a job if a frame is too large for the coordinator after a reconnect", () => {
    const { outbox } = openSmall();
    outbox.disconnect();
    outbox.output("job_1", 1, token("small"));
    outbox.output("job_1", 1, token("x".repeat(80_000)));
    outbox.end("job_1", 1, finished);
    const again: FromIsland[] = [];
    const held = [{ jobId: "job_1", attempt: 1, action: "continue" as const, ackedSeq: 0 }];
    outbox.connect((frame) => again.push(frame), held, 50_000);
    expect(again).toMatchObject([
      { type: "output", seq: 1, items: [token("small")] },
      { type: "failed", code: "output_too_large", seq: 2 },
    ]);
    expect(failures).toHaveLength(1);
    outbox.acknowledge("job_1", 1, 2);
    expect(outbox.isEmpty).toBe(true);
  });
});
