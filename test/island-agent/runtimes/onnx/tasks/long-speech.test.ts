import { describe, expect, it } from "vitest";
import { cutInPauses, transcribeInChunks } from "../../../../../island-agent/runtimes/onnx/tasks/long-speech.ts";

const RATE_HZ = 100;

/** Returns audio with half a second of silence at each of these seconds. */
function audioWithPauses(seconds: number, pausesS: readonly number[]): Float32Array {
  return Float32Array.from({ length: seconds * RATE_HZ }, (_, i) =>
    pausesS.some((pause) => i / RATE_HZ >= pause && i / RATE_HZ < pause + 0.5) ? 0 : (-1) ** i,
  );
}

describe("cutInPauses()", () => {
  it("does not cut audio that fits one window", () => {
    expect(cutInPauses(audioWithPauses(4, []), RATE_HZ, 4)).toEqual([[0, 400]]);
    expect(cutInPauses(new Float32Array(0), RATE_HZ, 4)).toEqual([[0, 0]]);
  });
  it("cuts in the last pause of each window's second half", () => {
    const parts = cutInPauses(audioWithPauses(10, [1, 2.5, 3, 6]), RATE_HZ, 4);
    const [first, second, third] = parts.map(([from]) => from / RATE_HZ);
    expect([first, third]).toEqual([0, expect.closeTo(6.4, 1)]);
    expect(second).toBeGreaterThan(3);
    expect(second).toBeLessThan(3.5);
    expect(parts.at(-1)?.[1]).toBe(1_000);
  });
  it("cuts audio without pauses shortly before the window's end", () => {
    const parts = cutInPauses(audioWithPauses(8, []), RATE_HZ, 4);
    expect(parts[0]).toEqual([0, 390]);
    for (const [from, to] of parts) expect(to - from).toBeLessThanOrEqual(400);
    expect(cutInPauses(new Float32Array(405), RATE_HZ, 4)).toEqual([
      [0, 390],
      [390, 405],
    ]);
    expect(cutInPauses(new Float32Array(395 + 5), RATE_HZ, 3.95)).toHaveLength(2);
  });
  it("refuses windows that are not positive, and terminates at any sample rate", () => {
    for (const windowS of [0, -1, NaN])
      expect(() => cutInPauses(audioWithPauses(1, []), RATE_HZ, windowS)).toThrow("chunk_length");
    expect(cutInPauses(new Float32Array(400), 10, 4).at(-1)?.[1]).toBe(400);
  });
});

describe("transcribeInChunks()", () => {
  it("joins the texts, with times that never decrease or exceed their chunk", async () => {
    const calls: [number, number][] = [];
    const transcript = await transcribeInChunks(audioWithPauses(10, [3, 7]), RATE_HZ, 4, async (_, index, parts) => {
      calls.push([index, parts]);
      return {
        text: ` ${index}`,
        chunks: [
          { timestamp: [2, 1], text: ` ${index}` },
          { timestamp: [99, null], text: "" },
        ] as const,
      };
    });
    expect(transcript.text).toBe(" 0 1 2");
    expect(calls).toEqual([
      [0, 3],
      [1, 3],
      [2, 3],
    ]);
    const times = transcript.chunks.flatMap(({ timestamp }) => timestamp as number[]);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.slice(0, 2)).toEqual([2, 2]);
    expect(times.at(-1)).toBe(10);
  });
  it("ends a chunk without an end time where the next chunk starts", async () => {
    const chunks = [
      { timestamp: [1, null], text: " a" },
      { timestamp: [2, 3], text: " b" },
    ];
    const transcript = await transcribeInChunks(audioWithPauses(4, []), RATE_HZ, 4, async () => ({
      text: " a b",
      chunks,
    }));
    expect(transcript.chunks.map(({ timestamp }) => timestamp)).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });
});
