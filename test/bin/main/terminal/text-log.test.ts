import { PassThrough } from "node:stream";
import { pino } from "pino";
import { expect, it } from "vitest";
import { textStream } from "../../../../bin/main/terminal/text-log.ts";

function logged(colors: boolean, write: (log: pino.Logger) => void): string {
  const output = new PassThrough();
  write(pino({ level: "info" }, textStream(output, { colors })));
  return String(output.read());
}

it("textStream() writes time, level, message and fields, without ids and null values", () => {
  const facts = { island: "6fc3-1", count: 2, reason: "no route", request_id: "x", owner: null };
  expect(logged(false, (log) => log.info(facts, "Island connected"))).toMatch(
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: Island connected island=6fc3-1 count=2 reason="no route"\n$/,
  );
});

it("textStream() writes the stack after an error", () => {
  const text = logged(false, (log) => log.error({ err: new Error("no disk"), path: "/x" }, "Could not store"));
  expect(text).toMatch(/ERROR: Could not store path=\/x\n {4}Error: no disk\n {8}at /);
});

it("textStream() uses colours only if requested", () => {
  expect(logged(false, (log) => log.warn("Low"))).not.toContain("\u001B");
  expect(logged(true, (log) => log.warn("Low"))).toContain("\u001B[33mWARN");
});

it("textStream() removes control characters, and truncates long values", () => {
  const text = logged(false, (log) =>
    log.info({ slug: "a\u001B[2J\u009B1m", long: "x".repeat(500) }, "b\u001B]0;c\u0007"),
  );
  // oxlint-disable-next-line no-control-regex
  expect(text.trimEnd()).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/);
  expect(text.length).toBeLessThan(400);
});
