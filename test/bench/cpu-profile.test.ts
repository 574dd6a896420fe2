import { expect, it } from "vitest";
import { flameOf, samplesByGroup, type CpuProfile } from "../../bench/harness/cpu-profile.ts";

const ROOT = "/project";
const at = (id: number, functionName: string, url: string, ...children: number[]) => ({
  id,
  callFrame: { functionName, url },
  children,
});
const PROFILE: CpuProfile = {
  nodes: [
    at(1, "(root)", "", 2, 8, 9),
    at(2, "onread", "node:net", 3),
    at(3, "emit", "node:events", 4),
    at(4, "read", "file:///project/node_modules/ws/lib/a.js", 5, 6),
    at(5, "take", "file:///project/node_modules/ws/lib/b.js"),
    at(6, "onFrame", "file:///project/coordinator/islands/session.ts", 7),
    at(7, "constructor", "file:///project/shared/clock.ts"),
    at(8, "(idle)", ""),
    at(9, "(garbage collector)", ""),
  ],
  samples: [5, 6, 7, 7, 8, 8, 9],
};

it("flameOf() merges the calls of a package or Node.js between two functions of the project, and omits idle time", () => {
  const flame = flameOf(PROFILE, ROOT);
  const lines: string[] = [];
  const walk = ({ name, group, samples, callees }: typeof flame, depth: number): void => {
    lines.push(`${" ".repeat(depth)}${group}: ${name} ${samples}`);
    for (const callee of callees.values()) walk(callee, depth + 1);
  };
  walk(flame, 0);
  expect(lines).toEqual([
    "V8: main thread 5",
    " node: node:net onread 4",
    "  packages: ws read 4",
    "   coordinator/islands: session onFrame 3",
    "    shared: clock constructor 2",
    " V8: garbage collector 1",
  ]);
});

it("samplesByGroup() counts samples of each group without those of callees", () => {
  expect(Object.fromEntries(samplesByGroup(flameOf(PROFILE, ROOT)))).toEqual({
    V8: 1,
    node: 0,
    packages: 1,
    "coordinator/islands": 1,
    shared: 2,
  });
});
