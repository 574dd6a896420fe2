import { Writable } from "node:stream";
import pg from "pg";
import { pino } from "pino";
import { expect, it } from "vitest";
import { errorFacts } from "../../../../bin/main/terminal/error-facts.ts";

it("errorFacts() removes rows and values of database errors from the log", () => {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) });
  const error = Object.assign(new pg.DatabaseError("null value violates a constraint", 0, "error"), {
    code: "23502",
    detail: "Failing row contains (job_1, what the client asked).",
    where: "JSON data, line 1: what the client asked",
  });
  const cause = Object.assign(new Error("not stored", { cause: error }), { parameters: ["what the client asked"] });
  const log = pino({ serializers: { err: errorFacts } }, stream);
  log.error({ err: error }, "one");
  log.error({ err: cause }, "two");
  log.error({ err: "no error" }, "three");
  expect(lines.join("")).not.toContain("what the client asked");
  const facts = lines.map((line) => (JSON.parse(line) as { err: unknown }).err);
  expect(facts[0]).toMatchObject({ message: "null value violates a constraint", code: "23502" });
  expect(facts[1]).toMatchObject({ type: "Error", stack: expect.stringContaining("null value violates") });
  expect(facts[2]).toBe("no error");
});
