import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ONNX_FILE } from "../catalog/cargo-builders.ts";
import { call } from "../../support/http/http.ts";
import { unlessSeveral } from "../../support/network/several-coordinators.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com", 1_000, { concurrentJobs: 1 });
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(coordinator.url, account.key, method, path, body, headers);
const { slug } = ONNX_FILE;
const REQUESTS = [
  { path: "/jobs", body: { workload: slug, input: { text: "Hello" } }, other: { text: "Bye" } },
  { path: "/jobs/batch", body: { workload: slug, inputs: [{ text: "Hello" }] }, other: [{ text: "Bye" }] },
];

describe.each(REQUESTS)("POST $path with the Idempotency-Key of an earlier request", ({ path, body, other }) => {
  const submit = (request: object = body) => api("POST", path, request, { "idempotency-key": "k" });
  const submitOther = () => submit("input" in body ? { ...body, input: other } : { ...body, inputs: other });

  it("returns the first result if its Cargo is gone, and a conflict for another body", async () => {
    await api("POST", "/cargos", ONNX_FILE);
    const first = await submit();
    expect(first.status).toBe(201);
    expect((await api("DELETE", `/cargos/${slug}`)).status).toBe(200);
    const again = await submit();
    expect([again.status, again.body.data?.id]).toEqual([201, first.body.data.id]);
    expect((await submitOther()).body.error.code).toBe("idempotency_conflict");
  });

  it("returns the first result if the Cargo no longer accepts the input", async () => {
    await api("POST", "/cargos", ONNX_FILE);
    const first = await submit();
    const input_schema = { type: "object", required: ["image"], properties: { image: { type: "string" } } };
    const changed = await api("PATCH", `/cargos/${slug}`, { input_schema, example_input: { image: "x" } });
    expect(changed.status).toBe(200);
    expect((await api("POST", path, body)).status).toBe(422);
    const again = await submit();
    expect([again.status, again.body.data?.id]).toEqual([201, first.body.data.id]);
  });
});

const [TITLE, OPTIONS] = unlessSeveral(
  "returns the first result if the limit of waiting jobs is reached",
  "each coordinator has its own limit",
);

describe("POST /jobs/batch with the Idempotency-Key of a batch", () => {
  it(TITLE, { timeout: 30_000, ...OPTIONS }, async () => {
    const batch = (key: string) => {
      const inputs = Array.from({ length: 100 }, () => ({ prompt: "Hi" }));
      return api("POST", "/jobs/batch", { workload: "tiny-chat", inputs }, { "idempotency-key": key });
    };
    const first = await batch("0");
    for (let index = 1; index < 10; index += 1) expect((await batch(String(index))).status).toBe(201);
    expect((await batch("another")).status).toBe(429);
    const again = await batch("0");
    expect([again.status, again.body.data?.id]).toEqual([201, first.body.data.id]);
  });
});
