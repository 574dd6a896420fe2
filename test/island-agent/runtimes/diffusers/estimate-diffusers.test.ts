import { describe, expect, it } from "vitest";
import { memoryFor } from "../../../../island-agent/runtimes/diffusers/estimate-diffusers.ts";

const MB = 1_048_576;
const GB = 1_024 * MB;

describe("memoryFor()", () => {
  it("counts weights twice and the work on the CPU, and no VRAM", () => {
    expect(memoryFor("cpu", 4 * GB, false)).toEqual({ ramBytes: 10 * GB + 192 * MB, vramBytes: 0 });
    expect(memoryFor("coreml", 4 * GB, false)).toEqual(memoryFor("cpu", 4 * GB, false));
  });
  it("puts weights and the work on a GPU, and what stays behind in RAM, as the shipped Cargos ask for it", () => {
    expect(memoryFor("cuda", 4 * GB, false)).toEqual({ ramBytes: 4 * GB + 1_536 * MB, vramBytes: 6 * GB });
  });
  it("knows that SDXL works with more", () => {
    expect(memoryFor("dml", 7 * GB, true).vramBytes).toBe(13 * GB);
  });
  it("expects less work of a small pipeline, though never none", () => {
    expect(memoryFor("cpu", 1 * MB, false).ramBytes).toBe((192 + 2 + 256) * MB);
  });
});
