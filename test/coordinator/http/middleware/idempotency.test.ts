import { createHash } from "node:crypto";
import { Hono } from "hono";
import { expect, it } from "vitest";
import { idempotencyOf } from "../../../../coordinator/http/middleware/idempotency.ts";
import { sortedJson } from "../../../../shared/canonical-json.ts";
import { inputTexts } from "../../../support/input-texts.ts";

async function hashOf(body: object): Promise<string> {
  const app = new Hono().post("/", async (c) => c.text((await idempotencyOf(c, body))?.bodyHash ?? "no key"));
  const response = await app.request("/", { method: "POST", headers: { "idempotency-key": "key" } });
  return response.text();
}
const expected = (body: object): string => createHash("sha256").update(sortedJson(body)).digest("hex");

// Requests of the last 24 h were hashed by earlier versions, too.
it.each([
  {},
  { workload: "a", input: { b: [1, { d: 1, c: null }], a: "é" }, priority: 50 },
  { z: undefined, list: [], object: {}, nested: [[], {}, [{ y: [{}], x: "\ud800" }]] },
])("the hash of %j is that of its sorted JSON", async (body) => {
  expect(await hashOf(body)).toBe(expected(body));
});

it("the hash of 1 MB does not hold the event loop", async () => {
  let turns = 0;
  const count = setInterval(() => (turns += 1), 0);
  const body = { list: Array.from({ length: 70_000 }, (_, index) => ({ b: index, a: "1" })) };
  expect(await hashOf(body)).toBe(expected(body));
  clearInterval(count);
  expect(turns).toBeGreaterThan(10);
});

it("the hash of a batch is that of its inputs", async () => {
  const inputs = [{ b: 1, a: "x".repeat(40_000) }, {}, { c: [{ z: 1, y: 2 }] }];
  const body = { workload: "a", priority: 50, inputs };
  expect(await hashOf({ ...body, inputs: inputTexts(inputs) })).toBe(expected(body));
});
