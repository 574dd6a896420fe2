import { describe, expect, it } from "vitest";
import { assertKnown, checksumOf, type Migration } from "../../../../coordinator/store/steps/migrations.ts";

const migration = (version: number): Migration => ({ version, name: `step ${version}`, sql: `sql ${version}` });
const applied = ({ version, name, sql }: Migration, oldest?: number) => {
  const row = { version, name, checksum: checksumOf(sql) };
  return oldest === undefined ? row : { ...row, oldest };
};

describe("assertKnown()", () => {
  const [first, second, third] = [1, 2, 3].map(migration) as [Migration, Migration, Migration];

  it("accepts a newer database whose changes are compatible with this version, as in a rolling upgrade", () => {
    assertKnown([applied(first, 1), applied(second, 1), applied(third, 1)], [first]);
    assertKnown([applied(first, 1), applied(second, 1), applied(third, 2)], [first, second]);
  });

  it("refuses a newer database if any of its changes is incompatible", () => {
    const unknown = /has migration 3 \(step 3\), but the program has only 1/;
    expect(() => assertKnown([applied(first, 1), applied(second, 1), applied(third, 2)], [first])).toThrow(unknown);
    expect(() => assertKnown([applied(first), applied(second)], [first])).toThrow(/has migration 2/);
  });

  it("refuses a migration whose text has changed", () => {
    expect(() => assertKnown([applied({ ...first, sql: "other" }, 1)], [first])).toThrow(/differs from the one/);
  });
});
