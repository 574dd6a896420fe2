import { describe, expect, it } from "vitest";
import { OUTPUTS_FEATURE } from "../../../shared/protocol/from-coordinator.ts";
import { fromIslandSchema, MAX_FRAME_ITEMS, type FromIsland } from "../../../shared/protocol/from-island.ts";
import { finished, name, NEVER_FAILS, open, tick, token } from "./outbox-world.ts";

const outputsOf = (frame: FromIsland | undefined) =>
  frame?.type === "outputs" ? frame.outputs.map(({ jobId, seq, items }) => [jobId, seq, items.length]) : frame?.type;

/** An outbox with two attempts, which has sent a first token of one of them. */
async function openBusy(features: readonly string[] = [OUTPUTS_FEATURE]) {
  const world = open(features);
  world.outbox.open(name("job_1", 1), NEVER_FAILS);
  world.outbox.open(name("job_2", 1), NEVER_FAILS);
  world.outbox.output("job_1", 1, token("first"));
  await tick();
  world.sent.splice(0, 2);
  return world;
}

describe("Outbox of a busy session", () => {
  it("sends the first output at once, and joins the output of the next 4 ms", async () => {
    const { outbox, sent, clock } = await openBusy();
    expect(sent.map(({ type }) => type)).toEqual(["output"]);
    for (const jobId of ["job_2", "job_1", "job_2"]) {
      outbox.output(jobId, 1, token("x"));
      await tick();
    }
    clock.advance(3.9);
    expect(sent).toHaveLength(1);
    clock.advance(0.1);
    expect(sent).toHaveLength(2);
    expect(outputsOf(sent[1])).toEqual([
      ["job_1", 2, 1],
      ["job_2", 1, 2],
    ]);
    expect(fromIslandSchema.safeParse(sent[1]).success).toBe(true);
  });

  it("sends output at once, without a timer, after 4 ms without output", async () => {
    const { outbox, sent, clock } = await openBusy();
    clock.advance(4);
    outbox.output("job_2", 1, token("x"));
    expect(clock.pendingTimers).toBe(0);
    await tick();
    expect(sent).toHaveLength(2);
  });

  it("sends single frames to a coordinator without the feature", async () => {
    const { outbox, sent, clock } = await openBusy([]);
    outbox.output("job_1", 1, token("x"));
    outbox.output("job_2", 1, token("x"));
    clock.advance(4);
    expect(sent.map(({ type }) => type)).toEqual(["output", "output", "output"]);
  });

  it("sends gathered output before the end of its attempt", async () => {
    const { outbox, sent } = await openBusy();
    outbox.output("job_1", 1, token("x"));
    outbox.end("job_1", 1, finished);
    expect(sent.map((frame) => "seq" in frame && [frame.type, frame.seq])).toEqual([
      ["output", 1],
      ["output", 2],
      ["finished", 3],
    ]);
  });

  it("numbers and keeps each joined output, and resends those that were not acknowledged", async () => {
    const { outbox, sent, clock } = await openBusy();
    outbox.output("job_1", 1, token("x"));
    outbox.output("job_2", 1, token("y"));
    clock.advance(4);
    outbox.disconnect();
    outbox.output("job_2", 1, token("z"));
    clock.advance(4);
    sent.length = 0;
    const held = [
      { jobId: "job_1", attempt: 1, action: "continue" as const, ackedSeq: 1 },
      { jobId: "job_2", attempt: 1, action: "continue" as const, ackedSeq: 0 },
    ];
    outbox.connect((frame) => sent.push(frame), held);
    expect(sent.map((frame) => "seq" in frame && [frame.type, frame.jobId, frame.seq])).toEqual([
      ["output", "job_1", 2],
      ["output", "job_2", 1],
      ["output", "job_2", 2],
    ]);
  });

  it("splits joined output at the limit of items, in order", async () => {
    const { outbox, sent, clock } = await openBusy();
    for (const jobId of ["job_1", "job_2"]) {
      for (let count = 0; count < MAX_FRAME_ITEMS * 0.75; count += 1) outbox.output(jobId, 1, token("x"));
    }
    clock.advance(4);
    expect(sent.slice(1).map((frame) => "seq" in frame && [frame.type, frame.jobId, frame.seq])).toEqual([
      ["output", "job_1", 2],
      ["output", "job_2", 1],
    ]);
  });
});

describe("Outbox with one attempt", () => {
  it("sends each token at once and starts no timer, however fast they arrive", async () => {
    const { outbox, sent, clock } = open([OUTPUTS_FEATURE]);
    outbox.open(name("job_1", 1), NEVER_FAILS);
    for (let count = 0; count < 5; count += 1) {
      outbox.output("job_1", 1, token("x"));
      expect(clock.pendingTimers).toBe(0);
      await tick();
    }
    expect(sent.slice(1).map(({ type }) => type)).toEqual(Array.from({ length: 5 }, () => "output"));
  });
});
