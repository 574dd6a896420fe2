import { join } from "node:path";
import { expect, it } from "vitest";
import { readTree } from "../support/import-graph.ts";

/**
 * Packages that only some operators or requests need. With their dependencies they were a fifth of all modules that
 * were loaded at start.
 */
const LOADED_WHEN_USED = ["@opentelemetry", "nodemailer", "prom-client", "send", "swagger-ui-dist"];

it("the coordinator starts without the packages that only some requests need", () => {
  const tree = readTree(join(import.meta.dirname, "..", ".."), ["bin", "coordinator", "shared"]);
  const found = [...tree].flatMap(([path, source]) =>
    [...source.matchAll(/^import (?!type\b).*from "([^"./]+)/gm)]
      .filter(([, name]) => LOADED_WHEN_USED.includes(name ?? ""))
      .map(([line]) => `${path}: ${line}`),
  );
  expect(found).toEqual([]);
});
