import { describe, expect, it } from "vitest";
import { InputLines } from "../../../island-agent/execution/input-lines.ts";
import { MAX_LINE_BYTES, MAX_WAITING_BYTES, MAX_WAITING_LINES } from "../../../shared/job-input.ts";

describe("InputLines", () => {
  it("hands over one line after the other, and what comes again only once", async () => {
    const taken: number[] = [];
    const lines = new InputLines((seq) => taken.push(seq));
    const written: string[] = [];
    const writes: (() => void)[] = [];
    const fed = lines.feed(
      (line) => {
        written.push(line);
        return new Promise((resolve) => writes.push(resolve));
      },
      () => written.push("end"),
    );
    lines.push({ seq: 1, line: "1" });
    lines.push({ seq: 2, line: "2" });
    lines.push({ seq: 1, line: "1" });
    lines.push({ seq: 3, line: undefined });
    await expect.poll(() => written).toEqual(["1"]);
    expect([taken, lines.held]).toEqual([[], { received: 3, taken: 0, hasEnd: true }]);
    writes.shift()?.();
    await expect.poll(() => written).toEqual(["1", "2"]);
    writes.shift()?.();
    await fed;
    expect([written, taken]).toEqual([
      ["1", "2", "end"],
      [1, 2, 3],
    ]);
  });

  it("refuses what does not follow, and more than may wait", () => {
    const lines = new InputLines(() => undefined);
    lines.push({ seq: 1, line: "1" });
    expect(() => lines.push({ seq: 3, line: "3" })).toThrow("3 after 1");
    lines.push({ seq: 2, line: undefined });
    expect(() => lines.push({ seq: 3, line: "3" })).toThrow("3 after 2");
    const many = new InputLines(() => undefined);
    for (let seq = 1; seq <= MAX_WAITING_LINES; seq += 1) many.push({ seq, line: "" });
    expect(() => many.push({ seq: MAX_WAITING_LINES + 1, line: "" })).toThrow("more lines");
    const long = new InputLines(() => undefined);
    const line = "x".repeat(MAX_LINE_BYTES);
    for (let seq = 1; seq <= MAX_WAITING_BYTES / MAX_LINE_BYTES; seq += 1) long.push({ seq, line });
    expect(() => long.push({ seq: 5, line: "x" })).toThrow("more lines");
  });
});
