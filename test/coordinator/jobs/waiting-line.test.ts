import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LiveJob } from "../../../coordinator/jobs/live-job.ts";
import { WaitingLine } from "../../../coordinator/jobs/waiting-line.ts";

const jobOf = (id: string): LiveJob => ({ id }) as LiveJob;

describe("WaitingLine", () => {
  it("has the places of a plain list, whoever comes and goes", () => {
    const act = fc.record({ leaves: fc.boolean(), who: fc.nat(11) });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80 }), (acts) => {
        const line = new WaitingLine();
        const list: string[] = [];
        for (const { leaves, who } of acts) {
          const id = `job_${who}`;
          const index = list.indexOf(id);
          if (leaves) {
            expect(line.remove(id)).toBe(index >= 0);
            if (index >= 0) list.splice(index, 1);
          } else if (index < 0) {
            line.push(jobOf(id));
            list.push(id);
          }
          expect([line.size, line.first?.id]).toEqual([list.length, list[0]]);
          expect(list.map((job) => line.positionOf(job))).toEqual(list.map((_, place) => place + 1));
          if (!list.includes(id)) expect(line.positionOf(id)).toBeNull();
        }
      }),
    );
  });
});
