import { expect, it } from "vitest";
import { simulate } from "../../../bench/audit/simulation.ts";

it("audits find all liars of a small network, and no honest Island", async () => {
  const options = {
    seed: 3,
    jobs: 3_000,
    islands: 100,
    owners: 60,
    liars: 0.2,
    trusted: 2,
    hours: 1,
    provenShare: 0.3,
  };
  const { any, proven, honestQuarantined, provenAuditShare, isBalanced, kinds } = await simulate(options);
  expect(isBalanced).toBe(true);
  expect(honestQuarantined).toBe(0);
  expect(any.wrongFinal / any.jobs).toBeLessThanOrEqual(0.005);
  // One answer of the 900 jobs would be more than the goal of 0.05 %.
  expect(proven.wrongFinal).toBeLessThanOrEqual(1);
  expect(provenAuditShare).toBeLessThanOrEqual(0.03);
  const blatant = ["one character", "two tokens", "first three words", "canned text", "echo of the prompt"];
  for (const { kind, maxLies, earned } of kinds)
    if (blatant.includes(kind)) expect([kind, maxLies <= 10, earned]).toEqual([kind, true, 0]);
});
