import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { openStepLine } from "../../../../bin/main/terminal/step-line.ts";

describe("openStepLine()", () => {
  it.each([
    [true, "\r\u001B[Kone …\r\u001B[Ktwo …\r\u001B[K"],
    [false, ""],
  ])("replaces each step with the next, and writes only to a terminal (isTTY: %s)", (isTTY, written) => {
    const stream = Object.assign(new PassThrough(), { isTTY });
    const steps = openStepLine(stream);
    steps.show("one …");
    steps.show("two …");
    steps.clear();
    expect(String(stream.read() ?? "")).toBe(written);
  });
});
