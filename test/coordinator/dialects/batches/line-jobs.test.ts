import { expect, it } from "vitest";
import { type BatchJobs, lineJobs } from "../../../../coordinator/dialects/batches/line-jobs.ts";
import { mapWithConcurrency, MAX_CONCURRENCY } from "../../../../coordinator/http/streaming/map-with-concurrency.ts";
import { RateLimitedError } from "../../../../shared/errors.ts";

const NEVER = new AbortController().signal;
type Submit = BatchJobs["submit"];

/** Returns the keys of a line's jobs by their text. Jobs are refused while more than `most` jobs are unfinished. */
async function keysOf(most: number, waits: readonly number[]): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  let now = 0;
  const submit = async ({ input, idempotency }: Parameters<Submit>[0]) => {
    if (now >= most) throw new RateLimitedError("concurrent_jobs", 1);
    now += 1;
    keys.set(input["text"] as string, idempotency?.key ?? "");
    return {} as Awaited<ReturnType<Submit>>;
  };
  const jobs = lineJobs({ submit }, { batchId: "b", line: 1, isCancelled: () => false });
  const texts = ["a", "b", "c", "d", "e", "f", "g"];
  await mapWithConcurrency(texts, MAX_CONCURRENCY, NEVER, async (text, index) => {
    await jobs.submit({ input: { text } } as unknown as Parameters<Submit>[0]);
    for (let tick = 0; tick < (waits[index] ?? 1); tick += 1) await Promise.resolve();
    now -= 1;
    return text;
  });
  return keys;
}

it("lineJobs() gives the jobs of a line the same keys however often one is refused", async () => {
  const expected = new Map(["a", "b", "c", "d", "e", "f", "g"].map((text, index) => [text, `b/1/${index + 1}`]));
  for (const most of [4, 3, 2, 1])
    for (const waits of [
      [1, 9, 3, 7],
      [9, 1, 1, 1, 9],
      [20, 20, 1, 1, 1],
    ])
      expect(await keysOf(most, waits)).toEqual(expected);
});
