import { expect, it } from "vitest";
import { acknowledgements } from "../../../coordinator/islands/island-connections.ts";
import type { NumberedFrame } from "../../../shared/protocol/from-island.ts";

const attempt = { jobId: "job_1", attempt: 1 };
const output = (seq: number): NumberedFrame => ({
  type: "output",
  ...attempt,
  seq,
  items: [{ type: "token", content: "x", count: 1 }],
});

it("acknowledgements() sends one ack for all frames of a write, with the type of the last frame", async () => {
  const acks: [seq: number, type: string][] = [];
  const acknowledge = acknowledgements((_, { seq, type }) => acks.push([seq, type]));
  const add = (frame: NumberedFrame, durable: Promise<void | false>): void => acknowledge("host", frame, durable);
  const write = Promise.withResolvers<void>();
  for (const seq of [1, 2, 3]) add(output(seq), write.promise);
  add({ type: "cancelled", ...attempt, seq: 4 }, Promise.resolve());
  await Promise.resolve();
  expect(acks).toEqual([[4, "cancelled"]]);
  write.resolve();
  await write.promise;
  expect(acks).toEqual([
    [4, "cancelled"],
    [3, "output"],
  ]);
});

it("acknowledgements() sends no ack for an unhandled frame, which the Island must send again", async () => {
  const acks: number[] = [];
  const unheard = Promise.resolve<void | false>(false);
  acknowledgements((_, { seq }) => acks.push(seq))("host", output(1), unheard);
  await unheard;
  expect(acks).toEqual([]);
});
