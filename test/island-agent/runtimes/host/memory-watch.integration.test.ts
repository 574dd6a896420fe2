import { describe, expect, it } from "vitest";
import { isRunning } from "../llmcpp/llmcpp-support.ts";
import { loadScripted, runScript } from "./host-world.ts";

const MIB = 1_048_576;
const CEILING = 400 * MIB;
const TOO_MUCH = 600 * MIB;
const OUT_OF_MEMORY = {
  code: "out_of_memory",
  retryable: true,
  message: expect.stringMatching(/was killed: it used \d+ MiB of RAM, but its limit is 400 MiB/),
};

describe.skipIf(process.platform === "win32")("a host process above its RAM limit", () => {
  it("is killed during a run, fails all its runs as out_of_memory, and leaves no process", async () => {
    const cargo = await loadScripted({}, CEILING);
    const other = runScript(cargo, {});
    await expect(runScript(cargo, { eatBytes: TOO_MUCH })).rejects.toMatchObject(OUT_OF_MEMORY);
    await expect(other).rejects.toMatchObject(OUT_OF_MEMORY);
    await cargo.gone;
    expect(isRunning(cargo.pid ?? 0)).toBe(false);
    // The RAM that caused the kill is not recorded as the Cargo's need. Mapped files are recorded, although the ceiling
    // does not count them.
    expect(cargo.memory.ramBytes).toBeLessThan(TOO_MUCH);
  });

  it("is killed during its load", async () => {
    await expect(loadScripted({ eatBytes: TOO_MUCH }, CEILING)).rejects.toMatchObject({
      ...OUT_OF_MEMORY,
      message: expect.stringContaining("its limit is"),
    });
  });
});

describe.skipIf(process.platform === "win32")("a host process that grows below its RAM limit", () => {
  it("is measured during its run, and continues", async () => {
    await using cargo = await loadScripted({}, CEILING);
    const before = cargo.memory.ramBytes;
    const controller = new AbortController();
    const running = cargo.run({ input: { eatBytes: 100 * MIB }, resume: null }, () => {}, controller.signal);
    running.catch(() => {});
    await expect.poll(() => cargo.memory.ramBytes, { timeout: 20_000 }).toBeGreaterThan(before + 100 * MIB);
    expect(isRunning(cargo.pid ?? 0)).toBe(true);
  });
});
