import { describe, expect, it } from "vitest";
import { termsOf } from "../../../coordinator/credits/trust.ts";

describe("termsOf()", () => {
  it("returns null if nothing is asked", () => {
    expect(termsOf({}, null, undefined)).toBeNull();
    expect(termsOf({ trust: "any", audit: "default" }, "proven", "any")).toBeNull();
  });

  it.each([
    ["proven", "own", undefined, "proven"],
    [undefined, "own", "proven", "own"],
    [null, "proven", undefined, "proven"],
    ["any", "own", "proven", "proven"],
    ["proven", null, "own", "own"],
  ] as const)(
    "returns the strictest of the request's trust (%s), else the key's (%s), and the Cargo's minimum (%s)",
    (trust, keyTrust, minTrust, expected) => {
      expect(termsOf({ trust }, keyTrust, minTrust)).toEqual({ trust: expected, audit: "default", reader: null });
    },
  );

  it("keeps the refusal of audits", () => {
    expect(termsOf({ audit: "never" }, null, undefined)).toEqual({ trust: "any", audit: "never", reader: null });
  });
});
