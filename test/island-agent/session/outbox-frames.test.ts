import { describe, expect, it, vi } from "vitest";
import { Outbox } from "../../../island-agent/session/outbox.ts";
import { fromIslandSchema, type FromIsland } from "../../../shared/protocol/from-island.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { finished, name, NEVER_FAILS, open, tick, token } from "./outbox-world.ts";

describe("Outbox frames for tokens", () => {
  it("hold the output of one event loop tick", async () => {
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    outbox.output("job_1", 1, token("a"));
    outbox.output("job_1", 1, token("b"));
    await tick();
    expect(sent).toEqual([
      { type: "accepted", jobId: "job_1", attempt: 1 },
      { type: "output", jobId: "job_1", attempt: 1, seq: 1, items: [token("a"), token("b")] },
    ]);
  });

  it("are sent at the end of each tick, one per token when tokens arrive separately", async () => {
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    for (const content of ["a", "b", "c"]) {
      outbox.output("job_1", 1, token(content));
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    expect(sent.slice(1).map((frame) => (frame.type === "output" ? frame.items : []))).toEqual([
      [token("a")],
      [token("b")],
      [token("c")],
    ]);
  });

  it("gather output while the socket is behind, and are sent as one when it has drained", async () => {
    const outbox = new Outbox(new ManualClock());
    const sent: FromIsland[] = [];
    let isBehind = true;
    outbox.connect((frame) => (sent.push(frame), !isBehind), []);
    outbox.open(name("job_1", 1), NEVER_FAILS);
    for (let count = 0; count < 100; count += 1) {
      outbox.output("job_1", 1, token(String(count)));
      await tick();
    }
    expect(sent).toHaveLength(2);
    isBehind = false;
    outbox.drained();
    expect(sent.slice(1).map((frame) => (frame.type === "output" ? frame.items.length : 0))).toEqual([1, 99]);
    outbox.output("job_1", 1, token("on"));
    await tick();
    expect(sent).toHaveLength(4);
  });

  it("are sent after a reconnect if they were gathered for a lost socket", async () => {
    const outbox = new Outbox(new ManualClock());
    outbox.connect(() => false, []);
    outbox.open(name("job_1", 1), NEVER_FAILS);
    for (const content of ["a", "b", "c"]) {
      outbox.output("job_1", 1, token(content));
      await tick();
    }
    outbox.disconnect();
    const again: FromIsland[] = [];
    outbox.connect((frame) => again.push(frame), [{ jobId: "job_1", attempt: 1, action: "continue", ackedSeq: 0 }]);
    expect(again.flatMap((frame) => (frame.type === "output" ? frame.items : []))).toEqual(
      ["a", "b", "c"].map((content) => token(content)),
    );
  });

  it("are not validated with the schema, unlike other frames", async () => {
    const parse = vi.spyOn(fromIslandSchema, "safeParse");
    const { outbox, sent } = open();
    outbox.open(name("job_1", 1), NEVER_FAILS);
    for (let count = 0; count < 50; count += 1) {
      outbox.output("job_1", 1, token("a"));
      await tick();
    }
    expect(sent).toHaveLength(51);
    expect(parse).toHaveBeenCalledTimes(0);
    outbox.output("job_1", 1, { type: "progress", step: 1, total: 2 });
    outbox.end("job_1", 1, finished);
    expect(parse).toHaveBeenCalledTimes(2);
    parse.mockRestore();
  });
});
