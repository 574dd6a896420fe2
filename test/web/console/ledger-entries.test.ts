import { describe, expect, it } from "vitest";
import { entriesOf } from "../../../web/src/pages/client/usage/ledger-entries.ts";

let id = 100;
const line = (kind: string, amount: number, held: number, more: object = {}) => ({
  ...{ id: (id -= 1), kind, amount, held, balance: id, job_id: null, batch_id: null, workload_slug: null },
  ...{ created_at: `2026-01-01T00:00:${id}.000Z`, ...more },
});
const job = { job_id: "job_1", workload_slug: "tiny-chat" };
const brief = (lines: readonly ReturnType<typeof line>[]) =>
  entriesOf(lines).map(({ kind, slug, jobId, change, lines: own }) => [kind, slug, jobId, change, own.length]);

describe("ledger entries", () => {
  it("combine the lines of a job, with its cost", () => {
    const lines = [line("release", 0.75, -0.75, job), line("charge", 0, -0.25, job), line("hold", -1, 1, job)];
    expect(brief(lines)).toEqual([["charge", "tiny-chat", "job_1", -0.25, 3]]);
    const [entry] = entriesOf(lines);
    expect([entry?.balance, entry?.at]).toEqual([lines[0]?.balance, lines[0]?.created_at]);
  });

  it("show the cost of a job before its oldest line is read", () => {
    expect(brief([line("charge", 0, -0.01, job)])).toEqual([["charge", "tiny-chat", "job_1", -0.01, 1]]);
  });

  it("show no cost for a fully released job, and the hold for an unfinished job", () => {
    expect(brief([line("release", 1, -1, job), line("hold", -1, 1, job)])).toEqual([
      ["release", "tiny-chat", "job_1", 0, 2],
    ]);
    expect(brief([line("hold", -1, 1, job)])).toEqual([["hold", "tiny-chat", "job_1", -1, 1]]);
  });

  it("count a line once if two pages contain it", () => {
    const charge = line("charge", 0, -0.25, job);
    expect(brief([charge, charge])).toEqual([["charge", "tiny-chat", "job_1", -0.25, 1]]);
  });

  it("keep earnings separate, even for the account's own job, and without a link to the job", () => {
    const lines = [
      line("earning", 0.9, 0, job),
      line("charge", 0, -1, job),
      line("earning", 0.9, 0, { ...job, job_id: "job_of_another" }),
      line("hold", -1, 1, job),
      line("grant", 10, 0),
    ];
    expect(brief(lines)).toEqual([
      ["earning", "tiny-chat", null, 0.9, 1],
      ["charge", "tiny-chat", "job_1", -1, 2],
      ["earning", "tiny-chat", null, 0.9, 1],
      ["grant", null, null, 10, 1],
    ]);
  });
});
