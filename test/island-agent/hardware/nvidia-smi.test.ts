import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseNvidiaSmi } from "../../../island-agent/hardware/nvidia-smi.ts";
import { fixture } from "./fake-probe.ts";

const MIB = 2 ** 20;

describe("parseNvidiaSmi()", () => {
  it("reads one GPU, in bytes", () => {
    expect(parseNvidiaSmi(fixture("nvidia-smi-550-rtx4090.csv"))).toEqual([
      {
        vendor: "NVIDIA",
        name: "NVIDIA GeForce RTX 4090",
        vramBytes: 24_564 * MIB,
        unifiedMemory: false,
        driver: "550.54.14",
        freeVramBytes: 23_937 * MIB,
      },
    ]);
  });

  it("reads several GPUs, one without free memory", () => {
    const gpus = parseNvidiaSmi(fixture("nvidia-smi-535-two-a100.csv"));
    expect(gpus.map(({ vramBytes, freeVramBytes }) => [vramBytes, freeVramBytes])).toEqual([
      [81_920 * MIB, 81_037 * MIB],
      [81_920 * MIB, 0],
    ]);
  });

  it("accepts Windows line ends", () => {
    expect(parseNvidiaSmi(fixture("nvidia-smi-561-windows.csv"))).toMatchObject([{ driver: "561.09" }]);
  });

  it.each(["nvidia-smi-580-gb10.csv", "nvidia-smi-540-jetson-orin.csv"])(
    "reports that %s shares RAM, of unknown size",
    (name) => {
      expect(parseNvidiaSmi(fixture(name))).toMatchObject([
        { vramBytes: null, freeVramBytes: null, unifiedMemory: true },
      ]);
    },
  );

  it("returns null, not 0, for values that the tool cannot report", () => {
    expect(parseNvidiaSmi(fixture("nvidia-smi-470-not-supported.csv"))).toMatchObject([
      { name: "NVIDIA GeForce GT 710", vramBytes: null, freeVramBytes: null, unifiedMemory: false },
      { name: "Tesla K80", vramBytes: 11_441 * MIB, freeVramBytes: null },
    ]);
  });

  it.each(["nvidia-smi-driver-failed.txt", "nvidia-smi-version-mismatch.txt", "nvidia-smi-no-devices.txt"])(
    "finds no GPU in %s",
    (name) => {
      expect(parseNvidiaSmi(fixture(name))).toEqual([]);
    },
  );

  it("reads the other GPUs if one is lost", () => {
    expect(parseNvidiaSmi(fixture("nvidia-smi-one-gpu-lost.txt"))).toMatchObject([{ name: "NVIDIA GeForce RTX 3090" }]);
  });

  it("reads any sizes, and never throws for any text", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.string(), (total, free, noise) => {
        const gpus = parseNvidiaSmi(`Some, GPU, ${total}, ${free}, 1.2\n`);
        expect(gpus).toMatchObject([{ name: "Some, GPU", vramBytes: total * MIB, freeVramBytes: free * MIB }]);
        parseNvidiaSmi(noise);
      }),
    );
  });
});
