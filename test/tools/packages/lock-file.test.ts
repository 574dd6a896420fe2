import { describe, expect, it } from "vitest";
import { findInstalled, packagesNeeded, type LockEntries } from "../../../tools/packages/lock-file.ts";

const NOTHING = (): boolean => false;
const ENTRIES: LockEntries = {
  "node_modules/a": { version: "1.0.0", dependencies: { b: "^2", unused: "1" } },
  "node_modules/a/node_modules/b": { version: "2.0.0", optionalDependencies: { "a-linux-x64": "1", absent: "1" } },
  "node_modules/b": {
    version: "1.0.0",
    peerDependencies: { c: "1", absent: "1" },
    peerDependenciesMeta: { absent: { optional: true } },
  },
  "node_modules/c": { version: "1.0.0", dependencies: { b: "1" } },
  "node_modules/a-linux-x64": { version: "1.2.3", cpu: ["x64"], os: ["linux"] },
  "node_modules/unused": { version: "1.0.0", os: ["linux", "win32"] },
};

describe("findInstalled()", () => {
  it.each([
    ["", "b", "node_modules/b"],
    ["node_modules/a", "b", "node_modules/a/node_modules/b"],
    ["node_modules/a/node_modules/b", "c", "node_modules/c"],
    ["node_modules/c", "absent", null],
  ])("resolves from %j the package %s to %j", (from, name, path) => {
    expect(findInstalled(ENTRIES, from, name)).toBe(path);
  });
});

describe("packagesNeeded()", () => {
  it("returns dependencies and peers, with platform-specific packages separately", () => {
    expect(packagesNeeded(ENTRIES, ["a"], NOTHING)).toEqual({
      paths: ["node_modules/a", "node_modules/a/node_modules/b", "node_modules/unused"],
      ofPlatforms: { "a-linux-x64": "1.2.3" },
    });
    expect(packagesNeeded(ENTRIES, ["b"], NOTHING).paths).toEqual(["node_modules/b", "node_modules/c"]);
  });

  it("omits excluded packages and their own dependencies", () => {
    expect(packagesNeeded(ENTRIES, ["a"], (name) => name === "b")).toEqual({
      paths: ["node_modules/a", "node_modules/unused"],
      ofPlatforms: {},
    });
  });

  it("throws for a required package that is not installed", () => {
    expect(() => packagesNeeded(ENTRIES, ["absent"], NOTHING)).toThrow("absent is not in package-lock.json");
  });
});
