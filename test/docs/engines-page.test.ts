import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ENGINE_PROFILES } from "../../island-agent/runtimes/engine/profiles/profiles.ts";
import { cellsOf } from "./table-rows.ts";

const text = readFileSync(join(import.meta.dirname, "../../docs/host/engines.md"), "utf8");

it("docs/host/engines.md lists each engine with its usual ports", () => {
  const rows = text.split("\n").map(cellsOf);
  const listed = rows.filter((cells) => cells?.length === 5).map((cells) => cells?.slice(0, 2));
  const expected = ENGINE_PROFILES.map(({ name, ports }) => [name, ports.join(", ") || "None"]);
  expect(new Set(listed.slice(2))).toEqual(new Set(expected));
});
