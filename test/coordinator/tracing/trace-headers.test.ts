import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { traceHeadersOf } from "../../../coordinator/tracing/open-tracing.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

it("traceHeadersOf() drops a tracestate that is too long, and keeps the trace", () => {
  expect(traceHeadersOf({ traceparent, tracestate: "a=1,b=2" })).toEqual({ traceparent, tracestate: "a=1,b=2" });
  const tracestate = "a=".padEnd(513, "x");
  expect(traceHeadersOf({ traceparent, tracestate })).toEqual({ traceparent, tracestate: undefined });
  expect(traceHeadersOf({})).toEqual({ traceparent: undefined, tracestate: undefined });
});

it("a coordinator without traces does not load OpenTelemetry", () => {
  const files = ["coordinator", "shared", "bin"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(ROOT, folder, name)),
  );
  const sources = files.filter((name) => name.endsWith(".ts") && !name.includes("node_modules"));
  expect(sources.length).toBeGreaterThan(100);
  const loading = sources.filter((name) => /^import (?!type ).*"@opentelemetry\//m.test(readFileSync(name, "utf8")));
  expect(loading).toEqual([]);
});
