import { describe, expect, it } from "vitest";
import { openWithCpuFallback } from "../../../../island-agent/runtimes/diffusers/cpu-fallback.ts";
import { JobFailure } from "../../../../shared/errors.ts";

const refusal = new JobFailure("model_invalid", "no such operator");
/** Opens on the CPU only. */
const openOnCpu = async ([first]: readonly string[]): Promise<string> => {
  if (first !== "cpu") throw refusal;
  return "opened";
};

describe("openWithCpuFallback()", () => {
  it("opens with the best provider", async () => {
    const opened = await openWithCpuFallback(async (providers) => providers.join("+"), ["cuda", "cpu"], "auto");
    expect(opened).toEqual({ opened: "cuda+cpu", providers: ["cuda", "cpu"], refused: null });
  });
  it("falls back to the CPU if the best provider fails, and returns the reason", async () => {
    const opened = await openWithCpuFallback(openOnCpu, ["cuda", "cpu"], "auto");
    expect(opened).toEqual({ opened: "opened", providers: ["cpu"], refused: "cuda: no such operator" });
  });
  it("does not fall back if the owner named the provider", async () => {
    await expect(openWithCpuFallback(openOnCpu, ["cuda", "cpu"], "cuda")).rejects.toBe(refusal);
  });
  it("does not try the CPU twice", async () => {
    const seen: string[] = [];
    const open = async ([first = ""]: readonly string[]): Promise<never> => {
      seen.push(first);
      throw refusal;
    };
    await expect(openWithCpuFallback(open, ["cpu"], "auto")).rejects.toBe(refusal);
    expect(seen).toEqual(["cpu"]);
  });
});
