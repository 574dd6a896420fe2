import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CARGO_FEATURES, SEEDED_FEATURE } from "../../shared/features/cargo-features.ts";
import { AGENT_FEATURES } from "../../shared/features/features.ts";
import { FILES_FEATURE } from "../../shared/job-files.ts";

const ROOT = join(import.meta.dirname, "..", "..");

it("docs/reference/island-protocol.md lists every agent feature and no other", () => {
  const page = readFileSync(join(ROOT, "docs", "reference", "island-protocol.md"), "utf8");
  const [, section = ""] = /^## Features\n([^]*?)(?=^## )/m.exec(page) ?? [];
  const names = [...section.matchAll(/^- (`[^:]+):/gm)].flatMap(([, list = ""]) =>
    [...list.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
  expect(names.toSorted()).toEqual([...AGENT_FEATURES, ...CARGO_FEATURES, SEEDED_FEATURE, FILES_FEATURE].toSorted());
});
