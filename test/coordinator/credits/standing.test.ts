import { expect, it } from "vitest";
import {
  afterVerdict,
  auditChance,
  MAX_UNCLEAR,
  NEW_STANDING,
  NO_EVIDENCE,
  type Standing,
} from "../../../coordinator/credits/standing.ts";

function after(verdicts: readonly ("consistent" | "unclear")[], wasRead = true): Standing {
  return verdicts.reduce<Standing>(
    (standing, verdict) => afterVerdict(standing, verdict, NO_EVIDENCE, "", wasRead),
    NEW_STANDING,
  );
}
const UNCLEAR = Array.from({ length: MAX_UNCLEAR }, () => "unclear" as const);

it("audits hardly any job of an owner whose readings stay unclear, until one is consistent", () => {
  expect(auditChance(after(UNCLEAR.slice(1)))).toBe(1);
  expect(auditChance(after(UNCLEAR))).toBe(0.02);
  expect(auditChance(after([...UNCLEAR, "consistent"]))).toBe(1);
});

it("does not count audits for which there was no reader", () => {
  expect(auditChance(after(UNCLEAR, false))).toBe(1);
});
