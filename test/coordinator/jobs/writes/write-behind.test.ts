import { expect, it } from "vitest";
import { UnstoredOutput } from "../../../../coordinator/jobs/writes/unstored-output.ts";
import { writeBehind, type WritingJob } from "../../../../coordinator/jobs/writes/write-behind.ts";
import { MIB } from "../../../../shared/format-bytes.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

it("stores a job's output in parts of at most 8 MiB and a frame while storage does not respond", () => {
  const job = { unstored: new UnstoredOutput(), appendsInFlight: 0, firstOutputMs: 0 };
  const writes: number[] = [];
  const behind: ReturnType<typeof writeBehind<WritingJob>> = writeBehind(new ManualClock(), 100, (each: WritingJob) => {
    behind.remove(each);
    writes.push(each.unstored.bytes);
    each.unstored.take();
    job.appendsInFlight += 1;
  });
  for (let seq = 1; seq <= 20; seq += 1) {
    void job.unstored.add(seq, [], MIB);
    behind.add(job, MIB);
  }
  expect(writes).toEqual([MIB, 9 * MIB, 9 * MIB]);
});
