import { describe, expect, it } from "vitest";
import { memoryFor } from "../../../../island-agent/runtimes/diffusers/estimate-diffusers.ts";

const MB = 1_048_576;
const GB = 1_024 * MB;

describe("memoryFor()", () => {
  it("counts the weights twice, plus working memory, on the CPU", () => {
    expect(memoryFor("cpu", 4 * GB, false)).toEqual({ ramBytes: 10 * GB + 192 * MB, vramBytes: 0 });
    expect(memoryFor("coreml", 4 * GB, false)).toEqual(memoryFor("cpu", 4 * GB, false));
  });
  it("counts weights and working memory as VRAM on a GPU, and the rest as RAM", () => {
    expect(memoryFor("cuda", 4 * GB, false)).toEqual({ ramBytes: 4 * GB + 1_536 * MB, vramBytes: 6 * GB });
  });
  it("counts more working memory for SDXL", () => {
    expect(memoryFor("dml", 7 * GB, true).vramBytes).toBe(13 * GB);
  });
  it("counts less working memory for a small pipeline, with a minimum", () => {
    expect(memoryFor("cpu", 1 * MB, false).ramBytes).toBe((192 + 2 + 256) * MB);
  });
});
