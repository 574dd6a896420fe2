import { expect, it } from "vitest";
import { FrameIntake, MAX_PER_TICK, type FrameSource } from "../../../../coordinator/islands/session/frame-intake.ts";

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function makeSource(log: string[], name: string): FrameSource {
  return {
    onQueued: () => log.push(`${name} waits`),
    onQueueEmpty: () => log.push(`${name} goes on`),
    take: (data) => {
      log.push(`${name}${data.length}`);
      return 1;
    },
  };
}
const takenOf = (log: readonly string[]): number => log.filter((line) => /\d$/.test(line)).length;

it("FrameIntake takes at most 100 frames per tick, in order of arrival from all sources", async () => {
  const intake = new FrameIntake();
  const log: string[] = [];
  const [a, b] = [makeSource(log, "a"), makeSource(log, "b")];
  for (let i = 0; i < 125; i += 1) {
    intake.push(a, Buffer.alloc(1));
    intake.push(b, Buffer.alloc(2));
  }
  const counts = [takenOf(log)];
  while (takenOf(log) < 250) {
    await nextTick();
    counts.push(takenOf(log));
  }
  const perTurn = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(log.filter((line) => !/\d$/.test(line))).toEqual(["a waits", "b waits", "a goes on", "b goes on"]);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(MAX_PER_TICK.frames);
  expect(log.filter((line) => /\d$/.test(line))).toEqual(Array.from({ length: 250 }, (_, i) => (i % 2 ? "b2" : "a1")));
});

it("FrameIntake takes at most 256 KiB per tick, but always one frame", async () => {
  const intake = new FrameIntake();
  const log: string[] = [];
  const source = makeSource(log, "a");
  for (let i = 0; i < 3; i += 1) intake.push(source, Buffer.alloc(2 * MAX_PER_TICK.bytes));
  const counts = [takenOf(log)];
  while (takenOf(log) < 3) {
    await nextTick();
    counts.push(takenOf(log));
  }
  expect(counts.every((count, index) => count - (counts[index - 1] ?? 0) <= 1)).toBe(true);
});
