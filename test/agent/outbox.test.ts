import { describe, expect, it } from "vitest";
import { Outbox } from "../../island-agent/session/outbox.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const token = (content: string) => ({ type: "token" as const, content, count: 1 });
const finished = {
  type: "finished" as const,
  finishReason: "stop" as const,
  usage: { promptTokens: 1, completionTokens: 2 },
  timings: { loadMs: 0, firstOutputMs: 1, runMs: 2 },
};

function open(): { outbox: Outbox; sent: FromIsland[] } {
  const outbox = new Outbox();
  const sent: FromIsland[] = [];
  outbox.connect((frame) => sent.push(frame), []);
  return { outbox, sent };
}

describe("Outbox", () => {
  it("sends the output of one turn of the event loop as one frame", async () => {
    const { outbox, sent } = open();
    outbox.open("job_1", 1);
    outbox.output("job_1", 1, token("a"));
    outbox.output("job_1", 1, token("b"));
    await turn();
    expect(sent).toEqual([
      { type: "accepted", jobId: "job_1", attempt: 1 },
      { type: "output", jobId: "job_1", attempt: 1, seq: 1, items: [token("a"), token("b")] },
    ]);
  });

  it("puts the last output before the end, without waiting for the turn", () => {
    const { outbox, sent } = open();
    outbox.open("job_1", 1);
    outbox.output("job_1", 1, token("a"));
    outbox.end("job_1", 1, finished);
    expect(sent.slice(1).map((frame) => [frame.type, "seq" in frame ? frame.seq : 0])).toEqual([
      ["output", 1],
      ["finished", 2],
    ]);
  });

  it("holds a job until its end is acknowledged", () => {
    const { outbox } = open();
    outbox.open("job_1", 1);
    outbox.end("job_1", 1, finished);
    expect(outbox.held()).toEqual([{ jobId: "job_1", attempt: 1, started: false }]);
    outbox.acknowledge("job_1", 1, 1);
    expect(outbox.isEmpty).toBe(true);
  });

  it("sends again after a reconnect exactly what was not acknowledged, also what came while away", async () => {
    const { outbox } = open();
    outbox.open("job_1", 1);
    outbox.start("job_1", 1);
    for (const content of ["a", "b"]) {
      outbox.output("job_1", 1, token(content));
      await turn();
    }
    outbox.disconnect();
    outbox.output("job_1", 1, token("c"));
    outbox.end("job_1", 1, finished);
    const again: FromIsland[] = [];
    outbox.connect((frame) => again.push(frame), [{ jobId: "job_1", attempt: 1, action: "continue", ackedSeq: 1 }]);
    expect(again.map((frame) => ("seq" in frame ? frame.seq : frame.type))).toEqual([2, 3, 4]);
  });

  it("forgets what it is told to drop, and drops frames of an attempt that is over", () => {
    const { outbox, sent } = open();
    outbox.open("job_1", 1);
    outbox.connect((frame) => sent.push(frame), [{ jobId: "job_1", attempt: 1, action: "drop" }]);
    outbox.end("job_1", 1, finished);
    expect(outbox.isEmpty).toBe(true);
    expect(sent.filter((frame) => frame.type === "finished")).toEqual([]);
  });

  it("ignores an acknowledgement of another attempt", () => {
    const { outbox } = open();
    outbox.open("job_1", 2);
    outbox.end("job_1", 2, finished);
    outbox.acknowledge("job_1", 1, 1);
    expect(outbox.has("job_1", 2)).toBe(true);
  });

  it("ends an attempt once", () => {
    const { outbox, sent } = open();
    outbox.open("job_1", 1);
    outbox.end("job_1", 1, finished);
    outbox.end("job_1", 1, { type: "cancelled" });
    expect(sent.filter((frame) => "seq" in frame)).toHaveLength(1);
  });
});
