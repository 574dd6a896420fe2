import { expect, it } from "vitest";
import { describeUnknown, misprefixedVariables, unknownVariables } from "../../../shared/cli/unknown-variables.ts";

it("names variables that nothing reads, with the nearest known one, and not their values", () => {
  const env = { ATOLL_PROT: "secret", ATOLL_HOST: "x", ATOLL_EMPTY: "", OTHER: "x" };
  expect(describeUnknown(unknownVariables(env, "ATOLL_", ["ATOLL_HOST", "ATOLL_PORT"]))).toBe(
    "Unknown environment variables: ATOLL_PROT (did you mean ATOLL_PORT?)",
  );
});

it("is silent when all are known", () => {
  expect(describeUnknown(unknownVariables({ ATOLL_HOST: "x" }, "ATOLL_", ["ATOLL_HOST"]))).toBeNull();
});

it("stays one line of bounded length", () => {
  const env = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`ATOLL_${index}`, "x"]));
  expect(describeUnknown(unknownVariables(env, "ATOLL_", []))).toMatch(/: ATOLL_0, ATOLL_1, .*ATOLL_4 and 4 more$/);
});

it("finds our variables under another program's prefix, and leaves that program's own alone", () => {
  const known = ["ISLAND_SLOTS", "ISLAND_CAPS_RAM_GB"];
  const env = { ATOLL_SLOTS: "2", ATOLL_ISLAND_SLOT: "4", ATOLL_PORT: "80", ATOLL_STORE: "postgres://x" };
  expect(misprefixedVariables(env, "ATOLL_", { ownPrefix: "ISLAND_", known })).toEqual([
    { name: "ATOLL_ISLAND_SLOT", nearest: "ISLAND_SLOTS" },
    { name: "ATOLL_SLOTS", nearest: "ISLAND_SLOTS" },
  ]);
});
